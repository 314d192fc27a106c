"""Relays by voice: a real twin's pins, the fast path, the agent and the person's yes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from scripts.house.twin import Twin
from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech


def satellite(twin: Twin) -> ConfigSubentryDataWithId:
    """Return the subentry that a person would have made for a twin."""
    return ConfigSubentryDataWithId(
        data={"host": twin.host, "port": twin.port},
        subentry_type="satellite",
        title="Greenhouse",
        unique_id=None,
        subentry_id="greenhouse",
    )


@pytest.fixture
def pin(twin: Twin) -> Any:
    """Read a channel from the twin."""
    return lambda channel: twin.control(f"read {channel}")["on"]


async def ready(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Wait until the satellite is there."""
    satellites = entry.runtime_data.satellites
    async with asyncio.timeout(20):
        while not all(one.available for one in satellites.satellites()):
            await asyncio.sleep(0.02)
    await hass.async_block_till_done()


@pytest.mark.parametrize(
    ("language", "on", "off"),
    [
        ("en", "turn on the water pump", "turn the pump off please"),
        ("de", "Mach bitte die Pumpe an", "Schalte die Wasserpumpe aus"),
        ("fr", "allume la pompe", "éteins la pompe à eau"),
        ("es", "enciende la bomba", "apaga la bomba de agua"),
        ("nl", "zet de pomp aan", "zet de waterpomp uit"),
        ("ru", "включи насос", "выключи насос"),
        ("zh-CN", "打开水泵", "关闭水泵"),
        ("zh-TW", "打開水泵", "關閉水泵"),
        ("ja", "ポンプをつけて", "ポンプを消して"),
        ("th", "เปิดปั๊มน้ำ", "ปิดปั๊มน้ำ"),
    ],
)
async def test_on_and_off_in_ten_languages(
    hass: HomeAssistant,
    twin: Twin,
    pin: Any,
    set_up: SetUp,
    say: Say,
    turns: list[dict[str, Any]],
    language: str,
    on: str,
    off: str,
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    assert speech(await say(on, language=language))
    assert pin("pump")
    assert speech(await say(off, language=language))
    assert not pin("pump")
    assert [turn["path"] for turn in turns] == ["fast_path", "fast_path"]
    assert all(turn["rounds"] == 0 for turn in turns)


async def test_a_channel_that_wants_a_yes(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp, say: Say
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    asked = await say("turn on the heater")
    assert speech(asked).endswith("?")
    assert asked.continue_conversation
    assert not pin("heater")
    assert "leave it" in speech(await say("no"))
    assert not pin("heater")
    await say("yes")
    assert not pin("heater")
    await say("turn on the heater")
    await say("what time is it?")
    await say("yes")
    assert not pin("heater")
    await say("turn on the heater")
    await say("yes please")
    assert pin("heater")


async def test_a_yes_in_another_conversation_does_not_count(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp, say: Say
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    await say("turn on the heater", "kitchen")
    await say("yes", "bedroom")
    assert not pin("heater")


async def test_the_model_cannot_give_the_yes_to_itself(
    hass: HomeAssistant,
    twin: Twin,
    pin: Any,
    set_up: SetUp,
    serve: Serve,
    say: Say,
    turns: list[dict[str, Any]],
) -> None:
    heat = {"channel": "heater", "state": "on"}
    server = await serve(
        Reply(calls=(Call("gpio_write", heat, "a"),)),
        Reply(calls=(Call("gpio_write", {**heat, "confirmed": True}, "b"),)),
        Reply(text="Shall I turn on the heater?"),
        Reply(calls=(Call("gpio_write", heat, "c"),)),
        Reply(text="The heater is on."),
    )
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    assert speech(await say("it is cold in the greenhouse, do something")).endswith("?")
    assert not pin("heater")
    assert all(line.get("error") for line in turns[0]["tools"])
    assert speech(await say("yes")) == "The heater is on."
    assert pin("heater")


async def test_what_the_model_does_is_read_back(
    hass: HomeAssistant,
    twin: Twin,
    pin: Any,
    set_up: SetUp,
    serve: Serve,
    say: Say,
) -> None:
    write = {"channel": "water pump", "state": "on", "duration_s": 30}
    server = await serve(
        Reply(calls=(Call("gpio_write", write, "a"),)), Reply(text="Watering.")
    )
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    await say("the tomatoes look thirsty, give them half a minute of water")
    assert pin("pump")
    result = str(server.asked[1]["messages"][-1])
    assert "on" in result


async def test_a_satellite_that_is_off_is_said_at_once_and_nothing_comes_later(
    hass: HomeAssistant, twin: Twin, make_twin: Any, set_up: SetUp, say: Say
) -> None:
    entry = await set_up(satellite(twin))
    await ready(hass, entry)
    port = twin.port
    twin.stop()
    async with asyncio.timeout(20):
        while entry.runtime_data.satellites.satellites()[0].available:
            await asyncio.sleep(0.02)
    assert "can't be reached" in speech(await say("turn on the water pump"))
    again = make_twin(port=port)
    await ready(hass, entry)
    assert not again.control("read pump")["on"]
    assert again.control("read pump")["edges"] == 0


async def test_text_of_a_turn_of_ours_moves_no_relay(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    await hass.services.async_call(
        "mimiclaw",
        "ask",
        {"text": "turn on the water pump"},
        blocking=True,
        return_response=True,
    )
    assert not pin("pump")


async def test_a_name_from_the_options(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp, say: Say
) -> None:
    entry = await set_up(satellite(twin))
    await ready(hass, entry)
    flow = await hass.config_entries.options.async_init(entry.entry_id)
    flow = await hass.config_entries.options.async_configure(
        flow["flow_id"], {"next_step_id": "names"}
    )
    assert flow["data_schema"] is not None
    fields = [str(marker) for marker in flow["data_schema"].schema]
    label = next(one for one in fields if one.endswith("Water pump"))
    await hass.config_entries.options.async_configure(
        flow["flow_id"], {label: ["old rumbler"]}
    )
    await hass.async_block_till_done()
    await ready(hass, entry)
    assert speech(await say("turn on the old rumbler"))
    assert pin("pump")


async def test_the_households_own_sentences_and_their_mistakes(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp, say: Say, workspace: Path
) -> None:
    entry = await set_up(satellite(twin))
    await ready(hass, entry)
    issues = ir.async_get(hass)
    folder = workspace / "sentences"
    folder.mkdir(exist_ok=True)
    file = folder / "en.yaml"
    file.write_text(
        "language: en\nintents:\n  TurnOn:\n    data:\n      - sentences:\n"
        '          - "let there be {name}"\n          - "broken ({name}"\n'
    )
    commander = entry.runtime_data.commander
    await commander._look()
    issue = issues.async_get_issue("mimiclaw", "sentences_broken")
    assert issue is not None
    assert "en.yaml:7" in str(issue.translation_placeholders)
    await say("let there be water pump")
    assert pin("pump")
    file.unlink()
    await commander._look()
    assert issues.async_get_issue("mimiclaw", "sentences_broken") is None


async def test_all_says_what_moved_before_it_asks(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp, say: Say
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    asked = speech(await say("turn everything on"))
    assert "Water pump is on." in asked
    assert asked.endswith("Shall I turn on space heater?")
    assert not pin("heater")
    await say("yes")
    assert pin("heater")
    off = speech(await say("turn everything off"))
    assert off == "Everything is off."
    assert not pin("heater")


async def test_off_needs_no_yes(
    hass: HomeAssistant, twin: Twin, pin: Any, set_up: SetUp, say: Say
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    await say("turn on the heater")
    await say("yes")
    assert pin("heater")
    assert speech(await say("turn off the heater")) == "Space heater is off."
    assert not pin("heater")


async def test_a_pressed_contact_says_nothing_of_the_gate(
    hass: HomeAssistant, twin: Twin, set_up: SetUp, say: Say
) -> None:
    await ready(hass, await set_up(satellite(twin)))
    assert "don't know" in speech(await say("is the gate open?"))
