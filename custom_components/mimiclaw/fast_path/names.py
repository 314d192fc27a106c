"""Which channels, and which areas, a stretch of tokens may name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from .normalise import MARKS, SPACE, fold

_DIGITS = frozenset("0123456789")
_NONE: list[tuple[int, tuple[int, ...]]] = []


class NameIndex:
    """Names as joined tokens, sorted: a look-up grows with the logarithm of their number.

    Joined, so "water pump", "Water-Pump" and "waterpump" are one name. `endings` are a
    language's case endings; a word's longest ending is dropped on both sides where at
    least three letters stay.
    """

    def __init__(self, endings: Sequence[str] = ()) -> None:
        self._endings = tuple(sorted(map(fold, endings), key=len, reverse=True))
        self._values: dict[str, tuple[int, ...]] = {}
        self._sorted: list[str] = []
        # What names begin with, one and two characters: most words end the search here.
        self._heads: set[str] = set()

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, tokens: Iterable[str], value: int) -> None:
        """Add a name. Call `seal` after the last one."""
        key = "".join(self._key(t) for t in tokens if t not in MARKS)
        if not key:
            return
        values = self._values.get(key, ())
        if value not in values:
            self._values[key] = (*values, value)

    def seal(self) -> None:
        """Make what was added findable."""
        self._sorted = sorted(self._values)
        self._heads = {key[:n] for key in self._values for n in (1, 2)}

    def starting_at(
        self, tokens: Sequence[str], start: int
    ) -> list[tuple[int, tuple[int, ...]]]:
        """Names that begin at `start`: end and whose name it is, shortest first."""
        head = tokens[start]
        if (f"#{head[0]}" if head[0] in _DIGITS else head[:2]) not in self._heads:
            return _NONE
        found: list[tuple[int, tuple[int, ...]]] = []
        keys = self._sorted
        joined = ""
        for index in range(start, len(tokens)):
            token = tokens[index]
            if token in MARKS:
                if token == SPACE and joined:
                    continue
                break
            joined += self._key(token)
            place = bisect_left(keys, joined)
            if place == len(keys):
                break
            key = keys[place]
            if key == joined:
                found.append((index + 1, self._values[key]))
            elif not key.startswith(joined):
                break
        return found

    def _key(self, token: str) -> str:
        if token[0] in _DIGITS:
            return f"#{token}"  # "relay 1" and 2 must never make "relay 12"
        for ending in self._endings:
            if token.endswith(ending) and len(token) - len(ending) >= 3:
                return token[: -len(ending)]
        return token
