"""Check what the model sent against a tool's schema, forgiving what can be forgiven."""

from __future__ import annotations

from collections.abc import Mapping
import json
from typing import Any

from ..tools.base import ToolError

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _coerce(value: Any, kind: str) -> Any:
    """Return the value as the kind asked for where no meaning is lost."""
    if isinstance(value, str) and kind in {"integer", "number", "boolean"}:
        try:
            value = json.loads(value.strip().lower())
        except ValueError:
            return value
    if kind == "string" and isinstance(value, (int, float)):
        return json.dumps(value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, _KINDS[kind])


def check(
    arguments: Mapping[str, Any], rules: Mapping[str, Any], aliases: Mapping[str, str]
) -> dict[str, Any]:
    """Return the arguments by our names, each of the right kind.

    `rules` is a JSON Schema object with scalar properties; null stands for "not given";
    names that the tool does not know are dropped. Raises ToolError.
    """
    properties: Mapping[str, Mapping[str, Any]] = rules.get("properties", {})
    given = {aliases.get(name, name): value for name, value in arguments.items()}
    checked: dict[str, Any] = {}
    for name, rule in properties.items():
        value = given.get(name)
        if value is None:
            if name in rules.get("required", ()):
                names = ", ".join(properties)
                raise ToolError(f"The argument {name} is missing; it takes: {names}.")
            continue
        kind = rule.get("type", "string")
        value = _coerce(value, kind)
        if not _is(value, kind):
            raise ToolError(f"The argument {name} must be of type {kind}.")
        allowed = rule.get("enum")
        if allowed and value not in allowed:
            raise ToolError(f"The argument {name} must be one of {', '.join(allowed)}.")
        checked[name] = value
    return checked
