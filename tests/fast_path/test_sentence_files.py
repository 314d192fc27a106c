"""Sentence files: the format, the household's own, and what a broken one does."""

from __future__ import annotations

from pathlib import Path

from hassil.intents import Intents
import pytest
import yaml

from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.languages import (
    SENTENCES,
    closest_language,
    own_languages,
)
from custom_components.mimiclaw.fast_path.router import FastPath

from .conftest import channel, plain

PUMP = channel("g/pump", "pump", "Pumpe", "pompa")


def read(
    tmp_path: Path, text: str, said: str, language: str = "en"
) -> tuple[list[tuple[str, str | None, float | None]], Grammar]:
    (tmp_path / f"{language}.yaml").write_text(text, encoding="utf-8")
    grammar = Grammar.compile([language], [PUMP], tmp_path)
    return plain(FastPath(grammar).recognize(said, [language])), grammar


@pytest.mark.parametrize("language", sorted(own_languages()))
def test_our_files_have_no_mistakes(language: str) -> None:
    assert Grammar.compile([language], [PUMP]).problems == ()


@pytest.mark.parametrize("language", sorted(own_languages()))
def test_our_files_are_hassil_intent_files(language: str) -> None:
    text = (SENTENCES / f"{language}.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    for values in data["lists"].values():
        for value in values["values"]:
            assert isinstance(value, str) or set(value) == {"in", "out"}, value
    data.pop("settings", None)  # theirs knows other keys than ours
    intents = Intents.from_dict(data)
    assert {"Open", "Close", "Toggle", "AllOn", "AllOff", "QueryState"} <= set(
        intents.intents
    )
    assert all(
        sentence
        for intent in intents.intents.values()
        for block in intent.data
        for sentence in block.sentences
    )


def test_a_household_file_adds_phrases(tmp_path: Path) -> None:
    text = """
language: en
lists:
  wake:
    values: [wake, "(rouse|stir) up"]
intents:
  TurnOn:
    data:
      - sentences: ["{wake} {name}", "let there be {name}"]
"""
    got, grammar = read(tmp_path, text, "stir up the pump")
    assert grammar.problems == ()
    assert got == [("turn_on", "pump", None)]
    assert read(tmp_path, text, "let there be pump")[0] == [("turn_on", "pump", None)]
    assert read(tmp_path, text, "turn on the pump")[0] == [("turn_on", "pump", None)]


def test_a_household_file_adds_to_home_assistant_s_sentences(tmp_path: Path) -> None:
    text = "intents: {Toggle: {data: [{sentences: ['przełącz {name}']}]}}"
    got, grammar = read(tmp_path, text, "przełącz pompa", "pl")
    assert grammar.problems == ()
    assert got == [("toggle", "pump", None)]
    assert read(tmp_path, text, "włącz pompa", "pl")[0] == [("turn_on", "pump", None)]


def test_a_household_file_can_bring_a_language_of_its_own(tmp_path: Path) -> None:
    assert closest_language("eo") is None
    text = "intents: {TurnOn: {data: [{sentences: ['ŝaltu [la] {name}']}]}}"
    got, grammar = read(tmp_path, text, "Ŝaltu la pump!", "eo")
    assert grammar.problems == ()
    assert got == [("turn_on", "pump", None)]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("intents:\n  TurnOn:\n    data: [{sentences: ['foo (bar {name}']}]", 3, "group"),
        ("intents:\n  TurnOn:\n    data:\n      - sentences:\n        - <gone> {name}", 5, "<gone>"),
        ("intents:\n  TurnOn:\n    data: [{sentences: ['go {gone} {name}']}]", 3, "{gone}"),
        ("intents:\n  TurnOn:\n    data: [{sentences: ['[now] {name}']}]", 3, "word"),
        ("intents:\n  Explode:\n    data: [{sentences: ['blow up {name}']}]", 3, "Explode"),
        ("intents:\n  TurnOn:\n    data:\n    - {sentences: [go], metadata: {question: maybe}}", 4, "maybe"),
        ("lists:\n  number:\n    values:\n      - {in: umpteen, out: many}", 4, "number"),
        ("lists:\n  number:\n    values:\n      - {in: umpteen}", 4, "out"),
        ("lists:\n  x:\n    values: ['a [b']", 3, "optional"),
        ("lists:\n  x: {values: ['<y>']}", 2, "<y>"),
        ("skip_words:\n  - '{name}'", 2, "list"),
        ("expansion_rules:\n  a: <b>\n  b: <a>\nskip_words: ['<a>']", 4, "without end"),
        ("settings:\n  loud: true", 2, "loud"),
        ("wishes:\n  - more", 1, "wishes"),
        ("- just\n- a list", 1, "keys and values"),
        ("language: en\nintents: [", 3, ""),
        ("a: 1\n b: 2", 2, ""),
        ("intents:\n  TurnOn:\n    data: {sentences: go}", 3, "list"),
        ("settings:\n  respell: [a, b]", 2, "keys and values"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line_and_the_rest_works(
    tmp_path: Path, text: str, line: int, part: str
) -> None:
    got, grammar = read(tmp_path, text, "turn on the pump")
    assert got == [("turn_on", "pump", None)]
    assert [problem.file for problem in grammar.problems] == ["en.yaml"]
    assert grammar.problems[0].line == line, grammar.problems
    assert part in grammar.problems[0].message
    assert str(grammar.problems[0]).startswith(f"en.yaml:{line}: ")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"x" * 600_000], ids=["bytes", "big"]
)
def test_a_file_that_is_no_text_or_too_much_is_told(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "en.yaml").write_bytes(content)
    grammar = Grammar.compile(["en"], [PUMP], tmp_path)
    assert [(p.file, p.line) for p in grammar.problems] == [("en.yaml", 0)]
    assert FastPath(grammar).recognize("turn on the pump", ["en"])


def test_an_empty_file_is_no_mistake(tmp_path: Path) -> None:
    got, grammar = read(tmp_path, "", "turn on the pump")
    assert grammar.problems == ()
    assert got


def test_a_swapped_slot_where_it_does_not_fit_is_no_length(tmp_path: Path) -> None:
    text = (
        "lists: {unit: {values: [{in: moon, out: 60}]}}\n"
        "intents: {Duration: {data: [{sentences: ['{unit} whole'], slots: {swapped: 1}}]}}"
    )
    got, grammar = read(tmp_path, text, "run the pump for moon whole")
    assert grammar.problems == ()
    assert got == []


def test_a_language_without_sentences_is_told() -> None:
    grammar = Grammar.compile(["tlh", "en"], [PUMP])
    assert [str(problem) for problem in grammar.problems] == [
        "tlh.yaml:0: no sentences for it"
    ]
    assert set(grammar.languages) == {"en"}


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("en", "en"),
        ("en-GB", "en"),
        ("de-CH", "de"),
        ("de_AT", "de"),
        ("zh", "zh-CN"),
        ("zh-Hans", "zh-CN"),
        ("zh-Hant", "zh-TW"),
        ("zh-HK", "zh-HK"),
        ("pt-BR", "pt-BR"),
        ("sr-Latn", "sr-Latn"),
        ("no", "nb"),
        ("fr-CA", "fr"),
        ("xx", None),
    ],
)
def test_a_region_is_served_by_its_language(asked: str, served: str | None) -> None:
    assert closest_language(asked) == served
