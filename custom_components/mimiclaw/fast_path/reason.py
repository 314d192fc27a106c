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


def is_reason(chart: Chart, start: int, end: int, *, after: bool = False) -> bool:
    """Whether the tokens from `start` to `end` are certainly no more than a reason.

    `after` an order any statement is one. Before it, "the command is, open the gate"
    is a statement too, so there it takes a word that reasons are made of.
    """
    if not 0 < end - start <= _MAX_CHARACTERS:
        return False
    words = 0
    signed = numbered = stated = False
    for index in range(start, end):
        token = chart.tokens[index]
        spans = chart.spans[index]
        if token in (QUESTION, FOREIGN) or chart.names[index]:
            return False
        signs = {place for place, _ in spans.get("{reason_sign}", ())}
        # ไหม้ is burnt, the ไหม in it would ask.
        longest = max(signs, default=index)
        if any(longest < p <= end for p, _ in spans.get("{reason_never}", ())):
            return False
        # 十分 is ten minutes, and enough.
        if any(place not in signs for place, _ in spans.get("{duration}", ())):
            return False
        signed = signed or any(place <= end for place in signs)
        # "The dog is out" states something; "is it" would ask, an order has no such verb.
        if index > start and _within(chart, "{reason_verb}", index, end):
            stated = True
        numbered = numbered or "{number}" in spans
        words += not unspaced(token)
    opens = chart.spans[start]
    because = "{reason_link}" in opens or _ends_with_because(chart, start, end)
    statement = after and (stated or "{reason_open}" in opens)
    # "It's 7" may be the hour.
    signed = signed or ((because or statement) and not numbered)
    return signed and words <= _MAX_WORDS


def _within(chart: Chart, symbol: str, index: int, end: int) -> bool:
    return any(place <= end for place, _ in chart.spans[index].get(symbol, ()))


def _ends_with_because(chart: Chart, start: int, end: int) -> bool:
    return any(
        place == end
        for index in range(start, end)
        for place, _ in chart.spans[index].get("{reason_end}", ())
    )
