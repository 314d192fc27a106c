"""From a sentence to commands, or to nothing: the one door of the fast path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .chart import Chart
from .command import Match
from .grammar import Grammar
from .languages import closest
from .normalise import MAX_CHARS, tokenise
from .reading import Reading

#: Unspaced scripts have a token a character; nothing longer was ever a command.
_MAX_TOKENS: Final = 160


class FastPath:
    """Understands what is certainly a command for a known channel."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    @property
    def grammar(self) -> Grammar:
        """What it understands with."""
        return self._grammar

    def recognize(
        self, text: str, languages: Sequence[str], area: str | None = None
    ) -> Match | None:
        """The commands in `text`, or None: not certain, so not for the fast path.

        `languages` are tried in order. `area` is where the speaker is; it decides
        between channels of one name. Never raises, whatever the text.
        """
        if len(text) > MAX_CHARS:
            return None
        tokens = tokenise(text)
        if not tokens or len(tokens) > _MAX_TOKENS:
            return None
        compiled = self._grammar.languages
        tried: set[str] = set()
        for asked in languages:
            code = asked if asked in compiled else closest(asked, compiled)
            if code is None or code in tried:
                continue
            tried.add(code)
            grammar = compiled[code]
            chart = Chart(grammar, grammar.tokeniser.read(text, tokens))
            if not chart.known:
                continue
            match = Reading(chart, grammar, self._grammar.channels, area).match()
            if match is not None:
                return match
        return None
