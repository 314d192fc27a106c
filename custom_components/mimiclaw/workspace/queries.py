"""Questions in the language of the index. Words of a model or a person are never operators."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from .names import Parts, text_of


def phrase(word: str) -> str:
    """Return a word as it stands in a query, never as an operator."""
    return '"' + word.replace('"', "") + '"'


def match_all(words: Iterable[str]) -> str:
    """Return a query for sections that hold every word in text, heading or name."""
    return (
        "{name heading body} : (" + " AND ".join(phrase(word) for word in words) + ")"
    )


def match_any(words: Iterable[str], *, prefix: bool = False) -> str:
    """Return a query for sections that hold any of the words, or of words that begin so."""
    star = "*" if prefix else ""
    return (
        "{name heading body} : ("
        + " OR ".join(phrase(word) + star for word in words)
        + ")"
    )


def match_title(words: Iterable[str]) -> str:
    """Return a query for sections whose name or heading holds every word."""
    return "{name heading} : (" + " AND ".join(phrase(word) for word in words) + ")"


def within(query: str, folder: Parts) -> str:
    """Return a query that sees one folder only."""
    return f"(scope : {phrase(mark(text_of(folder)))}) AND {query}" if folder else query


def mark(place: str) -> str:
    """Return a word of digits alone, which no stemming changes, for a folder or file."""
    return str(int.from_bytes(blake2b(place.encode(), digest_size=8).digest()))
