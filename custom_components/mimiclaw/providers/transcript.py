"""A conversation every provider accepts, whatever a crash left in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .protocol import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Goes into the place of a result that was never written.
INTERRUPTED = "No result: the turn was interrupted."


def valid(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return `messages` with every tool call answered once, right behind it.

    Results without a call are left out, missing ones are filled in, empty messages are
    dropped, and the first message is the person's. Two of one side in a row become one:
    the templates of local models want them to alternate.
    """
    out: list[ChatMessage] = []
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if isinstance(message, ToolResultMessage):
            continue
        if isinstance(message, UserMessage):
            if message.text.strip() or message.images:
                _append(out, message)
            continue
        if not out:
            continue
        calls = _unique(message.tool_calls)
        if not calls:
            if message.text.strip():
                _append(out, message)
            continue
        results: dict[str, ToolResultMessage] = {}
        while position < len(messages):
            follower = messages[position]
            if not isinstance(follower, ToolResultMessage):
                break
            results.setdefault(follower.call_id, follower)
            position += 1
        out.append(
            message
            if len(calls) == len(message.tool_calls)
            else replace(message, tool_calls=tuple(calls))
        )
        out.extend(
            results.get(call.call_id)
            or ToolResultMessage(call.call_id, call.name, INTERRUPTED, is_error=True)
            for call in calls
        )
    return out


def _append(out: list[ChatMessage], message: UserMessage | AssistantMessage) -> None:
    last = out[-1] if out else None
    if isinstance(message, UserMessage) and isinstance(last, UserMessage):
        out[-1] = UserMessage(_join(last, message), last.images + message.images)
    elif (
        isinstance(message, AssistantMessage)
        and isinstance(last, AssistantMessage)
        and not last.tool_calls
    ):
        out[-1] = AssistantMessage(_join(last, message))
    else:
        out.append(message)


def _join(
    first: UserMessage | AssistantMessage, second: UserMessage | AssistantMessage
) -> str:
    return "\n\n".join(text for text in (first.text, second.text) if text.strip())


def _unique(calls: Iterable[ToolCall]) -> list[ToolCall]:
    return list({call.call_id: call for call in calls}.values())
