"""Nothing is cut in the middle of a character or a line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from custom_components.mimiclaw.agent.trim import cut

MARKER = "[cut]"


def test_short_text_stays() -> None:
    assert cut("水泵\n", 7, MARKER) == "水泵\n"


def test_cut_falls_after_a_line() -> None:
    assert cut("one\ntwo\nthree\n", 13, MARKER) == "one\ntwo\n[cut]"


def test_one_long_line_is_cut_after_a_character() -> None:
    assert cut("水" * 10, 14, MARKER) == "水水\n[cut]"


def test_no_room_for_the_marker_leaves_nothing() -> None:
    assert cut("long enough", 5, MARKER) == ""


@given(st.text(), st.integers(0, 200))
def test_never_over_the_cap_and_always_a_beginning(text: str, cap: int) -> None:
    kept = cut(text, cap, MARKER)
    assert len(kept.encode(errors="surrogatepass")) <= cap
    if kept != text:
        body = kept.removesuffix(MARKER).removesuffix("\n")
        assert text.startswith(body)
