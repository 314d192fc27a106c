"""One message of Anthropic's API as it comes in, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .protocol import (
    Event,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    Usage,
)
from .wire import Characters, parse_arguments, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

_STOPS: Final = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "pause_turn": StopReason.END,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
}


class AnthropicReply:
    """Takes the SDK's events in, and knows the message they make."""

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
