"""Foreign tools are brought into a form every provider takes, or left out."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from custom_components.mimiclaw.providers.protocol import ToolSpec
from custom_components.mimiclaw.providers.tool_schemas import ToolShelf, reduce_schema

from .conftest import WEATHER, Maker, ask, collect

GOOD = {"type": "object", "properties": {}}

RECURSIVE: dict[str, Any] = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "next": {"$ref": "#/$defs/node"},
                "name": {"type": "string"},
            },
        }
    },
}

ODD_BUT_USABLE: list[dict[str, Any]] = [
    {},
    {"properties": {"a": {}}},
    {"type": "object", "properties": {"a": {"type": "array"}}},
    {"type": ["object", "null"], "properties": {"a": {"type": ["string", "null"]}}},
    {"type": "object", "properties": {"a": {"type": "selector"}}},
    {"type": "object", "properties": {"a": {"type": "int"}}, "required": ["a", "gone"]},
    {"type": "object", "properties": {"a b": {"type": "string"}, "ü": {}}},
    {
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {}, "b": {}},
    },
    {"type": "object", "oneOf": [{"properties": {"a": {"type": "string"}}}, {}]},
    {"allOf": [{"properties": {"a": {}}, "required": ["a"]}], "not": {}},
    {
        "type": "object",
        "properties": {"a": {"oneOf": [{"type": "string"}, {"const": 1}]}},
    },
    {"type": "object", "properties": {"a": {"enum": ["x", "x", None, {"no": 1}]}}},
    {
        "type": "object",
        "properties": {"a": {"pattern": "(?P<year>\\d+)", "format": "selector"}},
    },
    {"type": "object", "$schema": "x", "if": {}, "then": {}, "patternProperties": {}},
    {"type": "object", "properties": {"a": None, "c": True, "d": 3}},
    {"type": "object", "properties": {"a": {"default": object()}}},
    RECURSIVE,
]

UNUSABLE: list[Any] = [
    {"type": "string"},
    {"type": "array", "items": {}},
    {"type": "object", "properties": ["a"]},
    {"type": "object", "properties": {"a b": {}}, "required": ["a b"]},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}},
    {"type": "object", "properties": {"a": {"minimum": float("nan")}}},
    {
        "type": "object",
        "properties": {f"a{n}": {"description": "x" * 99} for n in range(200)},
    },
    None,
    "text",
]


@pytest.mark.parametrize("schema", ODD_BUT_USABLE)
async def test_odd_schemas_reach_the_provider(
    make: Maker, wire: str, schema: dict[str, Any]
) -> None:
    """The loopback servers refuse what the real APIs refuse."""
    server, provider = await make(wire)
    await collect(provider, ask(tools=(WEATHER, ToolSpec("odd", "Odd.", schema))))
    assert len(server.asked[-1]["tools"]) == 2


@pytest.mark.parametrize("schema", UNUSABLE)
async def test_a_hopeless_tool_does_not_take_the_turn_with_it(
    make: Maker, wire: str, schema: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    server, provider = await make(wire)
    tools = (ToolSpec("hopeless", "?", schema), WEATHER)
    for _ in range(3):
        await collect(provider, ask(tools=tools))
    assert len(server.asked[-1]["tools"]) == 1
    assert caplog.text.count("'hopeless' is left out") == 1


@pytest.mark.parametrize("name", ["", "a.b", "a b", "ü", "x" * 65, "a/b"])
async def test_a_name_nobody_takes(make: Maker, wire: str, name: str) -> None:
    server, provider = await make(wire)
    await collect(provider, ask(tools=(WEATHER, ToolSpec(name, "?", GOOD))))
    assert len(server.asked[-1]["tools"]) == 1


async def test_a_name_given_twice(make: Maker, wire: str) -> None:
    server, provider = await make(wire)
    twin = ToolSpec(WEATHER.name, "Another.", GOOD)
    await collect(provider, ask(tools=(WEATHER, twin)))
    assert len(server.asked[-1]["tools"]) == 1


def test_what_is_kept() -> None:
    schema = {
        "type": "object",
        "title": "Light",
        "properties": {
            "level": {
                "type": "int",
                "minimum": 0,
                "maximum": 100,
                "description": "In %.",
            },
            "color": {"enum": ["red", "blue"], "default": "red"},
            "days": {"type": "list", "items": {"type": "str"}, "minItems": 1},
            "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        },
        "required": ["level"],
        "additionalProperties": False,
    }
    assert reduce_schema(schema) == {
        "type": "object",
        "description": "Light",
        "properties": {
            "level": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100,
                "description": "In %.",
            },
            "color": {"enum": ["red", "blue"], "default": "red"},
            "days": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "when": {"type": "string", "format": "date"},
        },
        "required": ["level"],
        "additionalProperties": False,
    }


def test_alternatives_require_what_all_of_them_do() -> None:
    branches = [
        {"properties": {"a": {"type": "string"}}, "required": ["a", "c"]},
        {"properties": {"b": {"type": "string"}}, "required": ["b", "c"]},
    ]
    reduced = reduce_schema(
        {"type": "object", "properties": {"c": {}}, "anyOf": branches}
    )
    assert set(reduced["properties"]) == {"a", "b", "c"}
    assert reduced["required"] == ["c"]
    assert "anyOf" not in reduced


def test_a_schema_is_reduced_once() -> None:
    shelf = ToolShelf()
    (first,) = shelf.usable([WEATHER])
    (second,) = shelf.usable([WEATHER])
    assert first[1] is second[1]


def test_two_tools_with_one_schema() -> None:
    shelf = ToolShelf()
    tools = [ToolSpec("a", "", GOOD), ToolSpec("b", "", GOOD)]
    assert [spec.name for spec, _ in shelf.usable(tools)] == ["a", "b"]
    assert [spec.name for spec, _ in shelf.usable(reversed(tools))] == ["b", "a"]
