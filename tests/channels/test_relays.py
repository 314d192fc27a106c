"""/relays: buttons with the real state of the twin's pins, and commands by text."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from scripts.house.twin import Twin

from .bot_api import BotApi, Sent
from .house import ANNA, STRANGER, ChatHouse, until


@pytest.fixture
async def greenhouse(house: ChatHouse, twin: Twin) -> Twin:
    """A house with the twin as its satellite."""
    await house.add_assistant()
    await house.add_satellite(twin.port)
    return twin


def is_on(twin: Twin, channel: str) -> bool:
    return bool(twin.control(f"read {channel}")["on"])


async def relays(house: ChatHouse, api: BotApi) -> Sent:
    count = len(api.sent(ANNA.id))
    await api.say("/relays", ANNA)
    return (await api.until_sent(ANNA.id, count + 1))[-1]


async def test_a_command_by_text_moves_the_pin(
    greenhouse: Twin, api: BotApi, turns: list[dict[str, Any]]
) -> None:
    await api.say("turn on the water pump", ANNA)
    [sent] = await api.until_sent(ANNA.id)
    assert is_on(greenhouse, "pump")
    assert "pump" in sent.text.lower()
    assert turns[0]["path"] == "fast_path"
    assert api.drafts(ANNA.id) == []


async def test_a_button_acts_and_the_message_follows(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    sent = await relays(house, api)
    pump = next(one["text"] for one in sent.buttons if "pump" in one["text"].lower())
    query = await api.press(ANNA, sent, pump)
    await api.until(lambda: query in api.state.answers)
    assert is_on(greenhouse, "pump")
    assert "on" in api.state.answers[query]
    await api.until(lambda: sent.edits)
    assert "🟢" in next(b["text"] for b in sent.buttons if "pump" in b["text"].lower())
    await house.telegram.idle()
    await api.press(ANNA, sent, "pump" if "pump" in pump else "Pump")
    await api.until(lambda: len(api.state.answers) == 2)
    assert not is_on(greenhouse, "pump")


async def test_an_old_picture_does_not_toggle(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    sent = await relays(house, api)
    await api.say("turn on the water pump", ANNA)
    await api.until(
        lambda: any(
            "pump" in s.text.lower() and not s.buttons for s in api.sent(ANNA.id)
        )
    )
    # The button still says "off": pressing it means on, and on it stays.
    label = next(one["text"] for one in sent.buttons if "pump" in one["text"].lower())
    query = await api.press(ANNA, sent, label)
    await api.until(lambda: query in api.state.answers)
    assert is_on(greenhouse, "pump")


async def test_a_press_by_a_stranger_moves_nothing(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    sent = await relays(house, api)
    label = next(one["text"] for one in sent.buttons if "pump" in one["text"].lower())
    await api.press(STRANGER, sent, label)
    await api.say("hello", STRANGER)
    await relays(house, api)
    assert not is_on(greenhouse, "pump")
    assert api.state.answers == {}


async def test_an_unknown_button_says_so(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    sent = await relays(house, api)
    sent.buttons[0]["callback_data"] = "mc:r:0000000000000000:on"
    query = await api.press(ANNA, sent, sent.buttons[0]["text"])
    await api.until(lambda: query in api.state.answers)
    assert "out of date" in api.state.answers[query]


async def test_a_duplicate_press_acts_once(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    sent = await relays(house, api)
    label = next(one["text"] for one in sent.buttons if "pump" in one["text"].lower())
    await api.press(ANNA, sent, label)
    copy = dict(api.state.updates[-1])
    await api.until(lambda: api.state.answers)
    await house.telegram.idle()
    await api.say("turn off the water pump", ANNA)
    await until(lambda: not is_on(greenhouse, "pump"))
    await api.state.again(copy)
    await relays(house, api)
    assert not is_on(greenhouse, "pump")


async def test_a_command_that_comes_late_is_not_carried_out(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    message = api._from(ANNA, ANNA.id, {"text": "turn on the water pump"})
    message["date"] = int(time.time()) - 3600
    await api.state.push(message=message)
    [sent] = await api.until_sent(ANNA.id)
    assert "did not carry it out" in sent.text
    assert not is_on(greenhouse, "pump")


async def test_buttons_fit_telegram(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    sent = await relays(house, api)
    assert all(len(one["callback_data"].encode()) <= 64 for one in sent.buttons)
    assert "BUTTON_DATA_INVALID" not in json.dumps(api.state.refused)


async def test_a_satellite_that_is_away_has_no_button(
    house: ChatHouse, greenhouse: Twin, api: BotApi
) -> None:
    greenhouse.stop(kill=True)
    satellites = house.entry.runtime_data.satellites
    await until(lambda: not any(one.available for one in satellites.satellites()))
    sent = await relays(house, api)
    assert "cannot be reached" in sent.text
    assert [one["text"] for one in sent.buttons] == ["↻"]
