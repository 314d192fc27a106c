"""One message of Telegram becomes a turn, and its reply messages of Telegram."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import datetime
import logging
import time
from typing import TYPE_CHECKING, Final

from homeassistant.core import Context
from homeassistant.util import dt as dt_util

from ..agent.parts import Calling, Done, Part, RoundStart
from ..fast_path.router import FastPath
from ..message import Message
from ..reply import Reply, changes_something
from .errors import ChannelError, Refused
from .limits import AT_ONCE_S, STALE_COMMAND_S
from .markdown import Piece, pieces, plain_pieces
from .showing import Showing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ..phrases import Phrases
    from ..providers.protocol import Image
    from .journal import Journal
    from .people_allowed import Guest
    from .ports import Assistant, Commander
    from .sender import Sender
    from .telegram_actions import Row
    from .update import Chat, Update

_LOGGER = logging.getLogger(__name__)

CHANNEL: Final = "telegram"
#: The same in every turn of a chat, so that the provider's cache holds.
_PRIVATE: Final = "You are writing in Telegram, in a private chat. Markdown is shown."
_GROUP: Final = (
    "You are writing in Telegram, in a group: everybody in it reads the answer. Markdown "
    "is shown."
)
_LATE: Final = (
    " The message was sent at {when}, while you were off, and reaches you only now. Do "
    "not act on it as if it were new: say so where it matters."
)


class Turns:
    """Has messages answered and their replies delivered, each once."""

    def __init__(
        self,
        assistant: Assistant,
        commander: Commander,
        phrases: Phrases,
        sender: Sender,
        journal: Journal,
        safe_tools: frozenset[str],
    ) -> None:
        """Take who answers, who sends and who remembers.

        `safe_tools` names the tools that move nothing, for messages that come late.
        """
        self._assistant = assistant
        self._commander = commander
        self._phrases = phrases
        self._sender = sender
        self._journal = journal
        self._safe_tools = safe_tools
        self._contexts: dict[tuple[int, str | None], Context] = {}
        self._no_drafts: set[int] = set()

    def context(self, chat: Chat, guest: Guest) -> Context:
        """Return the context of a chat: one and the same for all its turns."""
        key = (chat.chat_id, guest.user_id)
        if key not in self._contexts:
            self._contexts[key] = Context(user_id=guest.user_id)
        return self._contexts[key]

    async def answer(
        self,
        update: Update,
        guest: Guest,
        text: str,
        language: str,
        images: Sequence[Image] = (),
    ) -> None:
        """Answer one message."""
        late = time.time() - update.sent_at > STALE_COMMAND_S
        when = datetime.fromtimestamp(
            update.sent_at, dt_util.get_default_time_zone()
        ).strftime("%Y-%m-%d %H:%M")
        if late and self._is_command(text, language):
            said = await self._phrases.async_say(
                language, "telegram_late_command", {"when": when, "text": text[:200]}
            )
            await self.deliver(update, plain_pieces(said))
            return
        message = Message(
            text=text,
            channel=CHANNEL,
            conversation_id=update.chat.conversation_id,
            language=language,
            speaker=guest.speaker,
            context=self.context(update.chat, guest),
            images=tuple(images),
            extra_prompt=(_PRIVATE if update.chat.private else _GROUP)
            + (_LATE.format(when=when) if late else ""),
            system_turn=late,
            tools=self._safe_tools if late else None,
        )
        reply = await self._turn(update, message)
        if not reply.strip():
            reply = await self._phrases.async_say(language, "no_answer")
        await self.deliver(update, await asyncio.to_thread(pieces, reply))

    def _is_command(self, text: str, language: str) -> bool:
        """Tell whether the fast path would take it for a command."""
        router = FastPath(self._commander.grammar)
        return router.recognize(text, (language,), None) is not None

    async def _turn(self, update: Update, message: Message) -> str:
        """Run the turn and show it; return the reply."""
        await self._journal.stage(update.key, "run")

        async def say(key: str) -> str:
            return await self._phrases.async_say(message.language, key)

        chat_id = update.chat.chat_id
        showing = Showing(
            self._sender,
            update.chat,
            abs(update.message_id) % (2**31 - 2) + 1,
            say,
            drafts=update.chat.private and chat_id not in self._no_drafts,
        )
        reply = Reply()
        try:
            async with aclosing(self._assistant.handle(message)) as parts:
                await self._follow(update, parts, reply, showing)
        finally:
            await showing.end()
            if not showing.drafts:
                self._no_drafts.add(chat_id)
        return reply.text

    async def _follow(
        self,
        update: Update,
        parts: AsyncGenerator[Part],
        reply: Reply,
        showing: Showing,
    ) -> None:
        """Take the parts as they come, and note what a restart has to know."""
        notes: set[asyncio.Task[None]] = set()
        loop = asyncio.get_running_loop()

        def thinking() -> None:
            note = loop.create_task(self._journal.stage(update.key, "think"))
            notes.add(note)
            note.add_done_callback(notes.discard)

        timer: asyncio.TimerHandle | None = None
        acting = False
        try:
            async for part in parts:
                reply.take(part)
                showing.part(part)
                if isinstance(part, RoundStart) and timer is None:
                    # A command is answered by now; what takes longer is a model's.
                    timer = loop.call_later(AT_ONCE_S, thinking)
                elif isinstance(part, Calling) and not acting:
                    if changes_something(part.call.name):
                        acting = True
                        if timer is not None:
                            timer.cancel()
                        await asyncio.gather(*notes)
                        await self._journal.stage(update.key, "act")
                elif isinstance(part, Done):
                    break
        finally:
            if timer is not None:
                timer.cancel()
            await asyncio.gather(*notes, return_exceptions=True)

    async def deliver(
        self,
        update: Update,
        messages: Sequence[Piece],
        rows: Sequence[Row] = (),
        *,
        first: int = 0,
    ) -> None:
        """Send the reply to an update, noting how much of it is out."""
        if first == 0:
            await self._journal.answer(
                update.key, [{"h": one.html, "t": one.text} for one in messages]
            )

        async def noted(count: int) -> None:
            await self._journal.sent(update.key, count)

        try:
            await self._sender.deliver(
                update.chat,
                messages,
                rows=rows,
                first=first,
                reply_to=None if update.chat.private else update.message_id,
                on_sent=noted,
            )
        except Refused as err:
            _LOGGER.warning("A reply was refused: %s", err)
        except ChannelError as err:
            raise Undelivered(str(err)) from err


class Undelivered(Exception):
    """The reply waits for the next start."""
