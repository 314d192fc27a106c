"""Text of all kinds: no exception, no long wait, no command out of noise."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from custom_components.mimiclaw.fast_path import router
from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.languages import own_languages
from custom_components.mimiclaw.fast_path.normalise import MAX_CHARS, tokenise
from custom_components.mimiclaw.fast_path.router import FastPath

from .conftest import channel

LANGUAGES = sorted(own_languages())
WORDS = [
    "turn",
    "on",
    "off",
    "the",
    "pump",
    "fan",
    "gate",
    "and",
    "is",
    ",",
    ".",
    "?",
    "for",
    "10",
    "minutes",
    "half",
    "打开",
    "水泵",
    "关掉",
    "十分钟",
    "和",
    "ポンプ",
    "つけて",
    "止めて",
    "を",
    "เปิด",
    "ปั๊ม",
    "ปิด",
    "включи",
    "насос",
    "на",
    "Pumpe",
    "an",
    "aus",
    "\u200f",
    "\x00",
    "🙂",
    "(",
    ")",
    "«",
]
HERE = (
    channel("g/pump", "pump", "水泵", "ポンプ", "ปั๊ม", "насос", "Pumpe"),
    channel("g/fan"),
)


@pytest.fixture(scope="module")
def noisy() -> FastPath:
    return FastPath(Grammar.compile(LANGUAGES, HERE))


@given(st.text(max_size=MAX_CHARS))
@settings(max_examples=300, deadline=None)
def test_any_text_has_tokens(text: str) -> None:
    assert all(tokenise(text))


def test_any_text_has_an_answer(noisy: FastPath) -> None:
    @given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)))
    @settings(max_examples=400, deadline=None)
    def check(text: str) -> None:
        match = noisy.recognize(text, LANGUAGES)
        assert match is None or 1 <= len(match.commands) <= 8

    check()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ".",
        "?!…",
        "\x00" * 100,
        "\u200f" * 100,
        "\ud800",
        "a" * MAX_CHARS,
        "(a+)+$" * 40,
        "((((((((((" * 20,
        "[" * 200,
        "{name}" * 30,
        "turn on {name}",
        "1" * 200,
        "1.1.1.1.1.1",
        "½ ⅓ ²",
        "pump, " * 40,
        "pump on, fan off, " * 13,
        "1 h " * 60,
        "ปั๊ม" * 60,
        "水泵" * 100,
    ],
)
def test_strange_text_is_none(noisy: FastPath, text: str) -> None:
    assert noisy.recognize(text, LANGUAGES) is None


def test_long_text_is_not_even_looked_at(
    noisy: FastPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = "turn on the pump"
    assert noisy.recognize(order + " " * (MAX_CHARS - len(order)), ["en"])
    monkeypatch.setattr(router, "tokenise", None)
    assert noisy.recognize(order + " " * MAX_CHARS, ["en"]) is None
    assert noisy.recognize(order * 60_000, ["en"]) is None


def test_an_order_with_a_word_too_many_is_none(noisy: FastPath) -> None:
    """Put any foreign word at any place of an order: it is no order any more."""
    chance = random.Random(3)
    for order in ("turn on the pump", "switch the fan off", "is the pump on"):
        words = order.split()
        assert noisy.recognize(order, ["en"])
        for place in range(len(words) + 1):
            odd = "".join(chance.choice("bcdfgklmnrstv") for _ in range(6))
            text = " ".join([*words[:place], odd, *words[place:]])
            assert noisy.recognize(text, ["en"]) is None, text


@pytest.mark.parametrize(
    ("order", "language", "words"),
    [
        (
            "turn on the pump",
            "en",
            ["not", "never", "don't", "later", "tomorrow", "if"],
        ),
        ("schalte die Pumpe an", "de", ["nicht", "nie", "morgen", "später", "wenn"]),
        ("включи насос", "ru", ["не", "завтра", "если", "потом", "через"]),
        ("打开水泵", "zh-CN", ["不", "别", "没", "明天", "如果", "等"]),
        ("ポンプをつけて", "ja", ["ない", "明日", "もし", "後で", "だめ"]),
        ("เปิดปั๊ม", "th", ["ไม่", "อย่า", "พรุ่งนี้", "ถ้า", "เมื่อวาน"]),
    ],
)
def test_a_word_that_turns_an_order_round_is_never_overlooked(
    noisy: FastPath, order: str, language: str, words: list[str]
) -> None:
    assert noisy.recognize(order, [language])
    parts = order.split() if " " in order else [order]
    for word in words:
        for place in range(len(parts) + 1):
            for mark in ("", ","):
                text = " ".join([*parts[:place], word + mark, *parts[place:]])
                assert noisy.recognize(text, [language]) is None, text


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
@settings(max_examples=500, deadline=None)
def test_ascii_text_has_the_tokens_any_text_has(text: str) -> None:
    # "ø" makes the text take the long way and is a word of its own.
    assert ["ø", *tokenise(f"x {text}")] == tokenise(f"ø x {text}")
