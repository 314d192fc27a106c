"""A loopback server for Anthropic's Messages API.

`python -m tests.providers.wire.anthropic_server --port 8800` repeats what it is told.
"""

from __future__ import annotations

from collections.abc import Iterator
import hashlib
import json
import re
from typing import Any

from .reply import Reply, pieces
from .server import Refusal, WireServer, serve, sse

_FIELDS = frozenset(
    {
        "model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream",
        "thinking", "output_config", "metadata", "stop_sequences", "temperature",
        "top_k", "top_p", "service_tier", "container",
    }
)  # fmt: skip
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_SAID = frozenset(
    {
        "text", "tool_use", "thinking", "redacted_thinking", "server_tool_use",
        "web_search_tool_result",
    }
)  # fmt: skip
_ASKED = frozenset({"text", "image", "tool_result"})
_CHARS_PER_TOKEN = 4


class AnthropicServer(WireServer):
    """Speaks the Messages API, and keeps a prompt cache like the real one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cached: dict[bytes, int] = {}

    @property
    def paths(self) -> frozenset[str]:
        return frozenset({"/v1/messages"})

    def last_words(self, body: dict[str, Any]) -> str:
        content = body["messages"][-1]["content"]
        if isinstance(content, str):
            return content
        return " ".join(
            str(block.get("text") or block.get("content") or "") for block in content
        )

    def model_body(self, model: str) -> dict[str, Any]:
        return {
            "type": "model",
            "id": model,
            "display_name": model,
            "created_at": "2026-10-07T00:00:00Z",
        }

    def error_body(self, refusal: Refusal) -> dict[str, Any]:
        return {
            "type": "error",
            "error": {"type": refusal.kind, "message": refusal.message},
            "request_id": "req_1",
        }

    def stream_error(self, kind: str, message: str) -> bytes:
        return sse(
            {"type": "error", "error": {"type": kind, "message": message}}, "error"
        )

    def judge(self, path: str, body: dict[str, Any]) -> Refusal | None:
        for words in _complaints(body):
            return Refusal(words)
        return None

    def events(self, path: str, body: dict[str, Any], reply: Reply) -> Iterator[bytes]:
        for event in self._messages(body, reply):
            yield sse(event, event["type"])

    def _messages(self, body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
        usage = self._usage(body, reply)
        yield {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {**usage, "output_tokens": 1},
            },
        }
        yield {"type": "ping"}
        for index, (block, deltas) in enumerate(_blocks(reply)):
            yield {
                "type": "content_block_start",
                "index": index,
                "content_block": block,
            }
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield from reply.extra
        yield {
            "type": "message_delta",
            "delta": {
                "stop_reason": reply.stop
                or ("tool_use" if reply.calls else "end_turn"),
                "stop_sequence": None,
            },
            "usage": {"output_tokens": reply.output_tokens},
        }
        yield {"type": "message_stop"}

    def _usage(self, body: dict[str, Any], reply: Reply) -> dict[str, int]:
        """Count as the prompt cache does: up to the longest marked prefix it knows."""
        prefixes = list(_marked_prefixes(body))
        known = max((self._cached.get(digest, 0) for digest, _ in prefixes), default=0)
        longest = max((size for _, size in prefixes), default=0)
        self._cached.update(dict(prefixes))
        return {
            "input_tokens": reply.input_tokens,
            "cache_read_input_tokens": known,
            "cache_creation_input_tokens": max(0, longest - known),
        }


def _blocks(reply: Reply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if reply.thinking:
        deltas: list[dict[str, Any]] = [
            {"type": "thinking_delta", "thinking": piece}
            for piece in pieces(reply.thinking, reply.piece)
        ]
        deltas.append({"type": "signature_delta", "signature": "signed=="})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if reply.text:
        yield (
            {"type": "text", "text": ""},
            [
                {"type": "text_delta", "text": piece}
                for piece in pieces(reply.text, reply.piece)
            ],
        )
    for number, call in enumerate(reply.calls):
        yield (
            {
                "type": "tool_use",
                "id": call.call_id or f"toolu_{number}",
                "name": call.name,
                "input": {},
            },
            [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in ["", *pieces(call.json, reply.piece)]
            ],
        )


def _marked_prefixes(body: dict[str, Any]) -> Iterator[tuple[bytes, int]]:
    """Yield digest and size in tokens of each prefix that ends in a cache mark."""
    digest = hashlib.sha256(json.dumps(body.get("tools", [])).encode())
    size = 0
    blocks = list(body.get("system") or [])
    for message in body["messages"]:
        content = message["content"]
        blocks.extend([] if isinstance(content, str) else content)
    for block in blocks:
        text = json.dumps({k: v for k, v in block.items() if k != "cache_control"})
        digest.update(text.encode())
        size += len(text)
        if "cache_control" in block:
            yield digest.digest(), size // _CHARS_PER_TOKEN


def _complaints(body: dict[str, Any]) -> Iterator[str]:
    """Yield what the real API would say against a request."""
    for field in body.keys() - _FIELDS:
        yield f"{field}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: Field required"
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        yield "max_tokens: Field required"
        return
    messages = body.get("messages")
    if not messages:
        yield "messages: at least one message is required"
        return
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled" and not (
        1024 <= thinking.get("budget_tokens", 0) < limit
    ):
        yield "thinking.budget_tokens: must be at least 1024 and less than max_tokens"
    yield from _about_tools(body)
    yield from _about_marks(body)
    for position, message in enumerate(messages):
        yield from _about_message(messages, position, message)


def _about_tools(body: dict[str, Any]) -> Iterator[str]:
    tools = body.get("tools") or []
    names = [tool.get("name") for tool in tools]
    if len(set(names)) != len(names):
        yield "tools: Tool names must be unique."
    for number, tool in enumerate(tools):
        if "type" in tool and tool["type"] != "custom":
            continue
        if not _NAME.fullmatch(tool.get("name") or ""):
            yield f"tools.{number}.custom.name: String should match pattern"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"tools.{number}.custom.input_schema.type: Field required"
            continue
        if schema.keys() & {"oneOf", "anyOf", "allOf"}:
            yield (
                f"tools.{number}.custom.input_schema: input_schema does not support "
                "oneOf, allOf, or anyOf at the top level"
            )
        for key in schema.get("properties", {}):
            if not _KEY.fullmatch(key):
                yield (
                    f"tools.{number}.custom.input_schema.properties: Property keys "
                    "should match pattern"
                )
    choice = body.get("tool_choice")
    if choice is not None:
        if not tools:
            yield "tool_choice may only be specified while providing tools"
        if choice.get("type") not in ("auto", "any", "tool", "none"):
            yield "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"
    if not tools and any(
        block.get("type") == "tool_use"
        for message in body["messages"]
        if isinstance(message.get("content"), list)
        for block in message["content"]
    ):
        yield "Requests which include `tool_use` blocks must define tools"


def _about_marks(body: dict[str, Any]) -> Iterator[str]:
    system = body.get("system")
    blocks: list[dict[str, Any]] = [] if isinstance(system, str) else list(system or [])
    for block in blocks:
        if block.get("type") != "text" or not block.get("text"):
            yield "system: text content blocks must be non-empty"
    for message in body["messages"]:
        if isinstance(message.get("content"), list):
            blocks.extend(message["content"])
    marks = [block for block in blocks if "cache_control" in block]
    if len(marks) > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    for block in marks:
        if block["type"] in ("thinking", "redacted_thinking"):
            yield "thinking blocks cannot have cache_control"


def _about_message(
    messages: list[dict[str, Any]], position: int, message: dict[str, Any]
) -> Iterator[str]:
    where = f"messages.{position}"
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        yield f"{where}.role: Input should be 'user' or 'assistant'"
    if position == 0 and role != "user":
        yield 'messages: first message must use the "user" role'
    if not content:
        yield f"{where}: all messages must have non-empty content"
        return
    if isinstance(content, str):
        return
    allowed = _SAID if role == "assistant" else _ASKED
    for number, block in enumerate(content):
        kind = block.get("type")
        if kind not in allowed:
            yield f"{where}.content.{number}: unexpected block {kind!r}"
        if kind == "text" and not block.get("text", "").strip():
            yield f"{where}: text content blocks must contain non-whitespace text"
        if kind == "tool_use" and not isinstance(block.get("input"), dict):
            yield f"{where}.content.{number}.tool_use.input: Input should be an object"
        if kind == "image" and block["source"]["media_type"] not in _PICTURES:
            yield f"{where}.content.{number}.image.source.media_type: not supported"
        if kind == "thinking" and not block.get("signature"):
            yield f"{where}.content.{number}.thinking.signature: Field required"
    if role == "assistant":
        used = [block["id"] for block in content if block.get("type") == "tool_use"]
        answered = _results(messages, position + 1)
        if len(set(used)) != len(used):
            yield f"{where}: `tool_use` ids must be unique"
        for missing in [name for name in used if name not in answered]:
            yield (
                f"{where}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {missing}"
            )
    elif results := _results(messages, position):
        before = messages[position - 1]["content"] if position else []
        used = [
            block["id"]
            for block in ([] if isinstance(before, str) else before)
            if block.get("type") == "tool_use"
        ]
        for stray in [name for name in results if name not in used]:
            yield f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}"
        kinds = [block.get("type") for block in content]
        if kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
            yield f"{where}: `tool_result` blocks must come first"


def _results(messages: list[dict[str, Any]], position: int) -> list[str]:
    if position >= len(messages) or isinstance(messages[position]["content"], str):
        return []
    return [
        block["tool_use_id"]
        for block in messages[position]["content"]
        if block.get("type") == "tool_result"
    ]


if __name__ == "__main__":
    serve(AnthropicServer())
