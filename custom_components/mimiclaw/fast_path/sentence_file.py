"""Reading sentence files: YAML in Home Assistant's intent format, with line numbers.

A file holds what hassil's own intent files hold: `language`, `intents`, `lists`,
`expansion_rules`, `skip_words` and `settings`. Every template is parsed by hassil. A
mistake is collected with its line; whatever else the file says is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hassil.expression import Sentence
from hassil.parse_expression import parse_sentence
from hassil.parser import ParseError
import yaml

from .errors import SentenceFileError

#: A household's file of this size is a mistake: the largest of ours has 30 KB.
MAX_BYTES: Final = 512 * 1024

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEMPLATE = frozenset("()[]{}<>|")


@dataclass(frozen=True, slots=True)
class Text:
    """A string and where it stood."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class ListValue:
    """One value of a list: a template, and what it stands for (mostly nothing)."""

    text: Text
    out: float | str


@dataclass(frozen=True, slots=True)
class Block:
    """Sentences of one intent that share slots and metadata."""

    intent: str
    sentences: tuple[tuple[Sentence, int], ...]
    slots: dict[str, float]
    metadata: dict[str, str]


@dataclass(slots=True)
class SentenceFile:
    """A file's content, and what was wrong with it."""

    path: str
    language: str = ""
    blocks: list[Block] = field(default_factory=list)
    lists: dict[str, list[ListValue]] = field(default_factory=dict)
    rules: dict[str, Sentence] = field(default_factory=dict)
    skip_words: list[Text] = field(default_factory=list)
    name_endings: list[str] = field(default_factory=list)
    respell: dict[str, str] = field(default_factory=dict)
    accented: dict[str, str] = field(default_factory=dict)
    problems: list[SentenceFileError] = field(default_factory=list)
    #: Whether its mistakes are for the household to mend.
    reported: bool = True

    def problem(self, line: int, message: str) -> None:
        """Note a mistake."""
        if self.reported:
            self.problems.append(SentenceFileError(self.path, line, message))


def is_template(text: str) -> bool:
    """Whether a text has any of hassil's template syntax in it."""
    return not _TEMPLATE.isdisjoint(text)


def read_sentence_file(path: Path) -> SentenceFile:
    """Read a file. Blocking. Never raises: what is wrong stands in `problems`."""
    result = SentenceFile(path=path.name, language=path.stem)
    try:
        if path.stat().st_size > MAX_BYTES:
            result.problem(0, f"larger than {MAX_BYTES // 1024} KB")
            return result
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as err:
        result.problem(0, f"cannot be read: {err}")
        return result
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        result.problem(mark.line + 1 if mark else 0, err.problem or "not valid YAML")
        return result
    except (yaml.YAMLError, RecursionError) as err:
        result.problem(0, f"not valid YAML: {err}")
        return result
    if root is None:
        return result
    _Reader(result).read(root)
    return result


class _Reader:
    """Walks the YAML nodes, which know their lines."""

    def __init__(self, result: SentenceFile) -> None:
        self._result = result

    def read(self, root: yaml.Node) -> None:
        result = self._result
        for key, line, node in self._pairs(root):
            match key:
                case "language":
                    if text := self._text(node):
                        result.language = text.text
                case "intents":
                    for intent, _, body in self._pairs(node):
                        self._intent(intent, body)
                case "lists":
                    for name, _, body in self._pairs(node):
                        self._list(name, body)
                case "expansion_rules":
                    for name, _, body in self._pairs(node):
                        if parsed := self._sentence(body):
                            result.rules[name] = parsed[0]
                case "skip_words":
                    result.skip_words += self._texts(node)
                case "settings":
                    for name, at, body in self._pairs(node):
                        self._setting(name, at, body)
                case _:
                    result.problem(line, f"unknown key {key}")

    def _intent(self, intent: str, node: yaml.Node) -> None:
        for key, line, body in self._pairs(node):
            if key != "data":
                self._result.problem(line, f"unknown key {key} in {intent}")
                continue
            for item in self._items(body):
                self._block(intent, item)

    def _block(self, intent: str, node: yaml.Node) -> None:
        sentences: list[tuple[Sentence, int]] = []
        slots: dict[str, float] = {}
        metadata: dict[str, str] = {}
        for key, line, body in self._pairs(node):
            if key == "sentences":
                parsed = map(self._sentence, self._items(body))
                sentences += [sentence for sentence in parsed if sentence]
            elif key == "slots":
                slots |= self._numbers(body)
            elif key == "metadata":
                metadata |= self._strings(body)
            else:
                self._result.problem(line, f"unknown key {key} in {intent}")
        self._result.blocks.append(Block(intent, tuple(sentences), slots, metadata))

    def _list(self, name: str, node: yaml.Node) -> None:
        values = self._result.lists.setdefault(name, [])
        for key, line, body in self._pairs(node):
            if key != "values":
                self._result.problem(line, f"unknown key {key} in list {name}")
                continue
            for item in self._items(body):
                if isinstance(item, yaml.ScalarNode):
                    text = Text(item.value, item.start_mark.line + 1)
                    values.append(ListValue(text, ""))
                else:
                    self._in_out(values, item)

    def _in_out(self, values: list[ListValue], node: yaml.Node) -> None:
        spoken: Text | None = None
        out: float | str | None = None
        for key, line, body in self._pairs(node):
            if key == "in":
                spoken = self._text(body)
            elif key == "out":
                out = self._value(body)
            else:
                self._result.problem(line, f"unknown key {key} in a list value")
        if spoken is None or out is None:
            line = node.start_mark.line + 1
            self._result.problem(line, "a list value needs in: and out:")
            return
        values.append(ListValue(spoken, out))

    def _sentence(self, node: yaml.Node) -> tuple[Sentence, int] | None:
        text = self._text(node)
        if text is None:
            return None
        try:
            return parse_sentence(text.text), text.line
        except (ParseError, AssertionError, IndexError, RecursionError) as err:
            reason = str(err) or "not a sentence template"
            self._result.problem(text.line, f"{reason}: {text.text}")
            return None

    def _pairs(self, node: yaml.Node) -> Iterator[tuple[str, int, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self._wrong(node, "keys and values")
            return
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, key.start_mark.line + 1, value
            else:
                self._wrong(key, "a plain key")

    def _items(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        self._wrong(node, "a list")
        return []

    def _texts(self, node: yaml.Node) -> list[Text]:
        return [text for item in self._items(node) if (text := self._text(item))]

    def _text(self, node: yaml.Node) -> Text | None:
        if isinstance(node, yaml.ScalarNode):
            return Text(node.value, node.start_mark.line + 1)
        self._wrong(node, "text")
        return None

    def _setting(self, name: str, line: int, node: yaml.Node) -> None:
        if name == "name_endings":
            self._result.name_endings += [text.text for text in self._texts(node)]
        elif name == "respell":
            self._result.respell |= self._strings(node)
        elif name == "accented":
            self._result.accented |= self._strings(node)
        else:
            self._result.problem(line, f"unknown setting {name}")

    def _strings(self, node: yaml.Node) -> dict[str, str]:
        pairs = ((key, self._text(value)) for key, _, value in self._pairs(node))
        return {key: text.text for key, text in pairs if text}

    def _numbers(self, node: yaml.Node) -> dict[str, float]:
        numbers = {}
        for key, line, body in self._pairs(node):
            value = self._value(body)
            if isinstance(value, float):
                numbers[key] = value
            else:
                self._result.problem(line, f"{key} needs a number")
        return numbers

    def _value(self, node: yaml.Node) -> float | str | None:
        """A number where YAML sees one, otherwise the text; None if it is neither."""
        if not isinstance(node, yaml.ScalarNode):
            return None
        if node.tag.rpartition(":")[2] in ("int", "float"):
            try:
                return float(node.value)
            except ValueError:
                return str(node.value)
        return str(node.value)

    def _wrong(self, node: yaml.Node, wanted: str) -> None:
        self._result.problem(node.start_mark.line + 1, f"{wanted} expected here")
