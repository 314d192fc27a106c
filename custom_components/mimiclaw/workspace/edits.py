"""Replacing a passage of a text, and saying helpfully why it could not be found."""

from __future__ import annotations

from difflib import SequenceMatcher

from .errors import EditMismatch
from .text import clip, lines_of

_NEAREST = 3
# Comparing is quadratic; a longer file is compared by its lines that share a word.
_COMPARED_LINES = 4000
_SHOWN_BYTES = 200


def replace_once(text: str, old: str, new: str, shown: str) -> str:
    """Return ``text`` with its only ``old`` replaced. Raises EditMismatch."""
    if not old:
        raise EditMismatch(
            "old_string is empty; give the exact text to replace, or use write_file for a new file."
        )
    if "\r\n" in text and "\r\n" not in old:
        old = old.replace("\n", "\r\n")
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    count = text.count(old)
    if count == 1:
        return text.replace(old, new)
    if count > 1:
        places = ", ".join(str(line) for line in _places(text, old))
        raise EditMismatch(
            f"The text stands {count} times in {shown} (lines {places}); "
            "give more of its surroundings so that it is the only one."
        )
    raise EditMismatch(f"The text is not in {shown}.{_nearest(text, old)}")


def _places(text: str, old: str) -> list[int]:
    """Return the lines of the first matches."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0 and len(found) < 8:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(old, at + len(old))
    return found


def _nearest(text: str, old: str) -> str:
    """Return the lines that are most like the first full line of ``old``."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:400]
    lines = lines_of(text)
    if not wanted or not lines:
        return (
            " The file is empty."
            if not lines
            else " Read it again and copy the text exactly."
        )
    words = set(wanted.casefold().split())
    candidates = [
        (number, line) for number, line in enumerate(lines, start=1) if line.strip()
    ]
    if len(candidates) > _COMPARED_LINES:
        candidates = [
            pair for pair in candidates if words & set(pair[1].casefold().split())
        ][:_COMPARED_LINES]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted.casefold())
    scored: list[tuple[float, int, str]] = []
    for number, line in candidates:
        matcher.set_seq1(line.strip().casefold()[:400])
        if matcher.real_quick_ratio() > 0.4 and matcher.quick_ratio() > 0.4:
            scored.append((matcher.ratio(), number, line))
    scored.sort(key=lambda entry: (-entry[0], entry[1]))
    if not scored:
        return " Nothing in it is like it; read it again and copy the text exactly."
    shown = "\n".join(
        f"{number}: {clip(line, _SHOWN_BYTES)}" for _, number, line in scored[:_NEAREST]
    )
    return f" The nearest lines are:\n{shown}\nCopy the text exactly and try again."
