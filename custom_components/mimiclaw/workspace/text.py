"""Text of a file: decoding, lines, cutting on characters."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
import unicodedata

from .errors import NotText
from .paths import RESULT_BYTES, RESULT_NOTE_BYTES

TEXT_BYTES = RESULT_BYTES - RESULT_NOTE_BYTES
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a file. Lines are counted from 1.

    path: as the model writes it. text: whole lines, joined by a newline.
    start_line, end_line: what the text covers. total_lines, total_bytes: of the file.
    truncated: more lines follow. next_offset: the line to go on with, None at the end.
    next_column: characters of that line already given (0 unless one line is over 8 KB).
    """

    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    total_bytes: int
    truncated: bool
    next_offset: int | None = None
    next_column: int = 0


def version_of(data: bytes) -> str:
    """Return what identifies exactly these bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def decode(data: bytes, shown: str) -> str:
    """Return UTF-8 text without a byte order mark. Raises NotText."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotText(
            f"{shown} is not UTF-8 text; ask the owner to save it as UTF-8."
        ) from None
    if "\0" in text:
        raise NotText(f"{shown} is not a text file.")
    return text.removeprefix("\ufeff")


def encode(text: str, shown: str) -> bytes:
    """Return the bytes to write. Raises NotText for what UTF-8 text cannot hold."""
    if "\0" in text:
        raise NotText(f"The text for {shown} holds a NUL character; write plain text.")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotText(
            f"The text for {shown} holds half a character; write whole characters."
        ) from None


def lines_of(text: str) -> list[str]:
    """Split text into lines, without their ends; a last newline starts no line."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    return lines


def one_line(text: str) -> str:
    """Return text as a single line that cannot start a heading or a list of its own."""
    return (
        " ".join(text.replace("\0", " ").split())
        .encode("utf-8", "replace")
        .decode("utf-8")
    )


def clip(text: str, limit: int) -> str:
    """Return the longest beginning of at most ``limit`` bytes that ends on a whole character."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    kept = data[: max(0, limit)].decode("utf-8", "ignore")
    # A letter and its accent, or the parts of one emoji, stay together.
    for _ in range(8):
        rest = text[len(kept) : len(kept) + 1]
        joined = kept[-1:] in _JOINERS
        if not kept or not (
            joined or rest in _JOINERS or unicodedata.combining(rest or " ")
        ):
            break
        kept = kept[:-1]
    return kept


def part_of(
    path: str, text: str, offset: int, limit: int | None, column: int = 0
) -> Text:
    """Return ``limit`` lines from line ``offset`` on, at most what fits one tool result."""
    lines = lines_of(text)
    total = len(lines)
    size = len(text.encode("utf-8"))
    start = max(1, offset)
    wanted = (
        lines[start - 1 :]
        if limit is None
        else lines[start - 1 : start - 1 + max(1, limit)]
    )
    if wanted and column > 0:
        wanted[0] = wanted[0][column:]
    kept: list[str] = []
    used = 0
    for line in wanted:
        cost = len(line.encode("utf-8")) + 1
        if used + cost > TEXT_BYTES:
            break
        kept.append(line)
        used += cost
    if wanted and not kept:
        piece = clip(wanted[0], TEXT_BYTES - 1)
        done = len(piece) + max(0, column)
        return Text(path, piece, start, start, total, size, True, start, done)
    end = start + len(kept) - 1
    more = end < total
    return Text(
        path, "\n".join(kept), start, end, total, size, more, end + 1 if more else None
    )
