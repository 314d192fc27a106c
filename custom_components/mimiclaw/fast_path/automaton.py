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
    Sequence,
    TextChunk,
)

from .errors import FastPathError
from .normalise import Tokeniser

#: Rules that refer to one another without end stop here.
_MAX_DEPTH = 24
#: More items in a permutation mean more copies than a template is worth.
_MAX_PERMUTATION = 4

#: A list value or a word with endings that stands for more phrases than this is neither.
_MAX_PHRASES = 2000

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
        start: tuple[int, ...] = (START,)
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
            return self._sequence(expression.items, depth)
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

    def _text(self, text: str) -> _Part:
        tokens = self._tokens.get(text)
        if tokens is None:
            tokens = self._tokens[text] = self._tokeniser.words(text)
        part = _Part()
        for token in tokens:
            part = self._join(part, self._one(token))
        return part

    def _sequence(self, items: list[Expression], depth: int) -> _Part:
        part = _Part()
        index = 0
        while index < len(items):
            end = index + 1
            if not self._tokeniser.characters:
                while end < len(items) and _glued(items[end - 1], items[end]):
                    end += 1
            if end - index > 1:
                # "light[s]" is two words, each whole: they are written out.
                texts = phrases(Sequence(items=items[index:end]), self._rules)
                piece = self._either([self._text(text) for text in texts])
            else:
                piece = self._build(items[index], depth + 1)
            part = self._join(part, piece)
            index = end
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


def _glued(left: Expression, right: Expression) -> bool:
    """Whether a word goes on from one part of a template into the next."""
    if isinstance(left, ListReference) or isinstance(right, ListReference):
        return False
    if isinstance(left, TextChunk):
        return bool(left.text) and not left.text[-1].isspace()
    return not isinstance(right, TextChunk) or (
        bool(right.text) and not right.text[0].isspace()
    )


def phrases(
    expression: Expression, rules: Mapping[str, Sentence], depth: int = 0
) -> list[str]:
    """Every text a small template stands for.

    Raises TemplateError if it refers to a list or stands for too many.
    """
    if depth > _MAX_DEPTH:
        raise TemplateError("expansion rules refer to one another without end")
    if isinstance(expression, TextChunk):
        return [expression.text]
    if isinstance(expression, RuleReference):
        rule = rules.get(expression.rule_name)
        if rule is None:
            raise TemplateError(f"there is no expansion rule <{expression.rule_name}>")
        return phrases(rule.expression, rules, depth + 1)
    if not isinstance(expression, Group):
        raise TemplateError("a list cannot be part of a word or of another list")
    options = [phrases(item, rules, depth + 1) for item in expression.items]
    if isinstance(expression, Alternative):
        return [text for option in options for text in option]
    texts = [""]
    for option in options:
        texts = [text + tail for text in texts for tail in option]
        if len(texts) > _MAX_PHRASES:
            raise TemplateError(f"stands for more than {_MAX_PHRASES} phrases")
    return texts
