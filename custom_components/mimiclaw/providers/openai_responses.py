"""The Responses API, OpenAI's own format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from .errors import error_of
from .openai_chat import data_url
from .protocol import (
    AssistantMessage,
    Event,
    Native,
    ProviderConfig,
    Request,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from .transcript import valid
from .wire import Characters, parse_arguments, refused_field, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .tool_schemas import ToolShelf

#: Fields a server or a model may not know; left out for good once it says so.
_OPTIONAL: Final = ("include", "reasoning", "prompt_cache_key", "store")

#: What the API takes no less of.
_MIN_OUTPUT_TOKENS: Final = 16

_FAILED: Final = frozenset({"response.failed", "error"})


class ResponsesFormat:
    """Requests and replies of `/responses` for one server and model."""

    def __init__(self, config: ProviderConfig, shelf: ToolShelf) -> None:
        self._config = config
        self._shelf = shelf
        self._native_kind = f"responses/{config.model}"
        self._refused: set[str] = set()
        self._web_search = config.web_search

    def body(self, request: Request) -> dict[str, Any]:
        """Return the request as this format has it."""
        body: dict[str, Any] = {
            "model": self._config.model,
            "input": list(self._items(request)),
            "stream": True,
            # The conversation lives in the house's own files, not at the provider's.
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": request.cache_key,
            "max_output_tokens": max(_MIN_OUTPUT_TOKENS, request.max_output_tokens),
        }
        system = "\n\n".join(part.text for part in request.system if part.text.strip())
        if system:
            body["instructions"] = system
        tools: list[dict[str, Any]] = [
            {
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": schema,
                # Strict is the default here, and refuses optional arguments.
                "strict": False,
            }
            for spec, schema in self._shelf.usable(request.tools)
        ]
        if self._config.web_search:
            tools.append({"type": "web_search"})
        if tools:
            body["tools"] = tools
            body["tool_choice"] = request.tool_choice
        if level := self._config.thinking:
            body["reasoning"] = (
                {"effort": "none"}
                if level == "off"
                else {"effort": level, "summary": "auto"}
            )
        return body

    async def open(self, client: Any, body: Mapping[str, Any], limits: Any) -> Any:
        """Send a request, without what this server or model turns out not to know.

        `limits` is the SDK's Timeout. Raises what the SDK raises.
        """
        while True:
            sent = {key: body[key] for key in body if key not in self._refused}
            if "tools" in sent:
                sent["tools"] = self._offered(sent["tools"])
            try:
                return await client.responses.create(**sent, timeout=limits)
            except Exception as err:
                if self._web_search and refused_field(err, ("web_search",)):
                    self._web_search = False
                elif field := refused_field(err, (k for k in _OPTIONAL if k in sent)):
                    self._refused.add(field)
                else:
                    raise

    def _offered(self, tools: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the tools with one web search: the provider's own if it has one."""
        unwanted = {"type": "web_search"}
        if self._web_search:
            unwanted = {"type": "function", "name": "web_search"}
        return [tool for tool in tools if not unwanted.items() <= tool.items()]

    def reply(self) -> ResponsesReply:
        """Return what takes one answer in."""
        return ResponsesReply(self._config, self._native_kind)

    def _items(self, request: Request) -> Iterator[dict[str, Any]]:
        for message in valid(request.messages):
            if isinstance(message, ToolResultMessage):
                yield {
                    "type": "function_call_output",
                    "call_id": message.call_id,
                    "output": message.text,
                }
            elif isinstance(message, AssistantMessage):
                yield from self._said(message)
            else:
                parts: list[dict[str, Any]] = [
                    {
                        "type": "input_image",
                        "image_url": data_url(image),
                        "detail": "auto",
                    }
                    for image in message.images
                ]
                if message.text.strip():
                    parts.append({"type": "input_text", "text": message.text})
                yield {"role": "user", "content": parts}

    def _said(self, message: AssistantMessage) -> Iterator[dict[str, Any]]:
        calls = {call.call_id for call in message.tool_calls}
        if message.native is not None and message.native.kind == self._native_kind:
            for block in message.native.blocks:
                if (
                    block.get("type") != "function_call"
                    or block.get("call_id") in calls
                ):
                    yield dict(block)
            return
        if message.text.strip():
            yield {"role": "assistant", "content": message.text}
        for call in message.tool_calls:
            yield {
                "type": "function_call",
                "call_id": call.call_id,
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments or {}), ensure_ascii=False),
            }


class ResponsesReply:
    """One answer as it comes in, event by event."""

    def __init__(self, config: ProviderConfig, native_kind: str) -> None:
        self.usage = Usage()
        self.done = False
        self._config = config
        self._native_kind = native_kind
        self._reason: StopReason | None = None
        self._calls: dict[int, dict[str, str]] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._refused = False
        self._characters = Characters()

    @property
    def complete(self) -> bool:
        """Whether the answer is whole."""
        return self._reason is not None

    def take(self, event: Any) -> Iterator[Event]:
        """Take one event of the SDK's in, and yield what it has for the listener.

        Raises ProviderError for a failure the server reports.
        """
        kind: str = event.type
        if kind in _FAILED:
            raise self._failure(event)
        match kind:
            case "response.output_text.delta":
                if text := self._characters.feed(event.delta):
                    yield TextDelta(text)
            case "response.refusal.delta":
                self._refused = True
                yield TextDelta(whole(event.delta))
            case (
                "response.reasoning_summary_text.delta"
                | "response.reasoning_text.delta"
            ):
                if event.delta:
                    yield ThinkingDelta(whole(event.delta))
            case "response.output_text.done":
                if rest := self._characters.rest():
                    yield TextDelta(rest)
            case "response.output_item.added":
                if event.item.type == "function_call":
                    self._calls[event.output_index] = {
                        "id": event.item.call_id or "",
                        "name": event.item.name or "",
                        "arguments": event.item.arguments or "",
                    }
            case "response.function_call_arguments.delta":
                self._calls[event.output_index]["arguments"] += event.delta
            case "response.function_call_arguments.done":
                self._calls[event.output_index]["arguments"] = event.arguments
            case "response.output_item.done":
                self._item_done(event.output_index, event.item)
            case "response.completed" | "response.incomplete":
                self._end(event.response)

    def _item_done(self, index: int, item: Any) -> None:
        block = item.to_dict(exclude_none=True)
        if item.type == "function_call":
            self._calls[index] = {
                "id": item.call_id or "",
                "name": item.name or "",
                "arguments": item.arguments or "",
            }
        if item.type != "reasoning":
            # Ids name what is stored at the provider's, and nothing is.
            block.pop("id", None)
        block.pop("status", None)
        self._items[index] = block

    def _end(self, response: Any) -> None:
        self.done = True
        self._reason = StopReason.END
        if response.incomplete_details is not None:
            filtered = response.incomplete_details.reason == "content_filter"
            self._reason = StopReason.REFUSAL if filtered else StopReason.LENGTH
        elif self._refused:
            self._reason = StopReason.REFUSAL
        elif self._calls:
            self._reason = StopReason.TOOL_USE
        usage = response.usage
        if usage is None:
            return
        details = usage.input_tokens_details
        cached = int(getattr(details, "cached_tokens", None) or 0)
        written = int(getattr(details, "cache_write_tokens", None) or 0)
        self.usage = Usage(
            input_tokens=max(0, int(usage.input_tokens or 0) - cached - written),
            output_tokens=int(usage.output_tokens or 0),
            cache_read_tokens=cached,
            cache_write_tokens=written,
        )

    def _failure(self, event: Any) -> Exception:
        error = event.response.error if event.type == "response.failed" else event
        return error_of(
            self._config,
            str(getattr(error, "code", "") or ""),
            str(getattr(error, "message", "") or ""),
        )

    def end(self) -> Iterable[Event]:
        """Yield what only the whole answer tells: calls, native blocks, the reason."""
        for _, call in sorted(self._calls.items()):
            raw = whole(call["arguments"])
            yield ToolCall(
                call["id"] or f"call_{uuid4().hex[:24]}",
                call["name"],
                parse_arguments(raw),
                raw,
            )
        blocks = [self._items[index] for index in sorted(self._items)]
        kinds = {block["type"] for block in blocks}
        sealed = all(
            "encrypted_content" in b for b in blocks if b["type"] == "reasoning"
        )
        if kinds - {"message", "function_call"} and sealed:
            yield Native(self._native_kind, tuple(blocks))
        yield Stop(self._reason or StopReason.END)
