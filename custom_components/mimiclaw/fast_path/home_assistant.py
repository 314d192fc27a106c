"""Home Assistant's own sentences, for languages without a sentence file of ours.

Taken are the sentences of HassTurnOn, HassTurnOff and HassGetState that name one
device: for switches and valves, and for the state of a switch, valve, sensor or
contact. What they refer to beyond names and fixed words (areas, floors) matches nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final

from hassil.parse_expression import parse_sentence
from hassil.parser import ParseError
import home_assistant_intents

from .sentence_file import Block, ListValue, SentenceFile, Text

_NAME_ONLY: Final = "name_only"
_NAME_STATE: Final = "name_state"
_REFERENCE = re.compile(r"<([^>]+)>")
_LIST = re.compile(r"\{([^}:]+)[^}]*\}")

#: Which of our intents a block is, by theirs and by the domain it asks for.
_MEANINGS: Final = (
    ("HassTurnOn", _NAME_ONLY, "switch", "TurnOn"),
    ("HassTurnOn", _NAME_ONLY, "valve", "Open"),
    ("HassTurnOff", _NAME_ONLY, "switch", "TurnOff"),
    ("HassTurnOff", _NAME_ONLY, "valve", "Close"),
    ("HassGetState", _NAME_ONLY, "switch", "Query"),
    ("HassGetState", _NAME_ONLY, "sensor", "Query"),
    ("HassGetState", _NAME_STATE, "switch", "QueryState"),
    ("HassGetState", _NAME_STATE, "valve", "QueryState"),
)


def home_assistant_sentences(language: str) -> SentenceFile:
    """The sentences of one language. Blocking: reads Home Assistant's data."""
    result = SentenceFile(
        path=f"home-assistant-intents/{language}", language=language, reported=False
    )
    data = home_assistant_intents.get_intents(language)
    if data is None:
        return result
    wanted: list[str] = []
    for theirs, combination, domain, ours in _MEANINGS:
        for block in data["intents"].get(theirs, {}).get("data", ()):
            if not _serves(block, combination, domain):
                continue
            wanted += block["sentences"]
            _add(result, ours, block["sentences"])
    rules = data.get("expansion_rules", {})
    lists = _take_rules(result, rules, wanted)
    for name in lists:
        for value in data.get("lists", {}).get(name, {}).get("values", ()):
            spoken = value["in"] if isinstance(value, dict) else value
            if isinstance(spoken, str) and "{" not in spoken:
                result.lists.setdefault(name, []).append(
                    ListValue(Text(spoken, 0), name)
                )
    result.skip_words = [Text(word, 0) for word in data.get("skip_words", ())]
    return result


def _serves(block: dict[str, Any], combination: str, domain: str) -> bool:
    if block.get("metadata", {}).get("slot_combination") != combination:
        return False
    domains = block.get("requires_context", {}).get("domain")
    if domains is None:
        return not block.get("slots") and domain == "switch"
    return domain in domains if isinstance(domains, list) else domain == domains


def _add(result: SentenceFile, intent: str, texts: list[str]) -> None:
    sentences = []
    for text in texts:
        try:
            sentences.append((parse_sentence(text), 0))
        except ParseError:
            continue  # one of theirs that hassil cannot read is not for us to report
    question = {"question": "allowed"}
    result.blocks.append(Block(intent, tuple(sentences), {}, question))


def _take_rules(
    result: SentenceFile, rules: dict[str, str], texts: list[str]
) -> set[str]:
    """Parse the expansion rules that are needed; return the lists that are."""
    lists: set[str] = set()
    pending = list(texts)
    while pending:
        text = pending.pop()
        lists.update(_LIST.findall(text))
        for name in _REFERENCE.findall(text):
            if name in rules and name not in result.rules:
                result.rules[name] = parse_sentence(rules[name])
                pending.append(rules[name])
    return lists - {"name", "area", "floor"}
