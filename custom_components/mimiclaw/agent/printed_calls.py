"""Tool calls that a model prints as text: never spoken, and made if they can be.

Small models write `<tool_call>{…}</tool_call>` or bare JSON where an API call was meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
import json
import re
from typing import Any, Final

from ..providers.protocol import ToolCall

#: Wherever one of these begins, what follows is for no ears.
_TAGS: Final = ("<tool_call", "<function", "<|tool_call", "[TOOL_CALLS]", "<tools>")
#: Only at the very beginning: later on it may be what the person asked for.
_OPENERS: Final = ("{", "[{", "```json", "```tool")
_DECODER: Final = json.JSONDecoder()


class PrintedCalls:
    """Takes an answer's text in pieces; lets through what may be spoken."""

    def __init__(self, tools: Collection[str]) -> None:
        """Take the names of the tools there are."""
        self._tools = tools
        self._held = ""
        self._began = False
        self._caught = False

    def feed(self, text: str) -> str:
        """Take the next piece; return what is certainly no call."""
        self._held += text
        if self._caught:
            return ""
        if not self._began and self._may_begin():
            return ""
        if self._held.strip():
            self._began = True
        place = min(
            (at for tag in _TAGS if (at := self._held.find(tag)) >= 0), default=-1
        )
        if place >= 0:
            self._caught = True
        else:
            place = len(self._held) - self._open_tag()
        spoken, self._held = self._held[:place], self._held[place:]
        return spoken

    def end(self) -> tuple[str, tuple[ToolCall, ...]]:
        """Return what is left to speak, and the calls that were printed."""
        held, self._held = self._held, ""
        if not held.strip():
            return held, ()
        calls = tuple(self._calls(held))
        tagged = any(tag in held for tag in _TAGS)
        return ("", calls) if calls or tagged else (held, ())

    def _may_begin(self) -> bool:
        """Tell whether the text may still turn out to be nothing but a call."""
        start = self._held.lstrip()
        return any(start.startswith(one) or one.startswith(start) for one in _OPENERS)

    def _open_tag(self) -> int:
        """Return how many characters at the end may be the beginning of a tag."""
        return max(
            (
                size
                for tag in _TAGS
                for size in range(1, len(tag))
                if self._held.endswith(tag[:size])
            ),
            default=0,
        )

    def _calls(self, text: str) -> Iterable[ToolCall]:
        for number, found in enumerate(_objects(text)):
            name = found.get("name") or found.get("tool") or found.get("function")
            given = next(
                (
                    found[key]
                    for key in ("arguments", "parameters", "input", "args")
                    if key in found
                ),
                None,
            )
            if isinstance(given, str):
                try:
                    given = json.loads(given)
                except ValueError:
                    continue
            if name in self._tools and isinstance(given, dict):
                yield ToolCall(f"printed_{number}", str(name), given)


def _objects(text: str) -> Iterable[Mapping[str, Any]]:
    """Yield every JSON object that stands in the text, in order."""
    place = 0
    while (match := re.compile(r"\{").search(text, place)) is not None:
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except ValueError:
            place = match.end()
            continue
        if isinstance(value, dict):
            yield value
