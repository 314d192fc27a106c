"""Anthropic's Messages API, through its official SDK."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

from .errors import MalformedAnswerError
from .limits import MAX_CACHE_MARKS
from .protocol import (
    AssistantMessage,
    ChatMessage,
    Event,
    Image,
    Native,
    Request,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from .tool_schemas import ToolShelf
from .transcript import valid
from .wire import (
    Characters,
    WireProvider,
    parse_arguments,
    refused_field,
    whole,
    wire_events,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

_MARK: Final = {"type": "ephemeral"}

#: Tokens of thought on top of the answer's own, by `ProviderConfig.thinking`.
_BUDGET: Final = {"low": 1024, "medium": 4096, "high": 8192}

_STOPS: Final = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "pause_turn": StopReason.END,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
}

#: How often an answer that pauses for the provider's own web search is taken up again.
_MAX_PAUSES: Final = 3

_WEB_SEARCH: Final = {
    "type": "web_search_20250305",
    "name": "web_search",
    "max_uses": 5,
}


class AnthropicProvider(WireProvider):
    """Claude, or a server that speaks Anthropic's format."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._shelf = ToolShelf()
        self._native_kind = f"anthropic/{self.config.model}"
        # Ways to ask for thought, the newest first; models know different ones.
        self._thinking = _thinking_ladder(self.config.thinking)
        self._web_search = self.config.web_search

    async def _answer(self, request: Request) -> AsyncGenerator[Event]:
        body = await self._body(request)
        question = body["messages"]
        said: list[dict[str, Any]] = []
        needs_native = False
        for _ in range(_MAX_PAUSES):
            reply = _Reply()
            answer = self._one_answer(body, request, reply)
            try:
                async for event in answer:
                    yield event
            finally:
                await answer.aclose()
            said += reply.blocks()
            needs_native = needs_native or reply.needs_native
            if reply.stop_reason != "pause_turn":
                break
            body["messages"] = [*question, {"role": "assistant", "content": said}]
        for call in reply.calls():
            yield call
        if needs_native:
            yield Native(self._native_kind, tuple(said))
        yield reply.stop()

    async def _one_answer(
        self, body: dict[str, Any], request: Request, reply: _Reply
    ) -> AsyncGenerator[Event]:
        events = wire_events(
            lambda: self._open(body, request), request, lambda: reply.complete
        )
        try:
            async for event in events:
                for piece in reply.take(event):
                    yield piece
                if reply.done:
                    break
        except Exception:
            if not reply.complete:
                if reply.usage != Usage():
                    yield reply.usage
                raise
            # Everything was said; only the good-bye is missing.
        finally:
            await events.aclose()
        if not reply.complete:
            if reply.usage != Usage():
                yield reply.usage
            raise MalformedAnswerError("the stream ended in the middle of the answer")
        if reply.usage != Usage():
            yield reply.usage

    async def _open(self, body: dict[str, Any], request: Request) -> Any:
        """Send the request, without what this model turns out not to know."""
        while True:
            extra = self._thinking[0] if self._thinking else {}
            tools = _offered(body["tools"], native_search=self._web_search)
            try:
                return await self._client.messages.create(
                    **{key: body[key] for key in ("model", "messages", "stream")},
                    **({"system": body["system"]} if body["system"] else {}),
                    **({"tools": tools} if tools else {}),
                    **({"tool_choice": body["tool_choice"]} if tools else {}),
                    max_tokens=request.max_output_tokens
                    + (_BUDGET.get(self.config.thinking, 0) if extra else 0),
                    extra_body=extra or None,
                    timeout=self._timeout(request),
                )
            except Exception as err:
                if extra and refused_field(
                    err, ("thinking", "output_config", "effort")
                ):
                    self._thinking = self._thinking[1:]
                elif self._web_search and refused_field(err, ("web_search",)):
                    self._web_search = False
                else:
                    raise

    async def _body(self, request: Request) -> dict[str, Any]:
        messages = valid(request.messages)
        if any(isinstance(m, UserMessage) and m.images for m in messages):
            converted = await asyncio.to_thread(self._messages, messages)
        else:
            converted = self._messages(messages)
        tools: list[dict[str, Any]] = [
            {"name": spec.name, "description": spec.description, "input_schema": schema}
            for spec, schema in self._shelf.usable(_tools(request, messages))
        ]
        if self._web_search:
            tools.append(dict(_WEB_SEARCH))
        return {
            "model": self.config.model,
            "stream": True,
            "system": _system(request),
            "messages": converted,
            "tools": tools,
            # Tools that are only spoken of must not be called.
            "tool_choice": {
                "type": "none" if tools and not request.tools else request.tool_choice
            },
        }

    def _messages(self, messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for message in messages:
            if isinstance(message, AssistantMessage):
                out.append({"role": "assistant", "content": self._said(message)})
                continue
            if isinstance(message, ToolResultMessage):
                content: list[dict[str, Any]] = [
                    {
                        "type": "tool_result",
                        "tool_use_id": message.call_id,
                        "content": message.text or "(nothing)",
                        **({"is_error": True} if message.is_error else {}),
                    }
                ]
            else:
                content = [_picture(image) for image in message.images]
                if message.text.strip():
                    content.append({"type": "text", "text": message.text})
            if out and out[-1]["role"] == "user":
                out[-1]["content"].extend(content)
            else:
                out.append({"role": "user", "content": content})
        if out and out[-1]["role"] == "user":
            out[-1]["content"][-1]["cache_control"] = _MARK
        return out

    def _said(self, message: AssistantMessage) -> list[dict[str, Any]]:
        calls = {call.call_id for call in message.tool_calls}
        if message.native is not None and message.native.kind == self._native_kind:
            return [
                dict(block)
                for block in message.native.blocks
                if block.get("type") != "tool_use" or block.get("id") in calls
            ]
        blocks: list[dict[str, Any]] = []
        if message.text.strip():
            blocks.append({"type": "text", "text": message.text})
        blocks.extend(
            {
                "type": "tool_use",
                "id": call.call_id,
                "name": call.name,
                "input": dict(call.arguments or {}),
            }
            for call in message.tool_calls
        )
        return blocks


def _thinking_ladder(level: str) -> list[dict[str, Any]]:
    if not level:
        return []
    if level == "off":
        return [{"thinking": {"type": "disabled"}}]
    return [
        {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": level},
        },
        {"thinking": {"type": "enabled", "budget_tokens": _BUDGET[level]}},
    ]


def _offered(
    tools: list[dict[str, Any]], *, native_search: bool
) -> list[dict[str, Any]]:
    """Return the tools with one web search: the provider's own if it has one."""
    return [
        tool
        for tool in tools
        if tool["name"] != "web_search" or ("type" in tool) is native_search
    ]


def _tools(request: Request, messages: Iterable[ChatMessage]) -> list[ToolSpec]:
    """Return the tools to declare: with none offered, those the messages speak of."""
    if request.tools:
        return list(request.tools)
    names = {
        call.name
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    return [ToolSpec(name, "Not available now.", {}) for name in sorted(names)]


def _system(request: Request) -> list[dict[str, Any]]:
    """Return the layers, with marks where a cacheable prefix ends."""
    parts = [part for part in request.system if part.text.strip()]
    stable = [number for number, part in enumerate(parts) if part.stable]
    # One mark is kept for the last message. The first layer changes least of all, the
    # last one closes the longest prefix.
    room = MAX_CACHE_MARKS - 1
    marked = set(stable if len(stable) <= room else [stable[0], *stable[1 - room :]])
    return [
        {
            "type": "text",
            "text": part.text,
            **({"cache_control": _MARK} if number in marked else {}),
        }
        for number, part in enumerate(parts)
    ]


def _picture(image: Image) -> dict[str, Any]:
    return {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": image.media_type,
            "data": b64encode(image.data).decode("ascii"),
        },
    }


class _Reply:
    """One message as it comes in, block by block."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.stop_reason: str | None = None
        self.done = False
        self.needs_native = False
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._open_blocks: set[int] = set()
        self._characters = Characters()

    @property
    def complete(self) -> bool:
        """Whether the answer is whole, with or without its last event."""
        return self.stop_reason is not None and not self._open_blocks

    def take(self, event: Any) -> Iterable[Event]:
        """Take one event of the SDK's in, and yield what it has for the listener."""
        match event.type:
            case "message_start":
                self._count(event.message.usage)
            case "content_block_start":
                yield from self._start(event.index, event.content_block)
            case "content_block_delta":
                yield from self._delta(event.index, event.delta)
            case "content_block_stop":
                if rest := self._characters.rest():
                    yield TextDelta(rest)
                self._open_blocks.discard(event.index)
            case "message_delta":
                self.stop_reason = event.delta.stop_reason
                if event.usage is not None:
                    self._count(event.usage)
            case "message_stop":
                self.done = True

    def _start(self, index: int, block: Any) -> Iterable[Event]:
        self._open_blocks.add(index)
        match block.type:
            case "text":
                self._blocks[index] = {"type": "text", "text": block.text or ""}
                if block.text:
                    yield TextDelta(whole(block.text))
            case "thinking":
                self.needs_native = True
                self._blocks[index] = {
                    "type": "thinking",
                    "thinking": block.thinking or "",
                    "signature": block.signature or "",
                }
            case "tool_use":
                self._blocks[index] = {
                    "type": "tool_use",
                    "id": block.id,
                    "name": block.name,
                    "input": block.input or {},
                }
                self._inputs[index] = ""
            case _:
                # Redacted thoughts, the provider's own tools: kept as they are.
                self.needs_native = True
                self._blocks[index] = block.to_dict()
                if "input" in self._blocks[index]:
                    self._inputs[index] = ""

    def _delta(self, index: int, delta: Any) -> Iterable[Event]:
        block = self._blocks[index]
        match delta.type:
            case "text_delta":
                text = self._characters.feed(delta.text)
                block["text"] = block["text"] + text
                if text:
                    yield TextDelta(text)
            case "thinking_delta":
                block["thinking"] = block["thinking"] + delta.thinking
                if delta.thinking:
                    yield ThinkingDelta(whole(delta.thinking))
            case "signature_delta":
                block["signature"] = delta.signature
            case "input_json_delta":
                self._inputs[index] += delta.partial_json

    def _count(self, usage: Any) -> None:
        """Take in figures that are each the sum so far; what is not named stays."""
        self.usage = Usage(
            *(
                before if now is None else int(now)
                for before, now in (
                    (self.usage.input_tokens, usage.input_tokens),
                    (self.usage.output_tokens, usage.output_tokens),
                    (self.usage.cache_read_tokens, usage.cache_read_input_tokens),
                    (self.usage.cache_write_tokens, usage.cache_creation_input_tokens),
                )
            )
        )

    def calls(self) -> list[ToolCall]:
        """Return the calls of this message."""
        out = []
        for index, block in sorted(self._blocks.items()):
            if block["type"] != "tool_use":
                continue
            raw = whole(self._inputs[index])
            # A server that imitates may send the arguments at once, with the start.
            arguments = parse_arguments(raw) if raw else block["input"]
            out.append(ToolCall(block["id"], block["name"], arguments, raw))
        return out

    def blocks(self) -> list[dict[str, Any]]:
        """Return the message as the API wants it back."""
        out = []
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "text" and not block["text"].strip():
                continue
            if self._inputs.get(index):
                arguments = parse_arguments(whole(self._inputs[index]))
                out.append({**block, "input": arguments or {}})
            else:
                out.append(block)
        return out

    def stop(self) -> Stop:
        """Return why it stopped."""
        reason = _STOPS.get(self.stop_reason or "", StopReason.END)
        has_calls = any(block["type"] == "tool_use" for block in self._blocks.values())
        if reason is StopReason.TOOL_USE and not has_calls:
            reason = StopReason.END
        elif reason is StopReason.END and has_calls:
            reason = StopReason.TOOL_USE
        return Stop(reason)
