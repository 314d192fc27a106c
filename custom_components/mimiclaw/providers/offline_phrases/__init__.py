"""What the offline helper understands and says, one data file a language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDER: Final = Path(__file__).parent
_FALLBACK: Final = "en"
_EDGES: Final = " \t\n.,;:!?¡¿。，、；：！？…\"'“”‘’„«»「」()-"


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language's patterns and sentences."""

    remember: tuple[re.Pattern[str], ...]
    polite: re.Pattern[str]
    intents: Mapping[str, tuple[str, ...]]
    fillers: re.Pattern[str]
    sentences: Mapping[str, str]

    def fact(self, text: str) -> str:
        """Return what is to be remembered, empty if nothing is."""
        text = self._bare(text)
        for pattern in self.remember:
            if found := pattern.fullmatch(text):
                return found["text"].strip(_EDGES)
        return ""

    def wants(self, intent: str, text: str) -> bool:
        """Return whether the whole text is one of an intent's phrases."""
        return self._bare(text).casefold() in self.intents[intent]

    def content(self, text: str) -> str:
        """Return the words of a question that say what it is about."""
        words = self.fillers.sub(" ", self._bare(text)).split()
        return " ".join(word for each in words if (word := each.strip(_EDGES)))

    def say(self, name: str, **values: str) -> str:
        """Return a sentence with the values in it."""
        return self.sentences[name].format_map(values)

    def _bare(self, text: str) -> str:
        text = text.strip(_EDGES)
        while (rest := self.polite.sub("", text).strip(_EDGES)) != text:
            text = rest
        return text


def load(language: str) -> Phrases:
    """Return the phrases of a language (BCP 47), English where there are none.

    Reads a file: not for the event loop.
    """
    data = _data(language)
    spaced = not data.get("no_spaces", False)
    return Phrases(
        remember=tuple(_remember(pattern) for pattern in data["remember"]),
        polite=_edges(data["polite"], spaced=spaced),
        intents={
            name: tuple(phrase.casefold() for phrase in data[name])
            for name in ("time", "help")
        },
        fillers=_anywhere(data["fillers"], spaced=spaced),
        sentences=data["say"],
    )


def languages() -> list[str]:
    """Return the languages there are files for. Reads a folder."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def _data(language: str) -> dict[str, Any]:
    known = {name.lower(): name for name in languages()}
    wanted = language.replace("_", "-").lower()
    if wanted.startswith("zh"):
        taiwan = any(part in wanted for part in ("tw", "hk", "hant"))
        wanted = "zh-tw" if taiwan else "zh-cn"
    name = known.get(wanted) or known.get(wanted.partition("-")[0]) or _FALLBACK
    data = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text("utf-8"))
    return dict(data)


def _remember(pattern: str) -> re.Pattern[str]:
    before, _, after = pattern.partition("{text}")
    return re.compile(
        rf"{re.escape(before)}(?P<text>.*\w.*){re.escape(after)}",
        re.IGNORECASE | re.DOTALL,
    )


def _edges(words: Sequence[str], *, spaced: bool) -> re.Pattern[str]:
    """Return a pattern for polite words at either end."""
    either = _alternatives(words)
    gap = r"\b" if spaced else ""
    return re.compile(rf"^(?:{either}){gap}|{gap}(?:{either})$", re.IGNORECASE)


def _anywhere(words: Sequence[str], *, spaced: bool) -> re.Pattern[str]:
    either = _alternatives(words)
    gap = r"\b" if spaced else ""
    return re.compile(rf"{gap}(?:{either}){gap}", re.IGNORECASE)


def _alternatives(words: Sequence[str]) -> str:
    # The longest first, or a short one would leave half of a long one behind.
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
