"""Reasons: "turn on the heater, it's freezing in here".

What stands before or after a command is let pass only if it says why: it holds a word
that reasons are made of, and none that could turn the command round, put it off, report
it or take it back.
"""

from __future__ import annotations

from typing import Final

from .chart import Chart
from .normalise import FOREIGN, QUESTION, unspaced

#: Longer remarks are conversation, and belong to the agent.
_MAX_WORDS: Final = 12
_MAX_CHARACTERS: Final = 32
#: What makes a reason of whatever follows, as long as nothing in it may not be there.
_OPENINGS: Final = ("{reason_link}", "{reason_open}")


def is_reason(chart: Chart, start: int, end: int) -> bool:
    """Whether the tokens from `start` to `end` are certainly no more than a reason."""
    if not 0 < end - start <= _MAX_CHARACTERS:
        return False
    words = 0
    signed = numbered = False
    for index in range(start, end):
        token = chart.tokens[index]
        spans = chart.spans[index]
        if token in (QUESTION, FOREIGN) or chart.names[index]:
            return False
        if _within(chart, "{reason_never}", index, end):
            return False
        signs = {place for place, _ in spans.get("{reason_sign}", ())}
        # 十分 is ten minutes, and enough.
        if any(place not in signs for place, _ in spans.get("{duration}", ())):
            return False
        signed = signed or any(place <= end for place in signs)
        numbered = numbered or "{number}" in spans
        words += not unspaced(token)
    # "It's like a sauna in here", or "because" before or, in Japanese, after it; but
    # "it's 7" may be the hour.
    opened = not chart.spans[start].keys().isdisjoint(_OPENINGS)
    if not numbered and (opened or _ends_with_because(chart, start, end)):
        signed = True
    return signed and words <= _MAX_WORDS


def _within(chart: Chart, symbol: str, index: int, end: int) -> bool:
    return any(place <= end for place, _ in chart.spans[index].get(symbol, ()))


def _ends_with_because(chart: Chart, start: int, end: int) -> bool:
    return any(
        place == end
        for index in range(start, end)
        for place, _ in chart.spans[index].get("{reason_end}", ())
    )
