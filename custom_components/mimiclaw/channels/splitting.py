"""Cut a formatted text into pieces that Telegram takes, at the best places.

Lengths are UTF-16 code units, as Telegram counts; positions are characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
import re
import unicodedata

#: A cut within these changes what the text means or how it looks.
_WHOLE = frozenset({"pre", "code", "text_link"})

_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？；])")
_SPACE = re.compile(r"\s+")

_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of a text with a form. `kind` is Telegram's name for it.

    `start` and `end` are positions in characters, `end` not included.
    """

    kind: str
    start: int
    end: int
    url: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Formatted:
    """Plain text and its forms."""

    text: str
    spans: tuple[Span, ...] = ()


def units(text: str) -> int:
    """Return the UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text) + sum(c > "\uffff" for c in text)


def split(whole: Formatted, limit: int) -> list[Formatted]:
    """Return pieces of at most `limit` code units with something in them.

    Cut at paragraphs, else lines, sentences, words, in this order, and outside of code;
    a code block longer than a piece is cut at its lines, and is a code block in each.
    """
    table = _unit_table(whole.text)
    pieces: list[Formatted] = []
    start = 0
    while start < len(whole.text):
        end = bisect_right(table, table[start] + limit) - 1
        if end < len(whole.text):
            end = _best_cut(whole, start, max(end, start + 1))
        piece = _piece(whole, start, end)
        if piece is not None:
            pieces.append(piece)
        start = end
    return pieces


def _unit_table(text: str) -> list[int]:
    """Return the code units before each character, and the sum at the end."""
    table = [0]
    for character in text:
        table.append(table[-1] + (2 if character > "\uffff" else 1))
    return table


def _best_cut(whole: Formatted, start: int, end: int) -> int:
    """Return where to end the piece that may reach from `start` to `end`."""
    kept = [one for one in whole.spans if one.kind in _WHOLE]
    for pattern in (_PARAGRAPH, _LINE, _SENTENCE, _SPACE):
        if cut := _last(pattern, whole.text, start, end, kept):
            return cut
    # Nothing but one code block, or one endless word.
    if cut := _last(_LINE, whole.text, start, end, []):
        return cut
    return _between_characters(whole.text, start, end)


def _last(
    pattern: re.Pattern[str], text: str, start: int, end: int, kept: Sequence[Span]
) -> int | None:
    """Return the last cut by a pattern that breaks no span of `kept`."""
    # The break itself may hang over the end: it is left out of both pieces.
    for match in reversed(list(pattern.finditer(text, start, min(len(text), end + 2)))):
        cut = min(match.end(), end)
        if match.start() > end or match.start() <= start:
            continue
        if not any(one.start < cut < one.end for one in kept):
            return cut
    return None


def _between_characters(text: str, start: int, end: int) -> int:
    """Return the last place up to `end` that is not within what a person sees as one."""
    cut = end
    while cut > start + 1 and cut > end - 32 and _joined(text, cut):
        cut -= 1
    return cut if cut > start + 1 and not _joined(text, cut) else end


def _joined(text: str, cut: int) -> bool:
    """Tell whether the characters on both sides belong together."""
    before, after = text[cut - 1], text[cut]
    return (
        _JOINER in {before, after}
        or bool(unicodedata.combining(after))
        or unicodedata.category(after) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or (_is_flag(before) and _is_flag(after) and _flags_before(text, cut) % 2 == 1)
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, cut: int) -> int:
    count = 0
    while cut - count > 0 and _is_flag(text[cut - count - 1]):
        count += 1
    return count


def _piece(whole: Formatted, start: int, end: int) -> Formatted | None:
    """Return one piece without the blank lines around it."""
    while end > start and whole.text[end - 1].isspace():
        end -= 1
    while start < end and whole.text[start] == "\n":
        start += 1
    if start >= end or not whole.text[start:end].strip():
        return None
    spans = tuple(
        replace(one, start=max(one.start, start) - start, end=min(one.end, end) - start)
        for one in whole.spans
        if one.start < end and one.end > start
    )
    return Formatted(whole.text[start:end], spans)
