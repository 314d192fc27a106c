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


def is_reason(chart: Chart, start: int, end: int) -> bool:
    """Whether the tokens from `start` to `end` are certainly no more than a reason."""
    if not 0 < end - start <= _MAX_CHARACTERS:
        return False
    words = 0
    numbered = False
    # "Because" before it or, in Japanese, after it, is sign enough.
    signed = "{reason_link}" in chart.spans[start] or _ends_with_because(
        chart, start, end
    )
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
        numbered = numbered or token[0].isdigit()
        if not unspaced(token):
            words += 1
        if not signed and _within(chart, "{reason_sign}", index, end):
            signed = True
    # "It's like a sauna in here"; but "it's 7" may be the hour.
    opened = "{reason_open}" in chart.spans[start] and not numbered
    return (signed or opened) and words <= _MAX_WORDS


def _within(chart: Chart, symbol: str, index: int, end: int) -> bool:
    return any(place <= end for place, _ in chart.spans[index].get(symbol, ()))


def _ends_with_because(chart: Chart, start: int, end: int) -> bool:
    return any(
        place == end
        for index in range(start, end)
        for place, _ in chart.spans[index].get("{reason_end}", ())
    )
