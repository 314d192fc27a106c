"""What people say, in ten languages: every command understood, nothing else touched."""

from __future__ import annotations

from pathlib import Path

from hassil.expression import Group, ListReference, RuleReference, TextChunk
from hassil.parse_expression import parse_sentence
import pytest
import yaml

from benchmarks.eval_fast_path import Result, read_cases, read_channels, run_cases
from custom_components.mimiclaw.fast_path.languages import SENTENCES, own_languages
from custom_components.mimiclaw.fast_path.normalise import MARKS, tokenise

from .conftest import CASES


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return run_cases(read_channels(CASES / "channels.json"), list(read_cases(CASES)))


def test_cases_cover_every_own_language_with_commands_and_with_what_is_none() -> None:
    by_language: dict[str, list[str]] = {}
    for case in read_cases(CASES):
        by_language.setdefault(case["lang"], []).append(case["expect"]["action"])
    assert set(by_language) == set(own_languages())
    for actions in by_language.values():
        assert len(actions) >= 60
        assert set(actions) >= {"turn_on", "turn_off", "toggle", "pulse", "query"}
        assert set(actions) >= {"all_on", "all_off", "multi", "none"}


def test_no_case_acts_wrongly(results: list[Result]) -> None:
    assert [r.case["text"] for r in results if r.wrong] == []


@pytest.mark.parametrize("language", sorted(own_languages()))
def test_nearly_every_case_is_read_as_it_was_meant(
    results: list[Result], language: str
) -> None:
    mine = [result for result in results if result.case["lang"] == language]
    missed = [result.case["text"] for result in mine if not result.passed]
    assert len(missed) <= len(mine) * 0.02, missed


def _has_choices(expression: object) -> bool:
    """Whether a template stands for more than one text."""
    if isinstance(expression, ListReference | RuleReference):
        return True
    if isinstance(expression, TextChunk):
        return False
    assert isinstance(expression, Group)
    return len(expression.items) > 1 and not all(
        isinstance(item, TextChunk) for item in expression.items
    )


def _templates(path: Path) -> list[str]:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    templates = [
        sentence
        for intent in data["intents"].values()
        for block in intent["data"]
        for sentence in block["sentences"]
    ]
    templates += data["skip_words"]
    for values in data["lists"].values():
        templates += [
            v["in"] if isinstance(v, dict) else str(v) for v in values["values"]
        ]
    return templates + list(data.get("expansion_rules", {}).values())


def _words(text: str) -> str:
    return " ".join(token for token in tokenise(text) if token not in MARKS)


def test_no_case_stands_in_a_sentence_file_as_it_is() -> None:
    told = {
        _words(case["text"])
        for case in read_cases(CASES)
        if case["expect"]["action"] != "none"
    }
    for path in SENTENCES.glob("*.yaml"):
        for template in _templates(path):
            if not _has_choices(parse_sentence(template).expression):
                assert _words(template) not in told, (path.name, template)
            for option in template.strip("()[]").split("|"):
                if "{" not in option and "<" not in option:
                    assert _words(option) not in told, (path.name, option)
