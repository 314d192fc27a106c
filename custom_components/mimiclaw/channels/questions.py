"""Questions of an automation to a person, with buttons; the answer goes back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
import secrets
from typing import TYPE_CHECKING, Final

from .errors import ChannelError
from .markdown import plain_pieces

if TYPE_CHECKING:
    from .sender import Sender
    from .telegram_actions import Row
    from .update import Chat, Update

#: What our buttons carry begins so.
ANSWER: Final = "mc:q:"


@dataclass(frozen=True, slots=True)
class Given:
    """An answer: the words, and which of the offered ones it is (None for own words)."""

    text: str
    number: int | None
    user_id: int


@dataclass(slots=True)
class _Question:
    chat: Chat
    answers: Sequence[str]
    given: asyncio.Future[Given] = field(repr=False)


class Questions:
    """Knows the questions that are open."""

    def __init__(self, sender: Sender) -> None:
        """Take who sends."""
        self._sender = sender
        self._open: dict[str, _Question] = {}

    async def ask(
        self, chat: Chat, text: str, answers: Sequence[str], deadline_s: float
    ) -> Given | None:
        """Ask and wait; return None when nobody answered in time. Raises ChannelError.

        Without `answers` the next message in the chat is the answer.
        """
        mark = secrets.token_hex(4)
        question = _Question(chat, answers, asyncio.get_running_loop().create_future())
        self._open[mark] = question
        rows: list[Row] = [
            ((answer[:60] or "…", f"{ANSWER}{mark}:{number}"),)
            for number, answer in enumerate(answers)
        ]
        given: Given | None = None
        try:
            message_id = await self._sender.deliver(chat, plain_pieces(text), rows=rows)
            try:
                async with asyncio.timeout(deadline_s):
                    given = await question.given
            except TimeoutError:
                given = None
        finally:
            self._open.pop(mark, None)
        if rows and message_id is not None:
            await self._close(chat, message_id, text, given)
        return given

    async def _close(
        self, chat: Chat, message_id: int, text: str, given: Given | None
    ) -> None:
        """Take the buttons away and show what was chosen."""
        end = f"✓ {given.text}" if given is not None else "⌛"
        piece = plain_pieces(f"{text}\n\n{end}")[-1]
        try:
            await self._sender.actions.edit(chat, message_id, piece)
        except ChannelError:
            # The answer counts, not how the message looks.
            return

    def press(self, update: Update) -> str | None:
        """Take the press of a button; return what was chosen, None if it is too late."""
        mark, _, number = update.text.removeprefix(ANSWER).partition(":")
        question = self._open.get(mark)
        if (
            question is None
            or question.given.done()
            or question.chat.chat_id != update.chat.chat_id
            or not number.isdecimal()
            or int(number) >= len(question.answers)
        ):
            return None
        chosen = question.answers[int(number)]
        question.given.set_result(Given(chosen, int(number), update.user_id))
        return chosen

    def typed(self, update: Update) -> bool:
        """Tell whether a message is the answer to an open question of its chat."""
        said = update.text.strip()
        for question in self._open.values():
            if question.given.done() or question.chat.chat_id != update.chat.chat_id:
                continue
            for number, answer in enumerate(question.answers):
                if answer.casefold() == said.casefold():
                    question.given.set_result(Given(answer, number, update.user_id))
                    return True
            if not question.answers and said:
                question.given.set_result(Given(said, None, update.user_id))
                return True
        return False
