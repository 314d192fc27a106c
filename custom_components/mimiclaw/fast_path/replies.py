"""What the fast path says, in the language it was spoken to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any, Final

from hassil.parse_expression import parse_sentence
from hassil.parser import ParseError
import home_assistant_intents
import yaml

from .automaton import TemplateError, phrases
from .languages import closest
from .sentence_file import is_template

REPLIES: Final = Path(__file__).parent / "replies"
_FALLBACK: Final = "en"

#: Slots that are given in seconds and spoken as a length of time.
_LENGTHS: Final = frozenset(("duration", "remaining", "limit"))
#: States that Home Assistant's sentence data has words for, by list and value.
_THEIR_STATES: Final = {
    "turn_on": ("on_off_states", "on"),
    "turn_off": ("on_off_states", "off"),
    "state_on": ("on_off_states", "on"),
    "state_off": ("on_off_states", "off"),
    "opened": ("cover_states", "open"),
    "closed": ("cover_states", "closed"),
    "state_open": ("cover_states", "open"),
    "state_closed": ("cover_states", "closed"),
}


@dataclass(frozen=True, slots=True)
class _Language:
    code: str
    plural: str
    join: str
    units: tuple[tuple[int, tuple[str, ...]], ...]
    replies: Mapping[str, str]


class Replies:
    """The replies of all languages that have them.

    A language without a file of ours says what Home Assistant's sentence data has words
    for ("name: on"), and the rest in English.
    """

    def __init__(self, languages: Mapping[str, _Language]) -> None:
        self._languages = dict(languages)

    @classmethod
    def load(cls, languages: Iterable[str] = ()) -> Replies:
        """Read the reply files, and Home Assistant's words for other `languages`.

        Blocking.
        """
        loaded = {path.stem: _read(path) for path in sorted(REPLIES.glob("*.yaml"))}
        theirs = home_assistant_intents.get_languages()
        for asked in languages:
            if closest(asked, loaded) is None and (code := closest(asked, theirs)):
                loaded[code] = _from_home_assistant(code, loaded[_FALLBACK])
        return cls(loaded)

    def reply(self, language: str, kind: str, **slots: str | float) -> str:
        """The sentence for `kind` with its slots filled.

        `duration`, `remaining` and `limit` are seconds. Raises KeyError for a kind that
        does not exist or a slot that is missing.
        """
        words = self._language(language)
        spoken = {
            name: self.duration(language, float(value)) if name in _LENGTHS else value
            for name, value in slots.items()
        }
        text = words.replies[kind].format(**spoken)
        return text[0].upper() + text[1:] if text[:1].islower() else text

    def several(self, language: str, sentences: Iterable[str]) -> str:
        """Several replies, one after the other."""
        return self._language(language).join.join(sentences)

    def duration(self, language: str, seconds: float) -> str:
        """A length of time as it is spoken: the two largest units, seconds rounded up."""
        words = self._language(language)
        left = max(1, math.ceil(seconds))
        parts = []
        for size, forms in words.units:
            count, left = divmod(left, size)
            if count:
                parts.append(_form(words.plural, forms, count).format(n=count))
        return (words.join or "").join(parts[:2])

    def _language(self, language: str) -> _Language:
        code = closest(language, self._languages)
        return self._languages[code or _FALLBACK]


def _form(plural: str, forms: tuple[str, ...], count: int) -> str:
    match plural:
        case "none":
            return forms[0]
        case "french":
            return forms[0 if count < 2 else 1]
        case "slavic":
            if count % 10 == 1 and count % 100 != 11:
                return forms[0]
            few = 2 <= count % 10 <= 4 and not 12 <= count % 100 <= 14
            return forms[1 if few else 2]
        case _:
            return forms[0 if count == 1 else 1]


def _read(path: Path) -> _Language:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return _Language(
        code=data["language"],
        plural=data["plural"],
        join=data["join"],
        units=(
            (3600, tuple(data["hours"])),
            (60, tuple(data["minutes"])),
            (1, tuple(data["seconds"])),
        ),
        replies=data["replies"],
    )


def _from_home_assistant(code: str, english: _Language) -> _Language:
    lists = (home_assistant_intents.get_intents(code) or {}).get("lists", {})
    replies = dict(english.replies)
    for kind, (name, state) in _THEIR_STATES.items():
        for value in lists.get(name, {}).get("values", ()):
            if isinstance(value, dict) and value.get("out") == state:
                word = _first_form(str(value["in"]))
                if word:
                    replies[kind] = f"{{name}}: {word}"
                break
    return _Language(code, english.plural, english.join, english.units, replies)


def _first_form(template: str) -> str:
    """The first way to say a template; nothing if it cannot be written out."""
    if not is_template(template):
        return template
    try:
        return phrases(parse_sentence(template).expression, {})[0].strip()
    except TemplateError, ParseError:
        return ""
