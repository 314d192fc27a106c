"""Tools as the providers accept them.

Home Assistant and its integrations describe tools in more of JSON Schema than the APIs
take, and one tool that is refused takes the whole turn with it. So every schema is
reduced to what all of them accept, and a tool that cannot be reduced is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import json
import logging
import re
from typing import TYPE_CHECKING, Any, Final

from .limits import (
    MAX_CACHED_SCHEMAS,
    MAX_SCHEMA_DEPTH,
    MAX_TOOL_NAME_CHARS,
    MAX_TOOL_SCHEMA_BYTES,
)

if TYPE_CHECKING:
    from .protocol import ToolSpec

_LOGGER = logging.getLogger(__name__)

_NAME: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_TOOL_NAME_CHARS}}}")
#: Anthropic's rule for the names of arguments; OpenAI has none.
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

_TYPES: Final = frozenset(
    {"object", "array", "string", "number", "integer", "boolean", "null"}
)
#: Names that Python and voluptuous people write.
_TYPE_NAMES: Final = {
    "dict": "object",
    "list": "array",
    "str": "string",
    "text": "string",
    "float": "number",
    "int": "integer",
    "bool": "boolean",
    "none": "null",
}
_FORMATS: Final = frozenset(
    {
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    }
)
_NUMBERS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


class _UnusableError(Exception):
    """A schema of which nothing callable is left; the text says why."""


class ToolShelf:
    """Reduces tools, remembers the result, and says once what it left out."""

    def __init__(self) -> None:
        # By the identity of the schema, which the entry keeps alive.
        self._known: dict[tuple[str, int], tuple[ToolSpec, dict[str, Any] | None]] = {}

    def usable(
        self, tools: Iterable[ToolSpec]
    ) -> list[tuple[ToolSpec, dict[str, Any]]]:
        """Return the tools that can be offered, each with its reduced schema."""
        out: dict[str, tuple[ToolSpec, dict[str, Any]]] = {}
        for spec in tools:
            schema = self._reduced(spec)
            if schema is not None:
                out.setdefault(spec.name, (spec, schema))
        return list(out.values())

    def _reduced(self, spec: ToolSpec) -> dict[str, Any] | None:
        place = (spec.name, id(spec.parameters))
        known = self._known.get(place)
        if known is not None and known[0] == spec:
            return known[1]
        schema: dict[str, Any] | None = None
        try:
            if not _NAME.fullmatch(spec.name):
                raise _UnusableError("its name is not one a provider accepts")
            schema = reduce_schema(spec.parameters)
        except _UnusableError as err:
            _LOGGER.warning("Tool %r is left out: %s", spec.name, err)
        except (TypeError, ValueError, AttributeError, RecursionError) as err:
            _LOGGER.warning(
                "Tool %r is left out: its schema cannot be read (%s)",
                spec.name,
                type(err).__name__,
            )
        if len(self._known) >= MAX_CACHED_SCHEMAS:
            self._known.clear()
        self._known[place] = (spec, schema)
        return schema


def reduce_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object schema every provider takes. Raises _UnusableError."""
    if not isinstance(schema, Mapping):
        raise _UnusableError("its schema is not an object")
    definitions = {
        **_mapping(schema.get("definitions")),
        **_mapping(schema.get("$defs")),
    }
    reduced = _Reducer(definitions).top(schema)
    try:
        size = len(json.dumps(reduced, allow_nan=False))
    except ValueError as err:
        raise _UnusableError("its schema is not JSON") from err
    if size > MAX_TOOL_SCHEMA_BYTES:
        raise _UnusableError(f"its schema has {size} bytes")
    return reduced


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


class _Reducer:
    """One schema's walk."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def top(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Reduce the outermost schema: an object, without alternatives."""
        merged = self._merge_alternatives(self._resolve(schema))
        if _type_of(merged.get("type")) not in (None, "object"):
            raise _UnusableError("its arguments are not an object")
        merged["type"] = "object"
        return self._object(merged, 0)

    def _resolve(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Put what a local reference names in its place."""
        for _ in range(MAX_SCHEMA_DEPTH):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                break
            target = self._definitions.get(reference.rpartition("/")[2])
            if not isinstance(target, Mapping):
                raise _UnusableError(
                    f"its schema refers to {reference!r}, which is not there"
                )
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **rest}
        return dict(schema)

    def _merge_alternatives(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Fold allOf, anyOf and oneOf of the outermost schema into one object.

        What only some alternatives want is not required of all.
        """
        properties = dict(_mapping(schema.get("properties")))
        required = list(_strings(schema.get("required")))
        for key in ("allOf", "anyOf", "oneOf"):
            branches = [
                self._merge_alternatives(self._resolve(branch))
                for branch in schema.pop(key, None) or ()
                if isinstance(branch, Mapping)
            ]
            wanted = [set(_strings(branch.get("required"))) for branch in branches]
            for branch in branches:
                for name, value in _mapping(branch.get("properties")).items():
                    properties.setdefault(name, value)
            if wanted:
                common = (
                    set.union(*wanted) if key == "allOf" else set.intersection(*wanted)
                )
                required.extend(sorted(common - set(required)))
        if properties:
            schema["properties"] = properties
        if required:
            schema["required"] = required
        return schema

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise _UnusableError("its properties are not an object")
        required = [
            name
            for name in dict.fromkeys(_strings(schema.get("required")))
            if name in properties
        ]
        kept: dict[str, Any] = {}
        for name, value in properties.items():
            if isinstance(name, str) and _PROPERTY.fullmatch(name):
                kept[name] = self._any(value, depth + 1)
            elif name in required:
                raise _UnusableError(f"it requires an argument named {name!r}")
        out: dict[str, Any] = {"type": "object", "properties": kept}
        if required:
            out["required"] = required
        additional = schema.get("additionalProperties")
        if isinstance(additional, bool):
            out["additionalProperties"] = additional
        elif isinstance(additional, Mapping):
            out["additionalProperties"] = self._any(additional, depth + 1)
        self._describe(schema, out)
        return out

    def _any(self, schema: Any, depth: int) -> dict[str, Any]:
        if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
            return {}
        schema = self._resolve(schema)
        alternatives = [
            self._any(branch, depth + 1)
            for key in ("anyOf", "oneOf")
            for branch in schema.get(key) or ()
            if isinstance(branch, Mapping)
        ]
        for branch in schema.get("allOf") or ():
            if isinstance(branch, Mapping):
                schema = {**self._resolve(branch), **schema}
        kind = _type_of(schema.get("type"))
        if kind is None and "properties" in schema:
            kind = "object"
        if kind == "object":
            return self._object(schema, depth)
        out: dict[str, Any] = {}
        if kind is not None:
            out["type"] = kind
        if kind == "array":
            # Without it OpenAI refuses the whole request.
            out["items"] = self._any(schema.get("items"), depth + 1)
        if alternatives and kind is None:
            real = [branch for branch in alternatives if branch != {"type": "null"}]
            if len(real) == 1:
                out.update(real[0])
            elif real:
                out["anyOf"] = real
        self._values(schema, out)
        self._describe(schema, out)
        return out

    @staticmethod
    def _values(schema: Mapping[str, Any], out: dict[str, Any]) -> None:
        """Copy what bounds a value."""
        choices = schema.get("enum")
        if "const" in schema:
            choices = [schema["const"]]
        if isinstance(choices, list | tuple):
            plain = [
                value
                for value in choices
                if value is None or isinstance(value, str | int | float | bool)
            ]
            unique = list({(type(v), v): v for v in plain}.values())
            if unique:
                out["enum"] = unique
        for key in _NUMBERS:
            value = schema.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                out[key] = value
        pattern = schema.get("pattern")
        # Groups of the (?…) kind are Python's; the APIs' own engines stop at them.
        if isinstance(pattern, str) and "(?" not in pattern:
            out["pattern"] = pattern
        if schema.get("format") in _FORMATS:
            out["format"] = schema["format"]
        default = schema.get("default")
        if isinstance(default, str | int | float | bool):
            out["default"] = default

    @staticmethod
    def _describe(schema: Mapping[str, Any], out: dict[str, Any]) -> None:
        words = schema.get("description") or schema.get("title")
        if words:
            out["description"] = str(words)


def _type_of(value: object) -> str | None:
    """Return the one type a schema names, without null; None for any."""
    if isinstance(value, list | tuple):
        names = [name for name in map(_type_of, value) if name not in (None, "null")]
        return names[0] if len(names) == 1 else None
    if not isinstance(value, str):
        return None
    name = _TYPE_NAMES.get(value.lower(), value.lower())
    return name if name in _TYPES else None


def _strings(value: object) -> list[str]:
    if not isinstance(value, list | tuple | set | frozenset):
        return []
    return [item for item in value if isinstance(item, str)]
