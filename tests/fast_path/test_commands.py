"""Actions, kinds of channel, several commands at once."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.router import FastPath

from .conftest import Read, channel, plain


def test_a_momentary_channel_is_pulsed_to_open_and_to_close(read: Read) -> None:
    assert read("open the gate") == [("pulse", "gate", None)]
    assert read("close the gate") == [("pulse", "gate", None)]
    assert read("open the gate for 3 seconds") == [("pulse", "gate", 3)]


def test_a_momentary_channel_cannot_be_switched_off(read: Read) -> None:
    assert read("turn off the gate") == []


def test_an_input_is_read_and_never_moved(read: Read) -> None:
    assert read("is the greenhouse door open") == [("query", "door", None)]
    assert read("open the greenhouse door") == []
    assert read("turn on the soil moisture") == []


def test_a_reading_has_a_value_and_no_state(read: Read) -> None:
    assert read("what is the soil moisture") == [("query", "moisture", None)]
    assert read("is the soil moisture on") == []
    assert read("how high is the pump") == []


def test_several_channels_share_one_action_and_one_time(read: Read) -> None:
    assert read("run the pump and the fan for one minute") == [
        ("pulse", "pump", 60),
        ("pulse", "fan", 60),
    ]


def test_commands_in_a_row_are_all_read_or_none(read: Read) -> None:
    assert read("turn on the pump and turn off the fan") == [
        ("turn_on", "pump", None),
        ("turn_off", "fan", None),
    ]
    assert read("turn on the pump and turn off the radio") == []
    assert read("turn on the pump and tell me a joke") == []


def test_a_transcript_needs_no_commas(read: Read) -> None:
    assert read("pump on fan off") == [
        ("turn_on", "pump", None),
        ("turn_off", "fan", None),
    ]


def test_said_twice_is_said_once_but_not_for_what_differs_when_done_twice(
    read: Read,
) -> None:
    assert read("pump on. pump on!") == [("turn_on", "pump", None)]
    assert read("kill everything. all relays off") == [("all_off", None, None)]
    assert read("toggle the pump, toggle the pump") == []


def test_commands_that_contradict_each_other_are_none(read: Read) -> None:
    assert read("turn the pump on and turn the pump off") == []
    assert read("everything off and the pump on") == []


def test_a_question_and_an_order_do_not_mix(read: Read) -> None:
    assert read("is the pump on and turn off the fan") == []


def test_more_than_eight_commands_are_a_transcript() -> None:
    names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    known = [channel(f"g/{name}", f"{name} relay") for name in names]
    fast_path = FastPath(Grammar.compile(["en"], known))

    def said(count: int) -> str:
        return "turn on " + " and ".join(f"the {n} relay" for n in names[:count])

    assert len(plain(fast_path.recognize(said(8), ["en"]))) == 8
    assert fast_path.recognize(said(9), ["en"]) is None


def test_the_match_tells_action_and_language(greenhouse: FastPath) -> None:
    match = greenhouse.recognize("Pumpe an und Ventilator aus", ["en", "de"])
    assert match is not None
    assert (match.action, match.language) == ("multi", "de")
    assert [c.channel for c in match.commands] == ["greenhouse/pump", "greenhouse/fan"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("pump on?", "en"),
        ("Pumpe an?", "de"),
        ("la bomba está encendida?", "es"),
        ("насос включён?", "ru"),
    ],
)
def test_a_question_mark_turns_a_short_order_into_a_question(
    read: Read, text: str, language: str
) -> None:
    assert read(text, language) == [("query", "pump", None)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("la bomba está encendida", "es"),
        ("la pompe est allumée", "fr"),
        ("насос включён", "ru"),
        ("de pomp staat aan", "nl"),
        ("the pump is on", "en"),
        ("die Pumpe ist an", "de"),
    ],
)
def test_the_same_words_as_a_report_are_none(
    read: Read, text: str, language: str
) -> None:
    assert read(text, language) == []


def test_an_accent_tells_a_report_from_an_order(read: Read) -> None:
    assert read("apague la bomba", "es") == [("turn_off", "pump", None)]
    assert read("apagué la bomba", "es") == []


def test_a_reason_may_stand_before_or_after(read: Read) -> None:
    on = [("turn_on", "heater", None)]
    assert read("it's freezing in here, turn on the heater") == on
    assert read("turn on the heater, it's freezing in here 🥶") == on
    assert read("turn on the heater because my plants are cold") == on


@pytest.mark.parametrize(
    "text",
    [
        "turn on the heater, if it's freezing",
        "turn on the heater, no wait, it's too hot",
        "turn on the heater, she said it's cold",
        "turn on the heater, it's cold at night, tomorrow",
        "turn on the heater, is it cold?",
        "turn on the heater, the fan is cold",
        "turn on the heater, bananas",
        "when it's cold, turn on the heater",
        "my book says it's cold, turn on the heater",
    ],
)
def test_what_is_more_than_a_reason_goes_to_the_agent(read: Read, text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'say "turn on the pump"',
        "he told me: turn on the pump",
        "«turn on the pump»",
        "turn on the pump (just kidding)",
        "[system] turn on the pump",
        "turn on the pump in 10 minutes",
        "turn on the pump at 10",
        "run the pump for -5 seconds",
        "run the pump for 1.500 seconds",
        "run the pump for zero minutes",
    ],
)
def test_quotations_delays_and_odd_numbers_are_none(read: Read, text: str) -> None:
    assert read(text) == []
