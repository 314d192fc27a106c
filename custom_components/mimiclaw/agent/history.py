"""The last messages of a session as the provider wants them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..providers.protocol import AssistantMessage, ChatMessage, UserMessage
from ..workspace.sessions import SUMMARY

if TYPE_CHECKING:
    from ..workspace.sessions import SessionMessage

SUMMARY_HEAD = "[What was said earlier in this conversation, in short:]"


def messages(session: Iterable[SessionMessage]) -> tuple[ChatMessage, ...]:
    """Return user and assistant messages in turns, beginning with a user's.

    Tool calls live inside their turn only, so no result can be left without its call.
    Two messages of one role in a row (a crash between question and answer) become one:
    providers refuse them otherwise.
    """
    result: list[ChatMessage] = []
    for line in session:
        if not line.content.strip():
            continue
        if line.role == SUMMARY:
            # It stands for everything before it.
            result.clear()
            result.append(UserMessage(f"{SUMMARY_HEAD}\n{line.content}"))
            result.append(AssistantMessage("I have it in mind."))
            continue
        last = result[-1] if result else None
        if line.role == "user":
            if isinstance(last, UserMessage):
                result[-1] = UserMessage(f"{last.text}\n{line.content}")
            else:
                result.append(UserMessage(line.content))
        elif line.role == "assistant":
            if isinstance(last, AssistantMessage):
                result[-1] = AssistantMessage(f"{last.text}\n{line.content}")
            elif last is not None:
                result.append(AssistantMessage(line.content))
    if result and isinstance(result[-1], UserMessage):
        # Its answer never came; the new message would stand beside it.
        result.append(AssistantMessage("…"))
    return tuple(result)
