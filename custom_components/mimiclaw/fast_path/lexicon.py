"""Fixed phrases: the values of lists and the words to skip, in one trie over tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hassil.expression import Sentence
from hassil.parse_expression import parse_sentence

from .automaton import TemplateError, phrases
from .normalise import PAUSE, SPACE, Tokeniser
from .sentence_file import is_template

_END = ""
#: The name under which words to skip are added.
SKIP = "skip"


class Lexicon:
    """What phrases begin at a token: a list's symbol ("{unit}") and value, and the end.

    Words to skip have the empty symbol.
    """

    def __init__(self, tokeniser: Tokeniser) -> None:
        self._tokeniser = tokeniser
        self._root: dict[str, Any] = {}

    def add(
        self,
        list_name: str,
        text: str,
        value: float | str,
        rules: Mapping[str, Sentence],
    ) -> None:
        """Add a list value, which may be a template. Raises TemplateError, ParseError."""
        if is_template(text):
            for phrase in phrases(parse_sentence(text).expression, rules):
                self._put(list_name, phrase, value)
        else:
            self._put(list_name, text, value)

    def _put(self, list_name: str, phrase: str, value: float | str) -> None:
        node = self._root
        tokens = self._tokeniser.words(phrase)
        if not tokens:
            raise TemplateError("a list value without a word")
        for token in tokens:
            node = node.setdefault(token, {})
        entry = ("" if list_name == SKIP else f"{{{list_name}}}", value)
        entries = node.setdefault(_END, [])
        if entry not in entries:
            entries.append(entry)

    def starting_at(
        self, tokens: Sequence[str], start: int
    ) -> Sequence[tuple[str, float | str, int]]:
        """All phrases that begin at `start`: symbol, value, end."""
        node = self._root.get(tokens[start])
        if node is None:
            return ()
        found = []
        index = start + 1
        count = len(tokens)
        while True:
            for name, value in node.get(_END, ()):
                found.append((name, value, index))
            # Speech recognition puts spaces into phrases of scripts without any, and
            # people put commas into "be so kind, and …".
            while index < count and tokens[index] in (SPACE, PAUSE):
                index += 1
            if index >= count:
                return found
            node = node.get(tokens[index])
            if node is None:
                return found
            index += 1
