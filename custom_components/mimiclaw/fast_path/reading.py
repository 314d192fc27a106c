"""One sentence read in one language: clauses, then commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .channels import RELAYS, ChannelNames
from .chart import ASK, Chart, Taken
from .command import Action, Command, Match
from .grammar import LanguageGrammar, Meaning
from .normalise import PAUSE, QUESTION, SPACE, STOP
from .reason import is_reason

#: More commands than this in one breath is a transcript, not an order.
MAX_COMMANDS: Final = 8
#: A sentence with more readings than this is not certain in any of them.
_MAX_READINGS: Final = 64

_BREAKS: Final = frozenset((PAUSE, STOP, SPACE, QUESTION))
#: What a reason begins with when no pause was heard before it.
_UNPAUSED: Final = ("{reason_link}", "{reason_start}")
_BEFORE: Final = ("{lead}", "{ask}")
_AFTER: Final = ("{tail}", "{ask}", "{tail_if_asked}")
_ALL: Final[dict[str, Action]] = {"AllOn": "all_on", "AllOff": "all_off"}


#: One command as spoken: where it ends, what it means, with what, and whether it was
#: put as a polite question.
type _Clause = tuple[int, Meaning, Taken, bool]


class Reading:
    """Finds the commands a sentence certainly stands for."""

    def __init__(
        self,
        chart: Chart,
        grammar: LanguageGrammar,
        channels: Sequence[ChannelNames],
        area: str | None,
    ) -> None:
        self._chart = chart
        self._grammar = grammar
        self._channels = channels
        self._area = area.casefold() if area else None
        self._count = len(chart.tokens)
        self._rest: dict[int, list[tuple[tuple[Command, ...], ...]]] = {}
        self._open: set[int] = set()
        self._first: list[int] = []

    def match(self) -> Match | None:
        """The one thing the sentence can mean, or None."""
        found: dict[tuple[Command, ...], int] = {}
        self._first = self._starts()
        for start in self._first:
            for clauses in self._from(start):
                commands = _together(clauses)
                if commands is not None:
                    known = found.get(commands, MAX_COMMANDS)
                    found[commands] = min(known, len(clauses))
        if not found:
            return None
        # "Run the pump and the fan for a minute": one verb for both before two of them.
        fewest = min(found.values())
        likely = [commands for commands, parts in found.items() if parts == fewest]
        if len(likely) != 1:
            return None
        (commands,) = likely
        action: Action = commands[0].action if len(commands) == 1 else "multi"
        return Match(action, commands, self._grammar.language)

    def _starts(self) -> list[int]:
        """Where the first command may begin: at once, or after a reason."""
        starts = [0]
        chart = self._chart
        for index in range(1, chart.last + 1):
            ended = chart.tokens[index] in (PAUSE, STOP, SPACE)
            if ended and is_reason(chart, 0, index):
                starts.append(index + 1)
            elif "{ask}" in chart.spans[index] and is_reason(chart, 0, index):
                starts.append(index)
            for end, _ in chart.spans[index].get("{reason_end}", ()):
                if end < self._count and is_reason(chart, 0, end):
                    starts.append(end)
            for end, _ in chart.spans[index].get("{reason_so}", ()):
                if end < self._count and is_reason(chart, 0, index):
                    starts.append(end)
        return starts

    def _from(self, start: int) -> list[tuple[tuple[Command, ...], ...]]:
        """Every way to read the tokens from `start` to the end as commands."""
        known = self._rest.get(start)
        if known is not None:
            return known
        readings: list[tuple[tuple[Command, ...], ...]] = []
        if start in self._open or start >= self._count:
            return readings
        self._open.add(start)
        for clause in self._clauses(start):
            end = clause[0]
            after, question = self._breaks(end)
            if start in self._first and clause[1].question == "following":
                continue
            commands = self._commands(clause, question)
            if commands is None:
                continue
            if self._is_over(end, after, clause[3]):
                readings.append((commands,))
                continue
            if after > self._chart.last:
                continue  # no object is left for another command
            for following in self._next(after):
                for rest in self._from(following):
                    if len(rest) < MAX_COMMANDS and len(readings) < _MAX_READINGS:
                        readings.append((commands, *rest))
        self._open.discard(start)
        self._rest[start] = readings
        return readings

    def _breaks(self, index: int) -> tuple[int, bool]:
        """Past the marks at `index`, and whether a question mark was among them."""
        question = False
        tokens = self._chart.tokens
        while index < self._count and tokens[index] in _BREAKS:
            question = question or tokens[index] == QUESTION
            index += 1
        return index, question

    def _is_over(self, end: int, after: int, asked: bool) -> bool:
        """Whether nothing but thanks, or a reason, follows."""
        if after == self._count:
            return True
        if after > end:
            places = self._polite(after, asked, _AFTER)
            if any(self._breaks(place)[0] == self._count for place, _ in places):
                return True
        return self._is_reason_after(end, after)

    def _is_reason_after(self, end: int, after: int) -> bool:
        chart = self._chart
        if after == end and chart.spans[after].keys().isdisjoint(_UNPAUSED):
            return False
        last = self._count
        while last > after and chart.tokens[last - 1] in (PAUSE, STOP, SPACE):
            last -= 1
        return is_reason(chart, after, last, after=True)

    def _next(self, after: int) -> set[int]:
        """Where the next command may begin: after a linking word, or at once.

        Transcripts have no commas.
        """
        places = {after}
        spans = self._chart.spans
        for place in self._skipped(after):
            if place < self._count:
                for then, _ in spans[place].get("{then}", ()):
                    places.add(self._breaks(then)[0])
        return places

    def _skipped(self, start: int) -> set[int]:
        places, pending = {start}, [start]
        while pending:
            place = pending.pop()
            if place < self._count:
                for end in self._chart.skips[place]:
                    if end not in places:
                        places.add(end)
                        pending.append(end)
        return places

    def _clauses(self, start: int) -> list[_Clause]:
        """Every command that begins at `start`, with polite words around it."""
        found: dict[_Clause, None] = {}
        run, sentences = self._chart.run, self._grammar.sentences
        for place, asked in self._polite(start, False, _BEFORE):
            if place >= self._count:
                continue
            for end, meaning, taken in run(sentences, place):
                asking = asked or any(value == ASK for _, value in taken)
                for after, asks in self._polite(end, asking, _AFTER):
                    found[after, meaning, taken, asks] = None
        return list(found)

    def _polite(
        self, start: int, asked: bool, symbols: tuple[str, ...]
    ) -> set[tuple[int, bool]]:
        """Places reached from `start` over polite words.

        With each, whether a request was made as a question on the way.
        """
        chart = self._chart
        places = {(start, asked)}
        if start >= self._count or not (
            chart.skips[start] or any(s in chart.spans[start] for s in symbols)
        ):
            return places
        pending = [(start, asked)]
        while pending:
            place, asked = pending.pop()
            if place >= self._count:
                continue
            further = [(end, asked) for end in chart.skips[place]]
            if place > start and chart.tokens[place] == STOP and symbols is _BEFORE:
                further.append((place + 1, asked))  # "Hey Mimi! Turn on …"
            spans = chart.spans[place]
            for symbol in symbols:
                if symbol == "{tail_if_asked}" and not asked:
                    continue
                asks = asked or symbol == "{ask}"
                further += [(end, asks) for end, _ in spans.get(symbol, ())]
            for reached in further:
                if reached not in places:
                    places.add(reached)
                    pending.append(reached)
        return places

    def _commands(self, clause: _Clause, question: bool) -> tuple[Command, ...] | None:
        """A clause's commands, or None if it cannot be carried out as it was said."""
        _, meaning, taken, asked = clause
        forbidden = meaning.question in ("forbidden", "following")
        if question and forbidden and not asked:
            return None
        if not question and meaning.question == "required":
            return None
        if meaning.question == "asked" and not asked:
            return None
        every = _ALL.get(meaning.intent)
        if every is not None:
            return (Command(every, None),)
        duration: float | None = None
        names: tuple[tuple[int, ...], ...] = ()
        for symbol, value in taken:
            if symbol in ("{duration}", "{short_duration}"):
                if duration is not None:
                    return None
                duration = value
            elif symbol == "{name}":
                if names:
                    return None
                names = value
        commands = []
        for candidates in names:
            command = self._command(meaning.intent, candidates, duration)
            if command is None:
                return None
            commands.append(command)
        return tuple(commands) or None

    def _command(
        self, intent: str, candidates: tuple[int, ...], duration: float | None
    ) -> Command | None:
        channel = self._one(intent, candidates)
        if channel is None:
            return None
        if intent.startswith("Query"):
            return Command("query", channel.key) if duration is None else None
        if intent in ("TurnOn", "Open"):
            if duration is not None or channel.momentary:
                return Command("pulse", channel.key, duration)
            return Command("turn_on", channel.key)
        if duration is not None:
            return None
        if intent == "Toggle":
            return Command("toggle", channel.key)
        if channel.momentary:
            return Command("pulse", channel.key) if intent == "Close" else None
        return Command("turn_off", channel.key)

    def _one(self, intent: str, candidates: tuple[int, ...]) -> ChannelNames | None:
        """The channel that is meant: the only one that can do it, or the one here."""
        able = [
            c for c in map(self._channels.__getitem__, candidates) if _can(c, intent)
        ]
        if len(able) > 1 and self._area is not None:
            able = [c for c in able if c.area and c.area.casefold() == self._area]
        return able[0] if len(able) == 1 else None


def _can(channel: ChannelNames, intent: str) -> bool:
    match intent:
        case "Query":
            return True
        case "QueryValue":
            return channel.kind == "analog"
        case "QueryState":
            return channel.kind != "analog"
        case _:
            return channel.kind in RELAYS


def _together(clauses: tuple[tuple[Command, ...], ...]) -> tuple[Command, ...] | None:
    """All clauses' commands, or None if they do not go together."""
    if len(clauses) == 1 and len(clauses[0]) == 1:
        return clauses[0]
    commands: list[Command] = []
    seen: dict[str | None, Command] = {}
    for command in (command for clause in clauses for command in clause):
        known = seen.get(command.channel)
        if known is not None:
            # Said twice is said once, unless doing it twice would differ.
            if known == command and command.action not in ("toggle", "pulse"):
                continue
            return None
        seen[command.channel] = command
        commands.append(command)
    if len(commands) > MAX_COMMANDS or (None in seen and len(commands) > 1):
        return None
    queries = sum(command.action == "query" for command in commands)
    return tuple(commands) if queries in (0, len(commands)) else None
