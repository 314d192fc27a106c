"""Which tools a skill names, and with which arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import re
from typing import Any, Final

_SPAN: Final = re.compile(r"`([^`\n]+)`")
_CALL: Final = re.compile(r"\b([A-Za-z][\w]*)\(")
_SNAKE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_FOREIGN: Final = re.compile(r"\b[a-z][a-z0-9_]*__[A-Za-z]\w*\b")
#: What makes a bare name in code a tool: "call `x_y`", "the tool `x_y`", "`x_y` tool".
_BEFORE: Final = re.compile(
    r"\b(?:call|calls|use|uses|run|with|tool)\s*$", re.IGNORECASE
)
_AFTER: Final = re.compile(r"^\s*tool\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolShape:
    """A tool as far as a text about it can be wrong.

    arguments: names it takes, those of the original firmware included. required: names
    it does not go without. allowed: the values of arguments that are a choice.
    """

    arguments: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    allowed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, parameters: Mapping[str, Any], aliases: Mapping[str, str]) -> ToolShape:
        """Return the shape of a tool with this JSON Schema."""
        properties: Mapping[str, Mapping[str, Any]] = parameters.get("properties", {})
        return cls(
            frozenset((*properties, *aliases)),
            frozenset(parameters.get("required", ())),
            {
                name: frozenset(str(value) for value in rule["enum"])
                for name, rule in properties.items()
                if rule.get("enum")
            },
        )


@dataclass(frozen=True, slots=True)
class Reference:
    """One place where a text names a tool.

    arguments: by name; the value is None where the text leaves it open. parsed: whether
    the text gives arguments at all.
    """

    tool: str
    text: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    parsed: bool = False


def references(text: str, known: Mapping[str, ToolShape]) -> Iterator[Reference]:
    """Yield every tool that a text names in code, known or not."""
    # "`gpio_write` with `duration_s`": the second is an argument.
    arguments = frozenset().union(*(shape.arguments for shape in known.values()))
    plain = _SPAN.sub(lambda match: " " * len(match[0]), text)
    for match in _FOREIGN.finditer(text):
        yield Reference(match[0], match[0])
    for match in _SPAN.finditer(text):
        span = match[1].strip()
        called = False
        for call in _calls(span):
            called = True
            yield call
        if called or span in arguments or not _SNAKE.fullmatch(span):
            continue
        before, after = plain[: match.start()], plain[match.end() :]
        if span in known or _BEFORE.search(before[-20:]) or _AFTER.search(after[:10]):
            yield Reference(span, span)


def _calls(span: str) -> Iterator[Reference]:
    """Yield the calls in a piece of code; names without an underscore are prose."""
    for match in _CALL.finditer(span):
        name = match[1]
        if "_" not in name or "__" in name or span[: match.start()].endswith("."):
            continue
        source = _balanced(span[match.start() :])
        arguments = _arguments(source)
        yield Reference(name, source, arguments or {}, arguments is not None)


def _balanced(text: str) -> str:
    """Return a call up to its closing bracket; quoted brackets do not count."""
    depth = 0
    quote = ""
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return text[: place + 1]
    return text


def _arguments(source: str) -> dict[str, Any] | None:
    """Return the arguments of a call, None when it is not written as one."""
    try:
        node = ast.parse(source, mode="eval").body
    except SyntaxError, ValueError, RecursionError, MemoryError:
        return None
    if not isinstance(node, ast.Call):
        return None
    found: dict[str, Any] = {}
    for one in node.args:
        if not isinstance(one, ast.Name):
            return None
        found[one.id] = None
    for keyword in node.keywords:
        if keyword.arg is None:
            return None
        try:
            found[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError, TypeError, RecursionError, MemoryError:
            found[keyword.arg] = None
    return found


def complaints(reference: Reference, known: Mapping[str, ToolShape]) -> Iterator[str]:
    """Yield what is wrong with a reference, each as one sentence."""
    shape = known.get(reference.tool)
    if shape is None:
        if "__" in reference.tool:
            yield (
                f"It names {reference.tool}; tools of Home Assistant change their names, "
                'so write "Home Assistant\'s own tools".'
            )
        else:
            yield f"It names the tool {reference.tool}, which does not exist here."
        return
    if not reference.parsed:
        return
    given = reference.arguments.keys()
    for name in sorted(given - shape.arguments):
        takes = ", ".join(sorted(shape.arguments)) or "no arguments"
        yield f"{reference.text}: there is no argument {name}; it takes {takes}."
    for name, value in reference.arguments.items():
        allowed = shape.allowed.get(name)
        if allowed and value is not None and str(value) not in allowed:
            yield f"{reference.text}: {name} is one of {', '.join(sorted(allowed))}."
