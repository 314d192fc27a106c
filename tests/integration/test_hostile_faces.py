"""A relay's entity in Home Assistant is no way round the relay's rules for our turns."""

from __future__ import annotations

from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er
import pytest

from scripts.house.twin import Twin
from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech
from .test_relays import ready, satellite


def hot(twin: Twin) -> bool:
    return bool(twin.control("read heater")["on"])


def exposed_heater(hass: HomeAssistant) -> er.RegistryEntry:
    """Return the heater's entity, exposed to Assist by its owner, in an area."""
    registry = er.async_get(hass)
    (entry,) = (
        one
        for one in registry.entities.values()
        if one.domain == "switch" and one.unique_id.endswith("-heater")
    )
    area = ar.async_get(hass).async_get_or_create("Orangery")
    async_expose_entity(hass, "conversation", entry.entity_id, True)
    return registry.async_update_entity(entry.entity_id, area_id=area.id)


@pytest.mark.parametrize(
    "target",
    [
        {"name": "Space heater"},
        {"name": "{entity}"},
        {"area": "Orangery", "domain": ["switch"]},
        {"domain": ["switch"]},
    ],
)
async def test_assists_tools_switch_no_relay(
    hass: HomeAssistant,
    twin: Twin,
    set_up: SetUp,
    serve: Serve,
    say: Say,
    turns: list[dict[str, Any]],
    target: dict[str, Any],
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Fine."))
    entry = await set_up(
        anthropic(server), satellite(twin), options={"llm_hass_api": ["assist"]}
    )
    await ready(hass, entry)
    entity_id = exposed_heater(hass).entity_id
    wanted = {
        key: value.format(entity=entity_id) if isinstance(value, str) else value
        for key, value in target.items()
    }
    await say("which tools are there?")
    names = [tool["name"] for tool in server.asked[-1]["tools"]]
    (tool,) = (name for name in names if name.endswith("HassTurnOn"))
    replies = iter([Reply(calls=(Call(tool, wanted, "a"),)), Reply(text="Fine.")])
    server.answer = lambda _body: next(replies)
    await say("it is so cold")
    assert "gpio_write" in turns[-1]["tools"][0].get("error", "")
    assert not hot(twin)


@pytest.mark.parametrize(
    "text",
    [
        "turn on {friendly}",
        "turn on everything in the orangery",
        "turn on the switches in the orangery",
    ],
)
async def test_home_assistants_sentences_switch_no_relay(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, serve: Serve, say: Say, text: str
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Fine."))
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    state = hass.states.get(exposed_heater(hass).entity_id)
    assert state is not None
    await hass.async_block_till_done()
    heard = speech(await say(text.format(friendly=state.name)))
    assert heard
    assert not hot(twin)
