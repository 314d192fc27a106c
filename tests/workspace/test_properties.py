"""Whatever a model writes as a path, a text or a question: the promises hold."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.mimiclaw.workspace.edits import replace_once
from custom_components.mimiclaw.workspace.errors import EditMismatch, PathRefused
from custom_components.mimiclaw.workspace.names import parse, text_of
from custom_components.mimiclaw.workspace.notes import with_fact
from custom_components.mimiclaw.workspace.sections import sections_of
from custom_components.mimiclaw.workspace.sessions import session_name
from custom_components.mimiclaw.workspace.text import clip, part_of
from custom_components.mimiclaw.workspace.tokens import for_index, words_of

PIECES = st.sampled_from(
    [
        "..",
        ".",
        "/",
        "//",
        "\\",
        "memory",
        "users",
        "bob",
        "MEMORY.md",
        "%2e",
        "\u2024",
        "\uff0e",
        "\u200b",
        "~",
        " ",
        "\0",
        "é",
        "水",
    ]
)
PATHS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=8).map("".join))
LINES = st.lists(
    st.sampled_from(
        ["# A", "## B", "text", "", "```", "---", "===", "- x", "\ttab", "水泵", "~~~"]
    ),
    max_size=30,
).map("\n".join)


@settings(max_examples=400)
@given(PATHS)
def test_a_path_is_refused_or_stays_in_the_tree(path: str) -> None:
    with suppress(PathRefused):
        parts = parse(path)
        assert all(part not in ("", ".", "..") for part in parts)
        assert not any("/" in part or "\0" in part or "\\" in part for part in parts)
        assert not any(part.startswith(".") for part in parts[1:])
        assert parse(text_of(parts)) == parts


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_conversation_has_one_safe_file(channel: str, conversation: str) -> None:
    path = session_name(channel, conversation)
    assert text_of(parse(path)) == path
    assert path.startswith("/sessions/")
    assert path.endswith(".jsonl")


@given(st.text(max_size=200), st.integers(0, 300))
def test_a_cut_is_a_beginning_within_its_size(text: str, limit: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    kept = clip(text, limit)
    assert text.startswith(kept)
    assert len(kept.encode()) <= limit


@given(LINES)
def test_sections_are_in_order_and_apart(text: str) -> None:
    end = 0
    for section in sections_of(text):
        assert section.start > end
        assert section.end >= section.start
        end = section.end


@given(LINES, st.integers(-3, 40), st.integers(0, 10))
def test_parts_of_a_text_read_on_give_it_all(
    text: str, offset: int, limit: int
) -> None:
    part = part_of("/x", text, offset, limit)
    assert part.start_line >= 1
    assert part.truncated == (part.next_offset is not None)


@given(
    LINES,
    st.text("ab水- #", min_size=1, max_size=10),
    st.sampled_from(["A", "B", "New"]),
)
def test_a_fact_is_added_and_nothing_is_lost(
    text: str, fact: str, heading: str
) -> None:
    if not fact.strip("-*# "):
        return
    new, added = with_fact(text, heading, fact)
    before = [line for line in text.split("\n") if line.strip()]
    after = [line for line in new.split("\n") if line.strip()]
    kept = iter(after)
    assert all(line in kept for line in before)
    assert added == (new != text)


@given(
    st.text("ab\n", max_size=30), st.text("ab\n", max_size=4), st.text("ab", max_size=4)
)
def test_an_edit_changes_the_only_place_or_nothing(
    text: str, old: str, new: str
) -> None:
    count = text.count(old) if old else 0
    try:
        assert replace_once(text, old, new, "/x") == text.replace(old, new)
        assert count == 1
    except EditMismatch:
        assert count != 1


@given(st.text(max_size=80))
def test_every_word_of_a_question_is_one_the_index_holds(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    held = set(words_of(for_index(text)))
    runs = [word for word in words_of(text) if len(word) == 2]
    assert all(word in held or set(word) <= held for word in runs)
