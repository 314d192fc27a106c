"""Pieces of text for embeddings: about 400 tokens each, overlapping by about 80."""

from __future__ import annotations

from dataclasses import dataclass

from .text import lines_of

TOKENS = 400
OVERLAP = 80
# Rough, and the same for every model: a chunk is a size, not a promise.
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines ``start`` to ``stop`` (from 1, both included) and their text."""

    start: int
    stop: int
    text: str


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has: four letters, or one ideograph, each."""
    wide = 0 if text.isascii() else sum(1 for char in text if char > "\u2e7f")
    return (len(text) - wide) // _CHARS_PER_TOKEN + wide + 1


def chunks_of(text: str) -> list[Chunk]:
    """Cut a text at lines into chunks; a line longer than a chunk is cut within."""
    pieces = [
        (number, part, tokens_of(part))
        for number, line in enumerate(lines_of(text), start=1)
        for part in _parts(line)
    ]
    found: list[Chunk] = []
    first = 0
    while first < len(pieces):
        last = first
        size = 0
        while last < len(pieces) and (size == 0 or size + pieces[last][2] <= TOKENS):
            size += pieces[last][2]
            last += 1
        body = "\n".join(piece[1] for piece in pieces[first:last]).strip()
        if body:
            found.append(Chunk(pieces[first][0], pieces[last - 1][0], body))
        if last >= len(pieces):
            break
        back = last
        shared = 0
        while back - 1 > first and shared + pieces[back - 1][2] <= OVERLAP:
            back -= 1
            shared += pieces[back][2]
        first = back
    return found


def _parts(line: str) -> list[str]:
    """Cut a line that is longer than a chunk."""
    if tokens_of(line) <= TOKENS:
        return [line]
    width = (
        TOKENS if not line.isascii() else TOKENS * _CHARS_PER_TOKEN - _CHARS_PER_TOKEN
    )
    step = width - width * OVERLAP // TOKENS
    return [
        line[at : at + width]
        for at in range(0, max(1, len(line) - (width - step)), step)
    ]
