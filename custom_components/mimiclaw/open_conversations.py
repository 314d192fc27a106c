"""The conversations that are going on: one turn at a time each, nothing kept for long."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .message import Message
    from .open_question import OpenQuestion


@dataclass(slots=True)
class Conversation:
    """What is kept of a conversation between its turns, in memory only."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    #: What the last answer asked the person.
    question: OpenQuestion | None = None
    #: The last turn's lines on their way to the disk: the reply does not wait for it.
    writing: asyncio.Task[None] | None = None

    @property
    def waits(self) -> bool:
        """Tell whether the next message may be an answer to a question of ours."""
        return self.question is not None and not self.question.over


class OpenConversations:
    """Gives a message its conversation, when the one before it is through."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: dict[tuple[str, str], Conversation] = defaultdict(Conversation)

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._open)

    @asynccontextmanager
    async def turn_of(self, message: Message) -> AsyncGenerator[Conversation]:
        """Wait for the conversation's turn; forget the conversation when it is idle.

        A turn beside the conversation gets nothing of what is kept between turns.
        """
        if message.aside:
            yield Conversation()
            return
        for key in list(self._open):
            # Questions that nobody answered in time.
            self.forget_if_idle(key)
        conversation = self._open[message.key]
        conversation.users += 1
        try:
            async with conversation.lock:
                await _written(conversation)
                yield conversation
        finally:
            conversation.users -= 1
            self.forget_if_idle(message.key)

    def forget_if_idle(self, key: tuple[str, str]) -> None:
        """Keep nothing of a conversation that waits for nobody and nothing."""
        conversation = self._open.get(key)
        if conversation is None or conversation.users or conversation.waits:
            return
        if conversation.writing is None or conversation.writing.done():
            del self._open[key]


async def _written(conversation: Conversation) -> None:
    """Wait until the last turn's lines are on the disk."""
    if conversation.writing is not None:
        await asyncio.wait([conversation.writing])
        conversation.writing = None
