"""Home Assistant's own sentences after a miss: what they may do, and what not."""

from __future__ import annotations

from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
import pytest

from tests.providers.wire.reply import Reply

from .conftest import Say, Serve, SetUp, anthropic, speech


@pytest.fixture
async def light(hass: HomeAssistant) -> list[str]:
    """A kitchen light that is exposed, and what was done to it."""
    assert await async_setup_component(hass, "intent", {})
    entry = er.async_get(hass).async_get_or_create(
        "light", "test", "kitchen", original_name="Kitchen light"
    )
    hass.states.async_set(entry.entity_id, "on", {"friendly_name": "Kitchen light"})
    async_expose_entity(hass, "conversation", entry.entity_id, True)
    done: list[str] = []

    async def act(call: Any) -> None:
        done.append(call.service)

    for service in ("turn_on", "turn_off"):
        hass.services.async_register("light", service, act)
        hass.services.async_register("homeassistant", service, act)
    return done


async def test_a_light_without_a_model(
    hass: HomeAssistant,
    light: list[str],
    serve: Serve,
    set_up: SetUp,
    say: Say,
    turns: list[dict[str, Any]],
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Model."))
    await set_up(anthropic(server))
    heard = speech(await say("turn off the kitchen light"))
    await hass.async_block_till_done()
    assert (heard, turns[0]["path"]) == ("Turned off the light", "local_intents")
    assert light == ["turn_off"]
    assert not server.asked


@pytest.mark.parametrize(
    "text", ["turn off the kitchen light in 10 seconds", "set a timer for 10 seconds"]
)
async def test_what_is_for_later_goes_to_the_agent(
    hass: HomeAssistant,
    light: list[str],
    serve: Serve,
    set_up: SetUp,
    say: Say,
    text: str,
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Model."))
    await set_up(anthropic(server))
    assert speech(await say(text)) == "Model."
    assert not light


async def test_a_device_that_rings_may_have_a_timer(
    hass: HomeAssistant, light: list[str], serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Model."))
    await set_up(anthropic(server))
    async_register_timer_handler(hass, "a-speaker", lambda *_event: None)
    heard = speech(await say("set a timer for 10 seconds", device_id="a-speaker"))
    assert heard
    assert not server.asked


async def test_the_step_can_be_left_out(
    hass: HomeAssistant, light: list[str], serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Model."))
    await set_up(anthropic(server), options={"local_intents": False})
    assert speech(await say("turn off the kitchen light")) == "Model."
    assert not light
