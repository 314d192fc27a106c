"""What a person sees while an answer is being made: typing, drafts, what is being done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from html import escape
import logging
import time
from typing import TYPE_CHECKING, Final

from ..agent.parts import Called, Calling, Part, Text
from ..reply import Reply
from .errors import BadMarkup, ChannelError, NotModified, Refused, TryLater
from .limits import (
    AT_ONCE_S,
    DRAFT_EVERY_S,
    END_S,
    STATUS_AFTER_S,
    STATUS_EVERY_S,
    TYPING_EVERY_S,
)
from .markdown import Piece, pieces

if TYPE_CHECKING:
    from .sender import Sender
    from .update import Chat

_LOGGER = logging.getLogger(__name__)

#: What is said of a tool while it runs, by the beginning of its name.
_DOING: Final = (
    ("read_", "telegram_doing_read"),
    ("list_", "telegram_doing_read"),
    ("search_", "telegram_doing_search"),
    ("web_", "telegram_doing_web"),
    ("write_", "telegram_doing_write"),
    ("edit_", "telegram_doing_write"),
    ("append_", "telegram_doing_write"),
    ("gpio_", "telegram_doing_relay"),
    ("cron_", "telegram_doing_schedule"),
)
_DOING_ELSE: Final = "telegram_doing"


def doing(tool: str) -> str:
    """Return the key of the sentence for a tool at work."""
    return next((key for start, key in _DOING if tool.startswith(start)), _DOING_ELSE)


class Showing:
    """Shows one turn in one chat, and never slows the turn down."""

    def __init__(
        self,
        sender: Sender,
        chat: Chat,
        draft_id: int,
        say: Callable[[str], Awaitable[str]],
        *,
        drafts: bool,
    ) -> None:
        """Take where to show, and what puts a key into words. `draft_id` is at least 1."""
        self._sender = sender
        self._chat = chat
        self._draft_id = draft_id
        self._say = say
        #: False once this chat has refused a draft.
        self.drafts = drafts
        self._reply = Reply()
        self._doing = ""
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._ended = False
        self._status_id: int | None = None
        self._status: asyncio.Task[int | None] | None = None
        self._started = time.monotonic()

    def part(self, part: Part) -> None:
        """Take the next part; the first one begins the showing."""
        self._reply.take(part)
        if isinstance(part, Calling):
            self._doing = doing(part.call.name)
        elif isinstance(part, (Text, Called)):
            self._doing = ""
        if isinstance(part, (Text, Calling)):
            self._changed.set()
        if not self._tasks:
            create = asyncio.get_running_loop().create_task
            self._tasks = [
                create(self._type(), name="mimiclaw telegram typing"),
                create(self._show(), name="mimiclaw telegram drafts"),
            ]

    async def end(self) -> None:
        """Stop showing; nothing of it comes after the answer."""
        self._ended = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            # The library beneath may take a cancellation for its own affair.
            await asyncio.wait(self._tasks, timeout=END_S)
        if self._status is not None:
            await asyncio.wait({self._status}, timeout=END_S)
            self._keep_status_id(self._status)
        if self._status_id is not None:
            number, self._status_id = self._status_id, None
            await self._try(self._sender.actions.delete(self._chat, number))

    def _over(self) -> bool:
        return self._ended

    async def _type(self) -> None:
        # A command to a relay is answered before this is over.
        await asyncio.sleep(AT_ONCE_S)
        while not self._over():
            await self._try(self._sender.actions.typing(self._chat))
            if self._over():
                return
            await asyncio.sleep(TYPING_EVERY_S)

    async def _show(self) -> None:
        await self._changed.wait()
        await asyncio.sleep(AT_ONCE_S)
        shown = ""
        while not self._over():
            self._changed.clear()
            text = await self._text()
            pause = 0.0
            if text and text != shown:
                shown = text
                pause = await self._put(text)
            if self._over():
                return
            await asyncio.sleep(pause)
            await self._changed.wait()

    async def _text(self) -> str:
        said = self._reply.text
        if not self._doing:
            return said
        status = await self._say(self._doing)
        return f"{said}\n\n{status}" if said else status

    async def _put(self, text: str) -> float:
        """Show a text in the way the chat has; return for how long not to show another."""
        if self.drafts:
            return await self._put_draft(text)
        quiet = self._started + STATUS_AFTER_S - time.monotonic()
        if quiet > 0:
            await asyncio.sleep(quiet)
        if not self._doing:
            return 0.0
        return await self._put_status(await self._say(self._doing))

    async def _put_draft(self, text: str) -> float:
        shown = await asyncio.to_thread(pieces, text)
        if not shown:
            return DRAFT_EVERY_S
        try:
            await self._sender.actions.draft(self._chat, self._draft_id, shown[-1])
        except TryLater as err:
            self._sender.told_to_wait(self._chat, err.wait_s)
            return max(DRAFT_EVERY_S, err.wait_s)
        except BadMarkup:
            return DRAFT_EVERY_S
        except Refused as err:
            _LOGGER.info("No drafts in this chat: %s", err)
            self.drafts = False
        except ChannelError as err:
            _LOGGER.debug("A draft was not shown: %s", err)
        return DRAFT_EVERY_S

    async def _put_status(self, text: str) -> float:
        piece = Piece(escape(text, quote=False), text)
        try:
            if self._status_id is None:
                # Whoever ends this must not leave a message that nobody knows of.
                self._status = asyncio.get_running_loop().create_task(
                    self._sender.actions.send(self._chat, piece)
                )
                await asyncio.shield(self._status)
                self._keep_status_id(self._status)
            else:
                await self._sender.actions.edit(self._chat, self._status_id, piece)
        except NotModified:
            pass
        except TryLater as err:
            self._sender.told_to_wait(self._chat, err.wait_s)
            return max(STATUS_EVERY_S, err.wait_s)
        except ChannelError as err:
            _LOGGER.debug("The status was not shown: %s", err)
        return STATUS_EVERY_S

    def _keep_status_id(self, sent: asyncio.Task[int | None]) -> None:
        if sent.done() and not sent.cancelled() and sent.exception() is None:
            self._status_id = sent.result()
        self._status = None

    @staticmethod
    async def _try(work: Awaitable[None]) -> None:
        try:
            await work
        except ChannelError as err:
            _LOGGER.debug("Not shown: %s", err)
