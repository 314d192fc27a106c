"""Tool calls that a model prints as text: never spoken, and made if they can be.

Small models write `<tool_call>{…}</tool_call>` or bare JSON where an API call was meant.
What only repeats something the model was given (a page, a search result, a message) is
a quotation: it is spoken, and nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
import json
import re
from typing import Any, Final

from ..providers.protocol import ToolCall

#: Wherever one of these begins, what follows is for no ears.
_TAGS: Final = ("<tool_call", "<function", "<|tool_call", "[TOOL_CALLS]", "<tools>")
#: Only at the very beginning: later on it may be what the person asked for.
_OPENERS: Final = ("{", "[{", "```json", "```tool")
_DECODER: Final = json.JSONDecoder()
_BRACE: Final = re.compile(r"\{")
#: Everything that a quotation may change: spaces, quotes, escapes, Markdown's marks.
_MARKS: Final = re.compile(r"[\W_]+")
#: Braces that are tried for the beginning of a call.
_TRIED: Final = 64


class PrintedCalls:
    """Takes an answer's text in pieces; lets through what may be spoken."""

    def __init__(
        self, tools: Collection[str], given: Callable[[], Iterable[str]] = tuple
    ) -> None:
        """Take the names of the tools there are; `given` returns what the model read."""
        self._tools = tools
        self._given = given
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
        found = list(self._calls(held))
        if found:
            read = _bare("\n".join(self._given()))
            if all(_bare(printed) in read for _, printed in found):
                return held, ()
            found = [one for one in found if _bare(one[1]) not in read]
        tagged = any(tag in held for tag in _TAGS)
        if found or tagged:
            return "", tuple(call for call, _ in found)
        return held, ()

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

    def _calls(self, text: str) -> Iterable[tuple[ToolCall, str]]:
        """Yield each call that can be made, with the text it was printed as."""
        for number, (found, printed) in enumerate(_objects(text)):
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
                except ValueError, RecursionError:
                    continue
            if name in self._tools and isinstance(given, dict):
                yield ToolCall(f"printed_{number}", str(name), given), printed


def _bare(text: str) -> str:
    """Return letters and digits alone."""
    return _MARKS.sub("", text).casefold()


def _objects(text: str) -> Iterable[tuple[Mapping[str, Any], str]]:
    """Yield the JSON objects that stand in the text with their own text, in order."""
    place = 0
    for _ in range(_TRIED):
        if (match := _BRACE.search(text, place)) is None:
            return
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except ValueError, RecursionError:
            place = match.end()
            continue
        if isinstance(value, dict):
            yield value, text[match.start() : place]
