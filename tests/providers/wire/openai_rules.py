"""What the real OpenAI API would say against a request, in either format."""

from __future__ import annotations

from collections.abc import Iterator
import json
import re
from typing import Any

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CHAT_FIELDS = frozenset(
    {
        "model", "messages", "stream", "stream_options", "tools", "tool_choice",
        "max_tokens", "max_completion_tokens", "prompt_cache_key", "reasoning_effort",
        "temperature", "top_p", "store", "parallel_tool_calls",
    }
)  # fmt: skip
_RESPONSES_FIELDS = frozenset(
    {
        "model", "input", "instructions", "stream", "store", "include", "tools",
        "tool_choice", "max_output_tokens", "prompt_cache_key", "reasoning",
        "temperature", "top_p", "parallel_tool_calls", "service_tier", "user", "text",
        "truncation", "safety_identifier",
    }
)  # fmt: skip
_ITEMS = frozenset(
    {"message", "function_call", "function_call_output", "reasoning", "web_search_call"}
)


def chat(body: dict[str, Any]) -> Iterator[str]:
    """Yield complaints about a chat completions request."""
    for field in body.keys() - _CHAT_FIELDS:
        yield f"Unrecognized request argument supplied: {field}"
    if not body.get("model"):
        yield "you must provide a model parameter"
    if not body.get("messages"):
        yield "[] is too short - 'messages'"
        return
    yield from _tools([tool.get("function", {}) for tool in body.get("tools", ())])
    if "tool_choice" in body and not body.get("tools"):
        yield "'tool_choice' is only allowed when 'tools' are specified"
    open_calls: list[str] = []
    for number, message in enumerate(body["messages"]):
        where = f"messages.[{number}]"
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield (
                    f"{where}: messages with role 'tool' must be a response to a "
                    "preceding message with 'tool_calls'"
                )
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            yield (
                f"{where}: An assistant message with 'tool_calls' must be followed by "
                f"tool messages responding to each 'tool_call_id'. Missing: {open_calls}"
            )
        if role not in ("system", "developer", "user", "assistant"):
            yield f"{where}.role: Invalid value: {role!r}"
        calls = message.get("tool_calls")
        if calls is not None and not calls:
            yield f"{where}.tool_calls: [] is too short"
        for call in calls or ():
            open_calls.append(call["id"])
            yield from _arguments(where, call["function"]["arguments"])
        if message.get("content") is None and not calls:
            yield f"{where}.content: expected a string, got null"
    if open_calls:
        yield f"tool calls without an answer at the end: {open_calls}"


def responses(body: dict[str, Any]) -> Iterator[str]:
    """Yield complaints about a Responses request."""
    for field in body.keys() - _RESPONSES_FIELDS:
        yield f"Unknown parameter: '{field}'."
    if not body.get("input"):
        yield "Missing required parameter: 'input'."
        return
    if body.get("max_output_tokens", 16) < 16:
        yield "Invalid 'max_output_tokens': integer below minimum value."
    yield from _tools(
        [tool for tool in body.get("tools", ()) if tool.get("type") == "function"]
    )
    for tool in body.get("tools", ()):
        if tool.get("type") == "function" and tool.get("strict", True):
            yield from _strict(tool)
    called: set[str] = set()
    answered: set[str] = set()
    for number, item in enumerate(body["input"]):
        kind = item.get("type", "message")
        if kind not in _ITEMS:
            yield f"Invalid value: {kind!r} at input[{number}]"
        if kind == "function_call":
            called.add(item["call_id"])
            yield from _arguments(f"input[{number}]", item["arguments"])
        elif kind == "function_call_output":
            if item["call_id"] not in called:
                yield f"No tool call found for function call output {item['call_id']}."
            answered.add(item["call_id"])
        elif kind == "reasoning":
            if not item.get("encrypted_content") and not body.get("store", True):
                yield f"Item '{item.get('id')}' not found: items are not stored."
            if body["input"][number + 1 :] == []:
                yield "reasoning was provided without its required following item"
        elif kind == "message" and not item.get("content"):
            yield f"input[{number}].content: missing"
    for missing in sorted(called - answered):
        yield f"No tool output found for function call {missing}."


def _tools(functions: list[dict[str, Any]]) -> Iterator[str]:
    names = [function.get("name") for function in functions]
    if len(set(names)) != len(names):
        yield "tools: names must be unique"
    for function in functions:
        name = function.get("name") or ""
        if not _NAME.fullmatch(name):
            yield f"Invalid 'tools[].function.name': {name!r} does not match the pattern"
        schema = function.get("parameters")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"Invalid schema for function '{name}': type must be 'object'"
            continue
        if schema.keys() & {"oneOf", "anyOf", "allOf", "enum", "not"}:
            yield (
                f"Invalid schema for function '{name}': schema must not have "
                "'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
            )
        yield from _schema(name, schema)


def _strict(function: dict[str, Any]) -> Iterator[str]:
    """Yield what the strict mode, which is the default, has against a schema."""
    schema = function.get("parameters") or {}
    where = f"Invalid schema for function '{function.get('name')}'"
    if schema.get("additionalProperties") is not False:
        yield f"{where}: 'additionalProperties' is required to be false."
    if set(schema.get("required", ())) != set(schema.get("properties", {})):
        yield f"{where}: 'required' has to include every key in properties."


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") == "array" and "items" not in schema:
        yield f"Invalid schema for function '{name}': array schema missing items."
    for required in schema.get("required", ()):
        if required not in schema.get("properties", {}):
            yield f"Invalid schema for function '{name}': {required!r} is not there."
    for value in schema.get("properties", {}).values():
        yield from _schema(name, value)
    if isinstance(schema.get("items"), dict):
        yield from _schema(name, schema["items"])


def _arguments(where: str, text: object) -> Iterator[str]:
    try:
        json.loads(str(text))
    except ValueError:
        yield f"{where}: arguments are not JSON"
