"""Lines added to memory: dated notes, and facts under their heading."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from .errors import TooLarge
from .sections import headings
from .text import lines_of, one_line

# A note is a line; what is longer is a file of its own.
NOTE_BYTES = 2 * 1024


@dataclass(frozen=True, slots=True)
class DayNotes:
    """The notes of one day: the household's, or the speaker's own (private)."""

    path: str
    day: date
    text: str
    private: bool


def with_note(
    text: str | None, now: datetime, note: str, source: str
) -> tuple[str, str]:
    """Return the day's text with one more line, and that line. Raises TooLarge."""
    plain = one_line(note).removeprefix("- ").strip()
    if len(plain.encode("utf-8")) > NOTE_BYTES:
        raise TooLarge(
            "A note is one line of at most 2 KB; write longer text to a file with write_file and note its path."
        )
    if not plain:
        raise TooLarge("The note is empty; say in one line what to remember.")
    origin = one_line(source)[:80]
    line = f"- {now:%H:%M} {plain}" + (f" ({origin})" if origin else "")
    return _joined(text or f"# Notes of {now:%Y-%m-%d}\n\n", line), line


def with_fact(text: str, section: str, fact: str) -> tuple[str, bool]:
    """Return the text with a line at the end of a section, and whether it was added.

    The section is made at the end when it is missing; a line that stands there stays alone.
    """
    heading = one_line(section).lstrip("#").strip() or "Notes"
    plain = one_line(fact)
    if len(plain.encode("utf-8")) > NOTE_BYTES:
        raise TooLarge(
            "A fact is one line of at most 2 KB; write longer text to a file with write_file and note its path."
        )
    if not plain.strip("-*# "):
        raise TooLarge("The fact is empty; say in one line what to remember.")
    line = plain if plain.startswith(("- ", "* ")) else f"- {plain}"
    lines = lines_of(text)
    marks = headings(lines)
    match = next((mark for mark in marks if _same(mark[2], heading)), None)
    if match is None:
        base = text if not text or text.endswith("\n") else text + "\n"
        gap = "\n" if base.strip() else ""
        return f"{base}{gap}## {heading}\n{line}\n", True
    end = next((mark[0] - 1 for mark in marks if mark[0] > match[0]), len(lines))
    body = lines[match[0] : end]
    if any(_same(old.strip(), line) for old in body):
        return text, False
    at = match[0]
    for place in range(end, match[0], -1):
        if lines[place - 1].strip():
            at = place
            break
    ending = "\r\n" if "\r\n" in text else "\n"
    new = [*lines[:at], line, *lines[at:]]
    if at < len(lines) and lines[at].strip() and at == end:
        new.insert(at + 1, "")
    return ending.join(new) + ending, True


def _joined(text: str, line: str) -> str:
    ending = "\r\n" if "\r\n" in text else "\n"
    return text + ("" if text.endswith("\n") else ending) + line + ending


def _same(left: str, right: str) -> bool:
    return " ".join(left.casefold().split()) == " ".join(right.casefold().split())
