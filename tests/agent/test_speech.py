"""A voice gets words, a page keeps its Markdown."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest

from custom_components.mimiclaw.agent.speech import SpeechText, plain


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("**Warning**: the *pump* is `on`.", "Warning: the pump is on."),
        ("# Title\n\nText", "Title\n\nText"),
        ("- one\n* two\n+ three", "one\ntwo\nthree"),
        ("- [x] done\n- [ ] open", "done\nopen"),
        ("> quoted", "quoted"),
        ("see [the manual](https://example.invalid/a_b) now", "see the manual now"),
        ("2 * 3 = 6 and 2*3", "2 * 3 = 6 and 2*3"),
        ("snake_case stays, _this_ does not", "snake_case stays, this does not"),
        ("```yaml\nkey: value\n```\nend", "\nkey: value\n\nend"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a, b\n\n1, 2"),
        ("**水泵**已打开。", "水泵已打开。"),
        ("", ""),
    ],
)
def test_marks_are_taken_out(written: str, spoken: str) -> None:
    assert plain(written) == spoken


@given(
    st.text(alphabet="ab *_`#[]()-\n>|。", max_size=60),
    st.lists(st.integers(1, 60), max_size=6),
)
def test_however_it_arrives_it_sounds_the_same(text: str, cuts: list[int]) -> None:
    speech = SpeechText()
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    heard = "".join(speech.feed(piece) for piece in pieces) + speech.flush()
    words = [char for char in heard if char in "ab"]
    assert words == [char for char in plain(text) if char in "ab"]


def test_the_first_words_do_not_wait_for_the_end() -> None:
    speech = SpeechText()
    assert speech.feed("The pump is on since ") == "The pump is on since "
