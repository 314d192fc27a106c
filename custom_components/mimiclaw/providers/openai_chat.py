"""The chat completions format: what nearly every compatible server speaks."""

from __future__ import annotations

from base64 import b64encode
import json
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from .chat_dialect import LIMIT, ChatDialect
from .errors import MalformedAnswerError
from .protocol import (
    AssistantMessage,
    ChatMessage,
    Event,
    Image,
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
from .thinking_text import ThinkingText
from .transcript import valid
from .wire import Characters, parse_arguments, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .tool_schemas import ToolShelf

_STOPS: Final = {
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
}


class ChatFormat:
    """Requests and replies of `/chat/completions` for one server and model."""

    def __init__(
        self, config: ProviderConfig, shelf: ToolShelf, *, modern: bool
    ) -> None:
        self._config = config
        self._shelf = shelf
        self._native_kind = f"chat/{config.model}"
        self._dialect = ChatDialect(config.name, modern=modern)

    def body(self, request: Request) -> dict[str, Any]:
        """Return the request as this format has it."""
        messages: list[dict[str, Any]] = []
        system = "\n\n".join(part.text for part in request.system if part.text.strip())
        if system:
            # In one piece: the templates of many local models take only one.
            messages.append({"role": "system", "content": system})
        messages.extend(self._message(message) for message in valid(request.messages))
        body: dict[str, Any] = {
            "model": self._config.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "prompt_cache_key": request.cache_key,
            LIMIT: request.max_output_tokens,
        }
        tools = [
            {
                "type": "function",
                "function": {
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": schema,
                },
            }
            for spec, schema in self._shelf.usable(request.tools)
        ]
        if tools:
            body["tools"] = tools
            if request.tool_choice != "auto":
                body["tool_choice"] = request.tool_choice
        if self._config.thinking:
            level = self._config.thinking
            body["reasoning_effort"] = "none" if level == "off" else level
        return body

    async def open(self, client: Any, body: Mapping[str, Any], limits: Any) -> Any:
        """Send a request, without what this server turns out not to know.

        `limits` is the SDK's Timeout. Raises what the SDK raises.
        """
        while True:
            sent = self._dialect.fit(body)
            try:
                return await client.chat.completions.create(**sent, timeout=limits)
            except Exception as err:
                if not self._dialect.learn(err, sent):
                    raise

    def reply(self) -> ChatReply:
        """Return what takes one answer in."""
        return ChatReply(self._native_kind)

    def _message(self, message: ChatMessage) -> dict[str, Any]:
        if isinstance(message, ToolResultMessage):
            return {
                "role": "tool",
                "tool_call_id": message.call_id,
                "content": message.text,
            }
        if isinstance(message, AssistantMessage):
            out: dict[str, Any] = {"role": "assistant", "content": message.text}
            if message.tool_calls:
                out["tool_calls"] = [
                    {
                        "id": call.call_id,
                        "type": "function",
                        "function": {
                            "name": call.name,
                            "arguments": json.dumps(
                                dict(call.arguments or {}), ensure_ascii=False
                            ),
                        },
                    }
                    for call in message.tool_calls
                ]
            if message.native is not None and message.native.kind == self._native_kind:
                for block in message.native.blocks:
                    out.update(block)
            return out
        if not message.images:
            return {"role": "user", "content": message.text}
        parts: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": data_url(image)}}
            for image in message.images
        ]
        if message.text.strip():
            parts.append({"type": "text", "text": message.text})
        return {"role": "user", "content": parts}


def data_url(image: Image) -> str:
    """Return a picture as a URL that carries it."""
    return f"data:{image.media_type};base64,{b64encode(image.data).decode('ascii')}"


class ChatReply:
    """One answer as it comes in, chunk by chunk."""

    def __init__(self, native_kind: str) -> None:
        self.usage = Usage()
        self.done = False
        self.complete = False
        self._native_kind = native_kind
        self._finish: str | None = None
        self._refused = False
        self._thoughts = ""
        self._calls: dict[int, dict[str, str]] = {}
        self._spoken = ThinkingText()
        self._characters = Characters()

    def take(self, chunk: Any) -> Iterator[Event]:
        """Take one chunk of the SDK's in, and yield what it has for the listener."""
        if chunk.usage is not None:
            self._count(chunk.usage)
        for choice in (chunk.choices or ())[:1]:
            if choice.delta is not None:
                yield from self._delta(choice.delta)
            if choice.finish_reason == "error":
                raise MalformedAnswerError("the server broke the answer off")
            if choice.finish_reason and not self.complete:
                self._finish = choice.finish_reason
                self.complete = True
                if rest := self._characters.rest():
                    yield from self._spoken.feed(rest)
                yield from self._spoken.rest()

    def _delta(self, delta: Any) -> Iterator[Event]:
        # `reasoning_content` is DeepSeek's and wanted back; others say `reasoning`.
        thought = getattr(delta, "reasoning_content", None)
        if isinstance(thought, str):
            self._thoughts += thought
        else:
            thought = getattr(delta, "reasoning", None)
        if isinstance(thought, str) and thought:
            yield ThinkingDelta(whole(thought))
        if delta.content and (text := self._characters.feed(delta.content)):
            yield from self._spoken.feed(text)
        if delta.refusal:
            self._refused = True
            yield TextDelta(whole(delta.refusal))
        for position, call in enumerate(delta.tool_calls or ()):
            self._call(call, position)

    def _call(self, piece: Any, position: int) -> None:
        index = piece.index if piece.index is not None else position
        known = self._calls.get(index)
        if known is not None and piece.id and known["id"] not in ("", piece.id):
            # Servers that number every call 0 tell them apart by id.
            index = max(self._calls) + 1
            known = None
        if known is None:
            known = self._calls[index] = {"id": "", "name": "", "arguments": ""}
        elif not piece.id and piece.index is None:
            known = self._calls[max(self._calls)]
        if piece.id:
            known["id"] = piece.id
        function = piece.function
        if function is None:
            return
        # Most send the name once, some in pieces, some with every piece.
        if function.name and function.name != known["name"]:
            known["name"] += function.name
        if isinstance(function.arguments, str):
            known["arguments"] += function.arguments
        elif function.arguments:
            known["arguments"] += json.dumps(function.arguments)

    def _count(self, usage: Any) -> None:
        details = usage.prompt_tokens_details
        cached = int(getattr(details, "cached_tokens", None) or 0)
        written = int(getattr(details, "cache_write_tokens", None) or 0)
        self.usage = Usage(
            input_tokens=max(0, int(usage.prompt_tokens or 0) - cached - written),
            output_tokens=int(usage.completion_tokens or 0),
            cache_read_tokens=cached,
            cache_write_tokens=written,
        )

    def end(self) -> Iterable[Event]:
        """Yield what only the whole answer tells: calls, native blocks, the reason."""
        for _, call in sorted(self._calls.items()):
            if not call["name"]:
                continue
            raw = whole(call["arguments"])
            yield ToolCall(
                call["id"] or f"call_{uuid4().hex[:24]}",
                call["name"],
                parse_arguments(raw),
                raw,
            )
        if self._thoughts:
            yield Native(
                self._native_kind, ({"reasoning_content": whole(self._thoughts)},)
            )
        yield Stop(self._reason())

    def _reason(self) -> StopReason:
        if self._refused:
            return StopReason.REFUSAL
        reason = _STOPS.get(self._finish or "", StopReason.END)
        # Which word comes with calls differs from server to server: they decide.
        if reason is StopReason.END and any(c["name"] for c in self._calls.values()):
            return StopReason.TOOL_USE
        return reason
