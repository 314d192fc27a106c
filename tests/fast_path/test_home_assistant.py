"""Home Assistant's own sentences serve the languages that have no file of ours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from hassil.intents import SlotList, TextSlotList
from hassil.parse_expression import parse_sentence
from hassil.sample import sample_expression
import home_assistant_intents
import pytest

from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.languages import (
    closest_language,
    own_languages,
)
from custom_components.mimiclaw.fast_path.router import FastPath

from .conftest import channel

NAME = "Relais Zwei"
CHANNELS = (channel("g/two", NAME), channel("g/one", "Andere"))
WANTED = {"HassTurnOn": "turn_on", "HassTurnOff": "turn_off", "HassGetState": "query"}
OTHERS = sorted(
    language
    for language in home_assistant_intents.get_languages()
    if closest_language(language) == language and language not in own_languages()
)


def _blocks(data: dict[str, Any], intent: str) -> Iterator[list[str]]:
    for block in data["intents"].get(intent, {}).get("data", ()):
        domains = block.get("requires_context", {}).get("domain") or ()
        names_one = block.get("metadata", {}).get("slot_combination") == "name_only"
        if names_one and "switch" in domains:
            yield block["sentences"]


def _samples(language: str) -> Iterator[tuple[str, str]]:
    data = home_assistant_intents.get_intents(language)
    assert data is not None
    rules = {k: parse_sentence(v) for k, v in data.get("expansion_rules", {}).items()}
    names: dict[str, SlotList] = {
        "name": TextSlotList.from_strings([NAME], name="name")
    }
    for intent, action in WANTED.items():
        for sentences in _blocks(data, intent):
            for sentence in sentences:
                expression = parse_sentence(sentence).expression
                texts = sample_expression(expression, names, rules, language=language)
                for text in islice(texts, 25):
                    yield " ".join(text.split()), action


def test_there_are_more_than_fifty_such_languages() -> None:
    assert len(OTHERS) > 50


@pytest.mark.parametrize("language", OTHERS)
def test_its_sentences_for_one_device_are_understood(language: str) -> None:
    grammar = Grammar.compile([language], CHANNELS)
    assert grammar.problems == ()
    fast_path = FastPath(grammar)
    total = missed = 0
    for text, action in _samples(language):
        match = fast_path.recognize(text, [language])
        total += 1
        if match is None:
            missed += 1
            continue
        assert (match.action, match.commands[0].channel) == (action, "g/two"), text
    # What is missed is a bare name, or one sentence for both on and off.
    assert total > 0
    assert missed <= total * 0.34, (missed, total)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("pl", "włącz Relais Zwei"),
        ("it", "accendi il Relais Zwei"),
        ("pt", "ligar o Relais Zwei"),
        ("sv", "tänd Relais Zwei"),
        ("ko", "Relais Zwei 켜줘"),
        ("uk", "увімкни Relais Zwei"),
        ("cs", "zapni Relais Zwei"),
    ],
)
def test_plain_orders(language: str, text: str) -> None:
    match = FastPath(Grammar.compile([language], CHANNELS)).recognize(text, [language])
    assert match is not None
    assert match.action == "turn_on"


@pytest.mark.parametrize("language", OTHERS)
def test_a_bare_name_or_other_words_are_none(language: str) -> None:
    fast_path = FastPath(Grammar.compile([language], CHANNELS))
    for text in (NAME, f"{NAME} {NAME}", f"xyz {NAME}", f"{NAME} xyz"):
        assert fast_path.recognize(text, [language]) is None, text


def test_several_languages_are_tried_in_order() -> None:
    fast_path = FastPath(Grammar.compile(["it", "en"], CHANNELS))
    for text, language in (
        ("accendi Relais Zwei", "it"),
        ("turn on Relais Zwei", "en"),
    ):
        match = fast_path.recognize(text, ["it", "en"])
        assert match is not None
        assert match.language == language
    assert fast_path.recognize("turn on Relais Zwei", ["it"]) is None
    assert fast_path.recognize("turn on Relais Zwei", ["xx"]) is None
    assert fast_path.recognize("turn on Relais Zwei", []) is None
