"""A sentence laid out: which lists' values stand where, and automata run over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .automaton import START, Automaton
from .durations import UNITS, duration_s
from .normalise import MARKS, PAUSE, SPACE, unspaced

if TYPE_CHECKING:
    from .grammar import LanguageGrammar

type Span = tuple[int, Any]
#: What a template took in on the way: slot names with values, in spoken order.
type Taken = tuple[tuple[str, Any], ...]

#: From here on, "for ten hours" and "for ten o'clock" sound the same in some languages.
_HOUR = 3600

#: A list value that stands for this makes the sentence a request put as a question.
ASK = "ask"
#: More names in a row than this is a transcript, not an order.
MAX_NAMES = 8

_KEPT = UNITS | frozenset(
    ("{name}", "{area}", "{number}", "{duration}", "{short_duration}")
)
_NO_SPANS: list[Span] = []
_PAUSES = frozenset((PAUSE, SPACE))
_DIGITS = frozenset("0123456789")


class Chart:
    """The spans of one sentence in one language.

    `known` tells whether anything in it can be acted on at all; if not, nothing more is
    worked out.
    """

    __slots__ = ("_grammar", "known", "last", "names", "skips", "spans", "tokens")

    def __init__(self, grammar: LanguageGrammar, tokens: Sequence[str]) -> None:
        self._grammar = grammar
        self.tokens = tokens
        count = len(tokens)
        starting_at = grammar.names.starting_at
        self.names = [starting_at(tokens, index) for index in range(count)]
        #: The last token at which a command's object begins; -1 if none does.
        self.last = count - 1
        everything = grammar.everything.starting_at
        while self.last >= 0 and not (
            self.names[self.last] or everything(tokens, self.last)
        ):
            self.last -= 1
        self.known = self.last >= 0
        self.spans: list[dict[str, list[Span]]] = []
        self.skips: list[list[int]] = []
        if self.known:
            self._lay_out()

    def _lay_out(self) -> None:
        grammar, tokens = self._grammar, self.tokens
        starting_at = grammar.lexicon.starting_at
        first = grammar.durations.edges[START]
        timed: list[int] = []
        for index, token in enumerate(tokens):
            at: dict[str, list[Span]] = {}
            skips: list[int] = [index + 1] if token in _PAUSES else []
            for symbol, value, end in starting_at(tokens, index):
                if not symbol:
                    if self._is_word(index, end):
                        skips.append(end)
                elif symbol in at:
                    at[symbol].append((end, value))
                else:
                    at[symbol] = [(end, value)]
            if token[0] in _DIGITS:
                number = float(token.replace(",", "."))
                at.setdefault("{number}", []).append((index + 1, number))
            if token in first or (at and not first.keys().isdisjoint(at)):
                timed.append(index)
            names = self.names[index]
            if names:
                at["{name}"] = [(end, (found,)) for end, found in names]
            self.spans.append(at)
            self.skips.append(skips)
        if len(grammar.areas):
            self._place_areas()
        for index in range(self.last - 1, -1, -1):
            if "{name}" in self.spans[index]:
                self._place_lists(index)
        for index in timed:
            self._place_durations(index)

    def _is_word(self, start: int, end: int) -> bool:
        """Whether tokens are a whole word: of letters, only spaced ones may be left out."""
        if not self._grammar.tokeniser.characters:
            return True
        tokens = self.tokens
        return (start == 0 or tokens[start - 1] in MARKS) and (
            end == len(tokens) or tokens[end] in MARKS
        )

    def _place_areas(self) -> None:
        """Names with the area they are in, beside the plain ones."""
        grammar, tokens = self._grammar, self.tokens
        areas = False
        for index, at in enumerate(self.spans):
            found = grammar.areas.starting_at(tokens, index)
            if found:
                areas = True
                at["{area}"] = list(found)
        if not areas:
            return
        qualified: list[tuple[int, str, Span]] = []
        for index in range(len(tokens)):
            for end, _, taken in self.run(grammar.places, index):
                values = dict(taken)
                area = values.get("{area}", ())
                if "{name}" in values:
                    (channels,) = values["{name}"]
                    there = tuple(c for c in channels if c in area)
                    if there:
                        qualified.append((index, "{name}", (end, (there,))))
                elif grammar.relays <= set(area):  # everything here is everything
                    qualified.append((index, "{all}", (end, "")))
        for index, symbol, span in qualified:
            self.spans[index].setdefault(symbol, []).append(span)

    def _place_lists(self, index: int) -> None:
        """Lists of names from here on, beside the single ones."""
        single = self.spans[index]["{name}"]
        spans = list(single)
        for end, value in single:
            after = self._skip(self._joined(end))
            for place in after:
                # Names further on are laid out already: it goes from right to left.
                spans += [
                    (further, value + rest)
                    for further, rest in self.spans[place].get("{name}", _NO_SPANS)
                    if len(rest) < MAX_NAMES
                ]
        self.spans[index]["{name}"] = spans

    def _joined(self, end: int) -> set[int]:
        """Where the next name of a list may begin, after a pause or an "and"."""
        places: set[int] = set()
        for place in self._skip({end}):
            if place < len(self.tokens):
                if unspaced(self.tokens[place]):
                    places.add(place)
                if self.tokens[place] in (PAUSE, SPACE):
                    places.add(place + 1)
                places.update(e for e, _ in self.spans[place].get("{join}", _NO_SPANS))
        for place in list(self._skip(places)):
            if place < len(self.tokens):
                places.update(e for e, _ in self.spans[place].get("{join}", _NO_SPANS))
        return places

    def _skip(self, places: set[int]) -> set[int]:
        """The places, and all that skipping leads to from them."""
        reached = {place for place in places if place < len(self.tokens)}
        pending = list(reached)
        while pending:
            for end in self.skips[pending.pop()]:
                if end < len(self.tokens) and end not in reached:
                    reached.add(end)
                    pending.append(end)
        return reached

    def _place_durations(self, index: int) -> None:
        found: dict[int, set[float]] = {}
        for end, payload, taken in self.run(self._grammar.durations, index):
            seconds = duration_s(payload, taken)
            if seconds is not None:
                found.setdefault(end, set()).add(seconds)
        if found:
            spans = [
                (end, next(iter(values)))
                for end, values in found.items()
                if len(values) == 1
            ]
            self.spans[index]["{duration}"] = spans
            self.spans[index]["{short_duration}"] = [
                span for span in spans if span[1] < _HOUR
            ]

    def run[Payload](
        self, automaton: Automaton[Payload], start: int
    ) -> list[tuple[int, Payload, Taken]]:
        """Every way templates match from `start`: end, payload, what was taken in."""
        tokens, spans, skips = self.tokens, self.spans, self.skips
        edges, accepts = automaton.edges, automaton.accepts
        count = len(tokens)
        found: list[tuple[int, Payload, Taken]] = []
        # Where the templates stand at each token, with what they took in so far.
        at: dict[int, list[tuple[int, Taken]]] = {start: [(START, ())]}
        while at:
            index = min(at) if len(at) > 1 else next(iter(at))
            here = at.pop(index)
            for place in here if len(here) < 2 else dict.fromkeys(here):
                state, took = place
                if accepts[state]:
                    found += [(index, payload, took) for payload in accepts[state]]
                if index == count:
                    continue
                out = edges[state]
                if out:
                    reached = out.get(tokens[index])
                    if reached is not None:
                        at.setdefault(index + 1, []).append((reached, took))
                    for symbol, places in spans[index].items():
                        reached = out.get(symbol)
                        if reached is None:
                            continue
                        for end, value in places:
                            taking = took
                            if symbol in _KEPT or value == ASK:
                                taking = (*took, (symbol, value))
                            at.setdefault(end, []).append((reached, taking))
                if state != START:
                    for end in skips[index]:
                        at.setdefault(end, []).append(place)
        return found
