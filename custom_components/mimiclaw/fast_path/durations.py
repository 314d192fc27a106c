"""How long a spoken length of time is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

#: The lists whose values are lengths in seconds.
UNITS = frozenset(("{unit}", "{one_unit}"))


def duration_s(
    slots: Mapping[str, float], taken: Sequence[tuple[str, Any]]
) -> float | None:
    """The seconds that numbers and units say together, or None if they do not fit.

    Units fall ("1 hour 30 minutes"); a number after the last one counts in the next
    smaller one ("1 h 30"). Slots: `times` the whole, `plus` so many of the last unit
    ("and a half"), `swapped` for a unit before its number.
    """
    if slots.get("swapped"):
        if [symbol for symbol, _ in taken] != ["{unit}", "{number}"]:
            return None
        return float(taken[0][1] * taken[1][1])
    total = 0.0
    number: float | None = None
    smallest = math.inf
    for symbol, value in taken:
        if symbol == "{number}":
            minor = smallest < math.inf
            if number is not None or (minor and value % 1):
                return None
            number = value
        elif symbol in UNITS:
            if value >= smallest:
                return None
            total += (1.0 if number is None else number) * value
            smallest = value
            number = None
    if smallest == math.inf:
        return None
    total *= slots.get("times", 1.0)
    total += slots.get("plus", 0.0) * smallest
    if number is not None:
        total += number * smallest / 60
    return total if total > 0 else None
