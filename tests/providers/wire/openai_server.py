"""A loopback server for OpenAI's two formats: chat completions and Responses.

`python -m tests.providers.wire.openai_server --port 8801` repeats what it is told.
"""

from __future__ import annotations

from collections.abc import Iterator
import json
from typing import Any

from . import openai_rules
from .reply import Call, Reply, pieces, shared_beginning
from .server import Refusal, WireServer, serve, sse

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"

_CHARS_PER_TOKEN = 4


class OpenAIServer(WireServer):
    """Speaks both formats; `lacks` takes one away, as compatible servers do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cached: dict[str, str] = {}

    @property
    def base_url(self) -> str:
        """The address an SDK wants."""
        return f"{self.url}/v1"

    @property
    def paths(self) -> frozenset[str]:
        return frozenset({CHAT, RESPONSES})

    def last_words(self, body: dict[str, Any]) -> str:
        last = (body.get("messages") or body["input"])[-1]
        content = last.get("content") or last.get("output") or ""
        if isinstance(content, str):
            return content
        return " ".join(str(part.get("text", "")) for part in content)

    def model_body(self, model: str) -> dict[str, Any]:
        return {"id": model, "object": "model", "created": 1, "owned_by": "loopback"}

    def error_body(self, refusal: Refusal) -> dict[str, Any]:
        return {
            "error": {
                "message": refusal.message,
                "type": refusal.kind,
                "param": None,
                "code": refusal.code,
            }
        }

    def stream_error(self, kind: str, message: str) -> bytes:
        return sse({"error": {"message": message, "type": kind, "code": kind}})

    def judge(self, path: str, body: dict[str, Any]) -> Refusal | None:
        rules = openai_rules.chat if path == CHAT else openai_rules.responses
        for words in rules(body):
            return Refusal(words)
        return None

    def events(self, path: str, body: dict[str, Any], reply: Reply) -> Iterator[bytes]:
        if path == CHAT:
            for chunk in self._chunks(body, reply):
                yield sse(chunk)
            yield sse("[DONE]")
        else:
            for number, event in enumerate(self._responses(body, reply)):
                yield sse({**event, "sequence_number": number}, event["type"])

    def _chunks(self, body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
        def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
            return {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }

        yield chunk({"role": "assistant", "content": ""})
        for piece in pieces(reply.thinking, reply.piece):
            yield chunk({"reasoning_content": piece})
        for piece in pieces(reply.text, reply.piece):
            yield chunk({"content": piece})
        for delta in _call_deltas(reply):
            yield chunk({"tool_calls": delta})
        yield from reply.extra
        yield chunk({}, reply.stop or ("tool_calls" if reply.calls else "stop"))
        if body.get("stream_options", {}).get("include_usage") and not reply.no_usage:
            cached, written = self._cache(body)
            prompt = reply.input_tokens + cached + written
            yield {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": [],
                "usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": reply.output_tokens,
                    "total_tokens": prompt + reply.output_tokens,
                    "prompt_tokens_details": {
                        "cached_tokens": cached,
                        "cache_write_tokens": written,
                    },
                },
            }

    def _responses(
        self, body: dict[str, Any], reply: Reply
    ) -> Iterator[dict[str, Any]]:
        output: list[dict[str, Any]] = []
        base = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": body["model"],
            "parallel_tool_calls": True,
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
        }
        yield {
            "type": "response.created",
            "response": {**base, "status": "in_progress", "output": []},
        }
        if reply.thinking:
            yield from _reasoning(reply, output)
        if reply.text:
            yield from _message(reply, output)
        for number, call in enumerate(reply.calls):
            yield from _function_call(call, number, reply, output)
        yield from reply.extra
        cached, written = self._cache(body)
        total = reply.input_tokens + cached + written
        status = {"length": "max_output_tokens", "content_filter": "content_filter"}
        reason = status.get(reply.stop)
        yield {
            "type": "response.incomplete" if reason else "response.completed",
            "response": {
                **base,
                "status": "incomplete" if reason else "completed",
                "incomplete_details": {"reason": reason} if reason else None,
                "output": output,
                "usage": {
                    "input_tokens": total,
                    "input_tokens_details": {
                        "cached_tokens": cached,
                        "cache_write_tokens": written,
                    },
                    "output_tokens": reply.output_tokens,
                    "output_tokens_details": {"reasoning_tokens": 0},
                    "total_tokens": total + reply.output_tokens,
                },
            },
        }

    def _cache(self, body: dict[str, Any]) -> tuple[int, int]:
        """Count what this prompt shares with the last one of the same cache key."""
        text = json.dumps(
            [
                body.get("tools"),
                body.get("instructions"),
                body.get("messages") or body.get("input"),
            ]
        )
        key = body.get("prompt_cache_key")
        if key is None:
            return 0, 0
        shared = shared_beginning(self._cached.get(key, ""), text)
        self._cached[key] = text
        cached = shared // _CHARS_PER_TOKEN
        return cached, len(text) // _CHARS_PER_TOKEN - cached


def _call_deltas(reply: Reply) -> Iterator[list[dict[str, Any]]]:
    for number, call in enumerate(reply.calls):
        yield [
            {
                "index": number,
                "id": call.call_id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }
        ]
        for piece in pieces(call.json, reply.piece):
            yield [{"index": number, "function": {"arguments": piece}}]


def _reasoning(reply: Reply, output: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    index = len(output)
    item: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    for piece in pieces(reply.thinking, reply.piece):
        yield {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "rs_1",
            "output_index": index,
            "summary_index": 0,
            "delta": piece,
        }
    done = {
        **item,
        "summary": [{"type": "summary_text", "text": reply.thinking}],
        "encrypted_content": "sealed==",
    }
    output.append(done)
    yield {"type": "response.output_item.done", "output_index": index, "item": done}


def _message(reply: Reply, output: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    index = len(output)
    item = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    place = {"item_id": "msg_1", "output_index": index, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    for piece in pieces(reply.text, reply.piece):
        yield {
            "type": "response.output_text.delta",
            **place,
            "delta": piece,
            "logprobs": [],
        }
    yield {
        "type": "response.output_text.done",
        **place,
        "text": reply.text,
        "logprobs": [],
    }
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    done = {**item, "status": "completed", "content": [part]}
    output.append(done)
    yield {"type": "response.output_item.done", "output_index": index, "item": done}


def _function_call(
    call: Call, number: int, reply: Reply, output: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    index = len(output)
    item = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": call.call_id or f"call_{number}",
        "name": call.name,
        "arguments": "",
        "status": "in_progress",
    }
    place = {"item_id": f"fc_{number}", "output_index": index}
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    for piece in pieces(call.json, reply.piece):
        yield {
            "type": "response.function_call_arguments.delta",
            **place,
            "delta": piece,
        }
    yield {
        "type": "response.function_call_arguments.done",
        **place,
        "name": call.name,
        "arguments": call.json,
    }
    done = {**item, "arguments": call.json, "status": "completed"}
    output.append(done)
    yield {"type": "response.output_item.done", "output_index": index, "item": done}


if __name__ == "__main__":
    serve(OpenAIServer())
