"""Markdown becomes messages that Telegram takes: nothing refused, nothing lost."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from custom_components.mimiclaw.channels.limits import MESSAGE_UNITS
from custom_components.mimiclaw.channels.markdown import pieces, plain_pieces
from custom_components.mimiclaw.channels.splitting import (
    Formatted,
    Span,
    split,
    units,
)

from .bot_api.markup import parse


def shown(markdown: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return what a Telegram client shows for each piece."""
    return [parse(piece.html, "html") for piece in pieces(markdown)]


def letters(text: str) -> str:
    """Return the text without gaps and signs that Markdown eats."""
    return "".join(re.findall(r"[^\W_]", text))


@pytest.mark.parametrize(
    "text",
    [
        "a stray _ and a * and a ` and [",
        "snake_case_name and file_name.md_old",
        "5 < 6 & 7 > 3, <b>no tag</b>, <script>alert(1)</script>",
        "*unfinished bold and `code",
        "```\nnever closed <b>",
        "\\_*[]()~`>#+-=|{}.!",
        "a||b||c ~~struck",
        "| a | b |\n|---|---|\n| 1 | <2 |",
    ],
)
def test_no_stray_sign_is_refused_or_lost(text: str) -> None:
    found = shown(text)
    assert letters("".join(one for one, _ in found)) == letters(text)


def test_forms_become_entities() -> None:
    [(text, entities)] = shown(
        "# Head\n**bold** _it_ `co<d>e` [l](https://x.y/?a=1&b=2)\n\n```python\nif a < b:\n    pass\n```"
    )
    kinds = {
        text.encode("utf-16-le")[
            2 * one["offset"] : 2 * (one["offset"] + one["length"])
        ].decode("utf-16-le"): one
        for one in entities
    }
    assert kinds["bold"]["type"] == "bold"
    assert kinds["it"]["type"] == "italic"
    assert kinds["co<d>e"]["type"] == "code"
    assert kinds["l"]["url"] == "https://x.y/?a=1&b=2"
    block = next(one for one in entities if one["type"] == "pre")
    assert block["language"] == "python"
    assert "if a < b:\n    pass" in text


def test_code_keeps_its_tags() -> None:
    [(text, _)] = shown("`<a href>` and\n\n```html\n<p>hi</p>\n```")
    assert "<a href>" in text
    assert "<p>hi</p>" in text
    assert "\\" not in text


def test_a_long_text_is_cut_at_paragraphs() -> None:
    paragraphs = [f"{number} " + "word " * 150 for number in range(12)]
    found = shown("\n\n".join(paragraphs))
    assert len(found) > 1
    for text, _ in found:
        assert units(text) <= MESSAGE_UNITS
        assert re.match(r"\d+ word", text)
    assert letters("".join(text for text, _ in found)) == letters("".join(paragraphs))


def test_a_code_block_that_fits_is_never_cut() -> None:
    code = "\n".join(f"line {number} = {number}" for number in range(150))
    text = "intro. " * 400 + f"\n\n```python\n{code}\n```\n\n" + "outro. " * 400
    holding = [one for one, _ in shown(text) if "line 0 =" in one]
    assert code in holding[0]


def test_a_code_block_over_a_message_is_cut_at_lines_and_stays_code() -> None:
    code = "\n".join(f"value_{number} = {'x' * 40}" for number in range(400))
    found = shown(f"before\n\n```\n{code}\n```\n\nafter")
    assert len(found) > 3
    for text, entities in found[1:-1]:
        assert [one["type"] for one in entities] == ["pre"]
        for line in text.splitlines():
            assert re.fullmatch(r"value_\d+ = x{40}|after", line)
    assert re.sub(r"\s", "", "".join(text for text, _ in found)) == re.sub(
        r"\s", "", f"before{code}after"
    )


@pytest.mark.parametrize("sign", ["水", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "é", "👍🏽"])
def test_no_character_is_cut(sign: str) -> None:
    text = sign * 5000
    found = [one.text for one in plain_pieces(text)]
    assert "".join(found) == text
    for one in found:
        assert units(one) <= MESSAGE_UNITS
        assert one.replace(sign, "") == ""


def test_the_length_is_counted_as_telegram_does() -> None:
    assert [units(one.text) for one in plain_pieces("😀" * 2048)] == [4096]
    assert [units(one.text) for one in plain_pieces("😀" * 2049)] == [4096, 2]


def test_what_is_no_character_is_left_out() -> None:
    [piece] = pieces("a\x00b\ud800c\r\nd")
    piece.text.encode("utf-8")
    assert piece.text == "abc\nd"


def test_spans_follow_their_text() -> None:
    whole = Formatted("aaaa bbbb cccc", (Span("bold", 5, 14),))
    first, second, third = split(whole, 5)
    assert first == Formatted("aaaa")
    assert second == Formatted("bbbb", (Span("bold", 0, 4),))
    assert third == Formatted("cccc", (Span("bold", 0, 4),))


MARKDOWN = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            ["**", "_", "`", "```\n", "\n\n", "\n", "# ", "> ", "- ", "|", "[a](b)"]
        ),
        st.sampled_from(["<b>", "&", "😀", "水 ", "x" * 700, "||", "~~", "1. ", "$"]),
    ),
    max_size=30,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(MARKDOWN)
def test_whatever_a_model_writes_is_taken(text: str) -> None:
    found = shown(text)
    for one, _ in found:
        assert 0 < units(one) <= MESSAGE_UNITS
    if letters(text.encode("utf-8", "ignore").decode()) and not found:
        pytest.fail("a text with words became no message")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.integers(2, 50))
def test_plain_pieces_hold_every_word(text: str, limit: int) -> None:
    found = plain_pieces(text, limit)
    assert all(units(one.text) <= limit for one in found)
    assert letters("".join(one.text for one in found)) == letters(
        text.encode("utf-8", "ignore").decode()
    )
