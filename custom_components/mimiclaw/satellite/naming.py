"""Find the channels a text means."""

from __future__ import annotations

from collections.abc import Iterable
import re
import unicodedata

from .model import Channel

_GAPS = re.compile(r"[\s_\-]+")
_PIN = re.compile(r"(?:gpio|pin|io)? ?(\d{1,2})")


def fold(text: str) -> str:
    """Return the text without case, accents and kinds of gaps."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    folded = unicodedata.normalize("NFKC", bare).casefold()
    return _GAPS.sub(" ", folded).strip()


def resolve(
    channels: Iterable[Channel],
    text: str,
    language: str | None = None,
    area: str | None = None,
) -> list[Channel]:
    """Return the channels that `text` means: none, one, or several alike.

    A key, an id, a name or an alias counts, with or without "<satellite>/" before it;
    failing those, a pin as "gpio5", "pin 5" or "5". Nothing is guessed: a text that is
    nobody's name means no channel, never all of them. `language` and `area` only choose
    among several; a name that just one channel has is found wherever it is.
    """
    known = list(channels)
    if exact := [channel for channel in known if channel.key == text]:
        return exact
    head, slash, tail = text.rpartition("/")
    if slash and (scoped := [c for c in known if _is_satellite(c, head)]):
        known, text = scoped, tail
    wanted = fold(text)
    if not wanted:
        return []
    found = [c for c in known if wanted == fold(c.id)]
    found = found or [c for c in known if wanted in _names(c, language)]
    found = found or [c for c in known if wanted in _names(c, None)]
    if not found and (match := _PIN.fullmatch(wanted)):
        found = [c for c in known if c.pin == int(match[1])]
    if len(found) > 1 and area is not None:
        here = fold(area)
        return [c for c in found if c.area and fold(c.area) == here] or found
    return found


def _is_satellite(channel: Channel, text: str) -> bool:
    return text == channel.satellite or fold(text) == fold(channel.satellite_name)


def _names(channel: Channel, language: str | None) -> set[str]:
    """Return the folded names in one language and its base, or in all."""
    names = {fold(channel.name)}
    for code, listed in channel.names.items():
        if language is None or not code or _base(code) == _base(language):
            names.update(map(fold, listed))
    return names


def _base(language: str) -> str:
    return re.split(r"[-_]", language, maxsplit=1)[0].lower()
