"""Yes or no, as the whole answer to a question of ours."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import yaml

from .languages import base_language
from .normalise import MARKS, tokenise

_FILE: Final = Path(__file__).with_suffix(".yaml")

type _Words = dict[tuple[str, ...], bool]


def _plain(text: str) -> tuple[str, ...]:
    return tuple(token for token in tokenise(text) if token not in MARKS)


@cache
def load() -> dict[str, _Words]:
    """Read the words of all languages. Blocking the first time."""
    file = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {
        language: {
            _plain(phrase): answer == "yes"
            for answer, phrases in answers.items()
            for phrase in phrases
        }
        for language, answers in file.items()
    }


def consent(text: str, language: str) -> bool | None:
    """Return True for a yes, False for a no, None for anything else."""
    words = load()
    base = base_language(language)
    known = words.get(language) or next(
        (found for code, found in words.items() if base_language(code) == base), {}
    )
    said = _plain(text)
    answer = known.get(said)
    # English is understood everywhere.
    return words["en"].get(said) if answer is None else answer
