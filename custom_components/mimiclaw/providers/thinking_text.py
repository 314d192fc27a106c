"""Thoughts that a local model prints in front of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .protocol import TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN: Final = ("<think>", "<thinking>")
_CLOSE: Final = ("</think>", "</thinking>")


class ThinkingText:
    """Takes `<think>…</think>` at the beginning of an answer out of what is spoken.

    Only there: further on the tag is text like any other.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._close: str | None = None
        self._state = self._begin

    def feed(self, text: str) -> Iterator[TextDelta | ThinkingDelta]:
        """Yield what is certain after this piece."""
        self._pending += text
        yield from self._state()

    def rest(self) -> Iterator[TextDelta | ThinkingDelta]:
        """Yield what was held back, at the end of the stream."""
        pending, self._pending = self._pending, ""
        if pending and self._close is not None:
            yield ThinkingDelta(pending)
        elif pending:
            yield TextDelta(pending)

    def _begin(self) -> Iterator[TextDelta | ThinkingDelta]:
        start = self._pending.lstrip()
        for tag, close in zip(_OPEN, _CLOSE, strict=True):
            if start.startswith(tag):
                self._pending = start[len(tag) :]
                self._close = close
                self._state = self._inside
                yield from self._inside()
                return
        if any(tag.startswith(start) for tag in _OPEN):
            return
        self._state = self._spoken
        yield from self._spoken()

    def _inside(self) -> Iterator[TextDelta | ThinkingDelta]:
        close = self._close or ""
        thought, found, spoken = self._pending.partition(close)
        if found:
            self._close = None
            self._pending = spoken
            self._state = self._after
            if thought:
                yield ThinkingDelta(thought)
            yield from self._after()
            return
        # The end may be the beginning of the tag.
        held = next(
            (n for n in range(len(close) - 1, 0, -1) if thought.endswith(close[:n])), 0
        )
        self._pending = thought[len(thought) - held :]
        if thought := thought[: len(thought) - held]:
            yield ThinkingDelta(thought)

    def _after(self) -> Iterator[TextDelta | ThinkingDelta]:
        self._pending = self._pending.lstrip()
        if self._pending:
            self._state = self._spoken
            yield from self._spoken()

    def _spoken(self) -> Iterator[TextDelta | ThinkingDelta]:
        pending, self._pending = self._pending, ""
        if pending:
            yield TextDelta(pending)
