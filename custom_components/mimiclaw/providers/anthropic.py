"""Anthropic's Messages API, through its official SDK."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

from .anthropic_reply import AnthropicReply
from .errors import MalformedAnswerError
from .limits import MAX_CACHE_MARKS
from .protocol import (
    AssistantMessage,
    ChatMessage,
    Event,
    Image,
    Native,
    Request,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from .tool_schemas import ToolShelf
from .transcript import valid
from .wire import (
    WireProvider,
    refused_field,
    wire_events,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

_MARK: Final = {"type": "ephemeral"}

#: Tokens of thought on top of the answer's own, by `ProviderConfig.thinking`.
_BUDGET: Final = {"low": 1024, "medium": 4096, "high": 8192}

_THINKING_FIELDS: Final = ("thinking", "output_config", "budget_tokens", "effort")

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
            reply = AnthropicReply()
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
        self, body: dict[str, Any], request: Request, reply: AnthropicReply
    ) -> AsyncGenerator[Event]:
        events = wire_events(lambda: self._open(body, request), request, reply)
        try:
            async for event in events:
                for piece in reply.take(event):
                    yield piece
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
                # These are in the wire's own form already. As arguments the SDK would
                # look for something to convert in every schema of every tool, which
                # takes longer than all the rest of a request.
                ready = {
                    "messages": body["messages"],
                    **({"system": body["system"]} if body["system"] else {}),
                    **({"tools": tools} if tools else {}),
                    **({"tool_choice": body["tool_choice"]} if tools else {}),
                    **extra,
                }
                return await self._client.messages.create(
                    model=body["model"],
                    stream=body["stream"],
                    messages=[],
                    max_tokens=request.max_output_tokens
                    + (_BUDGET.get(self.config.thinking, 0) if extra else 0),
                    extra_body=ready,
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
