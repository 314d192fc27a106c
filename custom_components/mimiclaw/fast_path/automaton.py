"""Sentence templates, parsed by hassil, as one automaton over tokens.

A place in a template is the token or list reference just read; optional parts and
alternatives are edges between places, not copies: nothing is expanded. The places are
then merged to a deterministic automaton, once, when the grammar is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hassil.expression import (
    Alternative,
    Expression,
    Group,
    ListReference,
    Permutation,
    RuleReference,
    Sentence,
    TextChunk,
)

from .errors import FastPathError
from .normalise import Tokeniser, unspaced

#: Rules that refer to one another without end stop here.
_MAX_DEPTH = 24
#: More items in a permutation mean more copies than a template is worth.
_MAX_PERMUTATION = 4

START = 0


class TemplateError(FastPathError):
    """A template that cannot be used, in words for its author."""


@dataclass(slots=True)
class Automaton[Payload]:
    """States by number, START first: where each symbol leads, what is read there."""

    edges: list[dict[str, int]]
    accepts: list[tuple[Payload, ...]]


@dataclass(slots=True)
class _Part:
    """A piece of a template: where it begins, where it ends, whether it may be left out."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empty: bool = True


class Builder[Payload]:
    """Adds templates, then gives the automaton.

    `lists` says which list names exist; a reference to another one matches nothing, so
    the alternatives around it still work. With `strict` it is a TemplateError instead.
    """

    def __init__(
        self,
        rules: Mapping[str, Sentence],
        lists: Callable[[str], bool],
        tokeniser: Tokeniser,
        *,
        strict: bool,
    ) -> None:
        self._rules = rules
        self._lists = lists
        self._tokeniser = tokeniser
        self._strict = strict
        self._symbols: list[str] = [""]
        self._follow: list[list[int]] = [[]]
        self._accepts: dict[int, Payload] = {}
        self._tokens: dict[str, list[str]] = {}
        self.glued_before: set[str] = set()
        self.glued_after: set[str] = set()

    def add(self, sentence: Sentence, payload: Payload, *, bare: bool = False) -> None:
        """Add one template.

        Raises TemplateError for an unknown rule or list and, unless `bare`, for a
        template that a channel's name alone would satisfy.
        """
        if not bare and self._fewest_words(sentence.expression, 0) == 0:
            raise TemplateError("the sentence has no word of its own")
        part = self._build(sentence.expression, 0)
        self._follow[START].extend(part.first)
        for state in part.last:
            self._accepts.setdefault(state, payload)

    def build(self) -> Automaton[Payload]:
        """The automaton of all templates added, made deterministic.

        Templates that begin alike share their states, so reading costs about one
        look-up a token however many templates there are.
        """
        start = (START,)
        numbers: dict[tuple[int, ...], int] = {start: START}
        sets = [start]
        edges: list[dict[str, int]] = []
        accepts: list[tuple[Payload, ...]] = []
        for states in sets:  # grows while it is walked
            following: dict[str, set[int]] = {}
            payloads: list[Payload] = []
            for state in states:
                for target in self._follow[state]:
                    following.setdefault(self._symbols[target], set()).add(target)
                payload = self._accepts.get(state)
                if payload is not None and payload not in payloads:
                    payloads.append(payload)
            out: dict[str, int] = {}
            for symbol, targets in following.items():
                reached = tuple(sorted(targets))
                number = numbers.get(reached)
                if number is None:
                    number = numbers[reached] = len(sets)
                    sets.append(reached)
                out[symbol] = number
            edges.append(out)
            accepts.append(tuple(payloads))
        return Automaton(edges, accepts)

    def _state(self, symbol: str) -> int:
        self._symbols.append(symbol)
        self._follow.append([])
        return len(self._symbols) - 1

    def _one(self, symbol: str) -> _Part:
        state = self._state(symbol)
        return _Part([state], [state], empty=False)

    def _join(self, left: _Part, right: _Part) -> _Part:
        if right.first:
            for state in left.last:
                self._follow[state].extend(right.first)
        return _Part(
            left.first + right.first if left.empty else left.first,
            right.last + left.last if right.empty else right.last,
            left.empty and right.empty,
        )

    def _build(self, expression: Expression, depth: int) -> _Part:
        if depth > _MAX_DEPTH:
            raise TemplateError("expansion rules refer to one another without end")
        if isinstance(expression, TextChunk):
            return self._text(expression.text)
        if isinstance(expression, Alternative):
            return self._either(
                [self._build(item, depth + 1) for item in expression.items]
            )
        if isinstance(expression, Permutation):
            return self._permutation(expression.items, depth)
        if isinstance(expression, Group):
            return self._sequence(expression, depth)
        if isinstance(expression, RuleReference):
            return self._build(self._rule(expression.rule_name), depth + 1)
        if isinstance(expression, ListReference):
            return self._list(expression)
        raise TemplateError(f"unexpected {type(expression).__name__}")

    def _rule(self, name: str) -> Expression:
        rule = self._rules.get(name)
        if rule is None:
            raise TemplateError(f"there is no expansion rule <{name}>")
        return rule.expression

    def _list(self, reference: ListReference) -> _Part:
        if self._lists(reference.list_name):
            return self._one(f"{{{reference.list_name}}}")
        if self._strict:
            raise TemplateError(f"there is no list {{{reference.list_name}}}")
        return _Part(empty=False)

    def _text(self, text: str, *, after: bool = False, before: bool = False) -> _Part:
        """Words; `after` and `before`: glued to the end or start of a list's value."""
        tokens = self._tokens.get(text)
        if tokens is None:
            tokens = self._tokens[text] = self._tokeniser.words(text)
        part = _Part()
        for index, token in enumerate(tokens):
            symbol = token
            if not unspaced(token):
                if after and index == 0:
                    self.glued_after.add(token)
                    symbol = f"+{token}"
                elif before and index == len(tokens) - 1:
                    self.glued_before.add(token)
                    symbol = f"{token}+"
            part = self._join(part, self._one(symbol))
        return part

    def _sequence(self, group: Group, depth: int) -> _Part:
        items = group.items
        part = _Part()
        for index, item in enumerate(items):
            if isinstance(item, TextChunk) and item.text:
                after = index > 0 and _glues(items[index - 1], item.text[0])
                before = (
                    index + 1 < len(items)
                    and _is_name(items[index + 1])
                    and item.text[-1].isalpha()
                )
                piece = self._text(item.text, after=after, before=before)
            elif (
                index > 0
                and isinstance(item, Alternative)
                and _glues(items[index - 1], "x")
                and not _starts_with_space(item)
            ):
                piece = self._either(
                    [
                        self._text(text, after=True)
                        for text in _texts(item)
                        if text is not None
                    ]
                    or [_Part()]
                )
                piece.empty = piece.empty or item.is_optional
            else:
                piece = self._build(item, depth + 1)
            part = self._join(part, piece)
        return part

    def _either(self, parts: Iterable[_Part]) -> _Part:
        result = _Part(empty=False)
        for part in parts:
            result.first += part.first
            result.last += part.last
            result.empty = result.empty or part.empty
        return result

    def _permutation(self, items: list[Expression], depth: int) -> _Part:
        if len(items) > _MAX_PERMUTATION:
            raise TemplateError(f"more than {_MAX_PERMUTATION} items in a permutation")
        if len(items) == 1:
            return self._build(items[0], depth + 1)
        parts = []
        for index, item in enumerate(items):
            rest = items[:index] + items[index + 1 :]
            head = self._build(item, depth + 1)
            parts.append(self._join(head, self._permutation(rest, depth + 1)))
        return self._either(parts)

    def _fewest_words(self, expression: Expression, depth: int) -> int:
        """How many words of its own a template needs at least; lists but {name} count."""
        if depth > _MAX_DEPTH:
            raise TemplateError("expansion rules refer to one another without end")
        if isinstance(expression, TextChunk):
            return len(expression.text.split())
        if isinstance(expression, ListReference):
            return 0 if expression.list_name in ("name", "area") else 1
        if isinstance(expression, RuleReference):
            rule = self._rules.get(expression.rule_name)
            if rule is None:
                return 1  # reported where it is built
            return self._fewest_words(rule.expression, depth + 1)
        if isinstance(expression, Group):
            counts = [self._fewest_words(item, depth + 1) for item in expression.items]
            if isinstance(expression, Alternative):
                return min(counts, default=0)
            return sum(counts)
        return 0


def _is_name(item: Expression) -> bool:
    return isinstance(item, ListReference) and item.list_name == "name"


def _glues(item: Expression, edge: str) -> bool:
    """Whether text beginning with `edge` is written on to the value of `item`."""
    return (
        isinstance(item, ListReference)
        and item.list_name == "name"
        and edge.isalpha()
        and not item.is_end_of_word
    )


def _starts_with_space(item: Expression) -> bool:
    while isinstance(item, Group):
        if not item.items:
            return False
        item = item.items[0]
    return isinstance(item, TextChunk) and item.text.startswith(" ")


def _texts(item: Alternative) -> Iterable[str | None]:
    """The plain texts of an alternative, one level of sequences deep."""
    for option in item.items:
        inner: Expression = option
        while isinstance(inner, Group) and len(inner.items) == 1:
            inner = inner.items[0]
        if isinstance(inner, Alternative):
            yield from _texts(inner)
        elif isinstance(inner, TextChunk):
            yield inner.text
        else:
            yield None
