"""What can go wrong while sentence files are read."""

from __future__ import annotations

from dataclasses import dataclass


class FastPathError(Exception):
    """Base of everything this room raises."""


class UnknownLanguageError(FastPathError):
    """No sentence file and no Home Assistant sentences exist for a language."""


@dataclass(frozen=True, slots=True)
class SentenceFileError:
    """One mistake in one sentence file, for repairs and the log.

    `line` counts from 1; 0 means the whole file (it could not be opened).
    """

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"
