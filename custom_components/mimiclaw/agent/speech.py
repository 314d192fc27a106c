"""Text for a voice: Markdown's marks taken out while the words still arrive.

A speech engine reads "asterisk asterisk" otherwise (home-assistant/core 143867).
"""

from __future__ import annotations

import re
from typing import Final

#: A link that is still open after this many characters is no link.
_LINK_CHARS: Final = 400

_LINE_MARKS: Final = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)+"
)
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:```|~~~).*$")
_RULE: Final = re.compile(
    r"^[ \t]{0,3}(?:[-*_][ \t]*){3,}$|^[ \t]*\|?(?:[ \t]*:?-{3,}:?[ \t]*\|?)+$"
)
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_BOLD: Final = re.compile(r"\*\*|__|~~|`+")
_STAR: Final = re.compile(r"(?<!\d)\*(?=\S)|(?<=\S)\*(?!\d)")
_UNDERSCORE: Final = re.compile(r"(?<!\w)_(?=\w)|(?<=\w)_(?!\w)")
_CELL: Final = re.compile(r"[ \t]*\|[ \t]*")
#: Where a piece of text may be let go: after a space, or a mark of a script without.
_BOUNDARY: Final = re.compile(r"[\s。！？，、；：]")


def _plain_line(line: str, *, at_start: bool) -> str:
    if at_start:
        if _FENCE.match(line) or _RULE.match(line):
            return ""
        line = _LINE_MARKS.sub("", line)
        if line.lstrip().startswith("|"):
            line = _CELL.sub(", ", line).strip(" ,")
    line = _LINK.sub(r"\1", line)
    line = _BOLD.sub("", line)
    return _UNDERSCORE.sub("", _STAR.sub("", line))


class SpeechText:
    """Takes text in pieces and gives it back, without marks, a little later."""

    def __init__(self) -> None:
        """Begin at the start of a line."""
        self._held = ""
        self._at_start = True

    def feed(self, text: str) -> str:
        """Take the next piece; return what can be spoken now."""
        self._held += text
        end = self._boundary()
        ready, self._held = self._held[:end], self._held[end:]
        return self._plain(ready)

    def flush(self) -> str:
        """Return what is left at the end."""
        ready, self._held = self._held, ""
        return self._plain(ready)

    def _boundary(self) -> int:
        """Return how much of the held text is whole: nothing open reaches past it."""
        open_link = self._held.rfind("[")
        limit = len(self._held)
        if open_link >= 0 and limit - open_link < _LINK_CHARS:
            rest = self._held[open_link:]
            if not re.match(r"\[[^\]]*\](?:\([^)]*\)|[^(])", rest):
                limit = open_link
        if self._at_start or "\n" in self._held[:limit]:
            # A line's first mark is only known with the word after it.
            line = self._held.rfind("\n", 0, limit) + 1
            start = self._held[line:limit].lstrip()
            # A table's row is only known with its end.
            short = len(start.split()) < 2 and not start.endswith("\n")
            if short or start.startswith("|"):
                limit = line
        ends = [match.end() for match in _BOUNDARY.finditer(self._held, 0, limit)]
        return ends[-1] if ends else 0

    def _plain(self, text: str) -> str:
        if not text:
            return ""
        lines = text.split("\n")
        plain = [_plain_line(lines[0], at_start=self._at_start)]
        plain += [_plain_line(line, at_start=True) for line in lines[1:]]
        self._at_start = not lines[-1].strip()
        return "\n".join(plain)


def plain(text: str) -> str:
    """Return a whole text without Markdown's marks."""
    speech = SpeechText()
    return speech.feed(text) + speech.flush()
