"""A yes moves a relay only if it answers the question, in time, from who was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from homeassistant.core import Context, HomeAssistant
import pytest

from custom_components.mimiclaw import open_question
from custom_components.mimiclaw.assistant import whole_text
from custom_components.mimiclaw.message import Message
from scripts.house.twin import Twin
from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech
from .test_relays import ready, satellite

HEAT = {"channel": "heater", "state": "on"}


def hot(twin: Twin) -> bool:
    return bool(twin.control("read heater")["on"])


async def test_a_yes_that_comes_too_late(
    hass: HomeAssistant,
    twin: Twin,
    set_up: SetUp,
    say: Say,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = await set_up(satellite(twin))
    await ready(hass, entry)
    await say("turn on the heater")
    monkeypatch.setattr(open_question, "ANSWER_S", -1.0)
    await say("yes")
    assert not hot(twin)
    for number in range(20):
        await say("turn on the heater", f"nobody-answers-{number}")
    await say("turn on the heater", "last")
    await entry.runtime_data.assistant.async_settled()
    await hass.async_block_till_done()
    assert len(entry.runtime_data.assistant._conversations) <= 1


async def test_somebody_else_says_yes(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, say: Say
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    hass.states.async_set("person.anna", "home", {"user_id": "anna-login"})
    hass.states.async_set("person.ben", "home", {"user_id": "ben-login"})
    anna, ben = Context(user_id="anna-login"), Context(user_id="ben-login")
    await say("turn on the heater", context=anna)
    await say("yes", context=ben)
    assert not hot(twin)
    await say("turn on the heater", context=anna)
    await say("yes", context=Context(user_id="anna-login"))
    assert hot(twin)


async def test_a_yes_that_waited_before_the_question_was_there(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, serve: Serve, say: Say
) -> None:
    write = Reply(calls=(Call("gpio_write", HEAT, "a"),))
    server = await serve(
        write,
        Reply(text="Shall I turn on the heater?", delay_s=0.3),
        write,
        Reply(text="Shall I turn on the heater?"),
    )
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    first = asyncio.ensure_future(say("it is cold"))
    async with asyncio.timeout(10):
        while len(server.asked) < 2:
            await asyncio.sleep(0.01)
    await asyncio.gather(first, say("yes"))
    assert len(server.asked) == 4
    assert not hot(twin)


@pytest.mark.parametrize("system", [True, False])
async def test_a_text_of_the_schedule_is_no_yes(
    hass: HomeAssistant,
    twin: Twin,
    set_up: SetUp,
    serve: Serve,
    say: Say,
    system: bool,
) -> None:
    write = Reply(calls=(Call("gpio_write", HEAT, "a"),))
    server = await serve(
        write, Reply(text="Shall I turn on the heater?"), write, Reply(text="Done.")
    )
    entry = await set_up(anthropic(server), satellite(twin))
    await ready(hass, entry)
    await say("it is cold")
    parts: AsyncGenerator[Any] = entry.runtime_data.assistant.handle(
        Message("yes", "assist", "c1", "en", system_turn=system)
    )
    await whole_text(parts)
    assert hot(twin) is not system


async def test_a_yes_to_another_question_of_the_model(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, serve: Serve, say: Say
) -> None:
    """The model asks a tool for the heater and the person about jam."""
    server = await serve(
        Reply(calls=(Call("gpio_write", HEAT, "a"),)),
        Reply(text="The heater is off. Shall I note the jam?"),
    )
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    heard = speech(await say("we are out of jam"))
    assert heard.startswith("The heater is off. Shall I note the jam?")
    assert heard.endswith("Shall I turn on space heater?")


async def test_a_yes_is_not_stretched(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, serve: Serve, say: Say
) -> None:
    short = {**HEAT, "duration_s": 10}
    server = await serve(
        Reply(calls=(Call("gpio_write", short, "a"),)),
        Reply(text="Shall I turn on the heater for ten seconds?"),
        Reply(calls=(Call("gpio_write", HEAT, "b"),)),
        Reply(text="Shall I turn on the heater?"),
    )
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    await say("warm it a little")
    await say("yes")
    assert not hot(twin)


async def test_a_yes_to_a_plan_is_none_to_now(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, serve: Serve, say: Say
) -> None:
    job = {
        "name": "Warm",
        "schedule_type": "cron",
        "expr": "0 7 * * *",
        "relay": "heater",
        "state": "on",
    }
    server = await serve(
        Reply(calls=(Call("cron_add", job, "a"),)),
        Reply(text="Shall I turn on the heater every day at seven?"),
        Reply(
            calls=(
                Call("gpio_write", HEAT, "b"),
                Call("cron_add", {**job, "expr": "* * * * *"}, "c"),
            )
        ),
        Reply(text="Shall I turn on the heater?"),
    )
    entry = await set_up(anthropic(server), satellite(twin))
    await ready(hass, entry)
    await say("warm it in the mornings")
    await say("yes")
    assert not hot(twin)
    assert entry.runtime_data.schedule.scheduler.jobs == []
