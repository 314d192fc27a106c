"""Gets a reply to a chat, whatever Telegram says on the way."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
import logging
import time

from .errors import BadMarkup, Refused, TryLater, Unreachable
from .limits import DELIVER_FOR_S, RETRY_AFTER_MAX_S, RETRY_S
from .markdown import Piece
from .telegram_actions import Row, TelegramActions
from .update import Chat

_LOGGER = logging.getLogger(__name__)


class Sender:
    """Sends pieces in order; waits when told to, falls back to plain text."""

    def __init__(
        self, actions: TelegramActions, sent: Callable[[int, int], None]
    ) -> None:
        """Take the actions, and who is told of each message: chat and message id."""
        self.actions = actions
        self._sent = sent
        #: Until when a chat wants no message, in monotonic seconds.
        self._quiet: defaultdict[int, float] = defaultdict(float)

    def quiet_for(self, chat: Chat) -> float:
        """Return for how many seconds Telegram wants nothing for this chat."""
        return max(0.0, self._quiet[chat.chat_id] - time.monotonic())

    def told_to_wait(self, chat: Chat, wait_s: float) -> None:
        """Note what Telegram asked for."""
        until = time.monotonic() + wait_s
        self._quiet[chat.chat_id] = max(self._quiet[chat.chat_id], until)

    async def deliver(
        self,
        chat: Chat,
        pieces: Sequence[Piece],
        *,
        rows: Sequence[Row] = (),
        first: int = 0,
        reply_to: int | None = None,
        on_sent: Callable[[int], Awaitable[None]] | None = None,
    ) -> int | None:
        """Send pieces from number `first` on; return the id of the last message.

        `rows` are the buttons under the last piece, `on_sent` is told how many pieces
        are out after each. Raises Refused at once, or Unreachable and TryLater when it
        did not work for a quarter of an hour.
        """
        number: int | None = None
        for count, piece in enumerate(pieces):
            if count < first:
                continue
            last = count == len(pieces) - 1
            number = await self._one(
                chat,
                piece,
                rows if last else (),
                reply_to if count == 0 else None,
            )
            if on_sent is not None:
                await on_sent(count + 1)
        return number

    async def _one(
        self, chat: Chat, piece: Piece, rows: Sequence[Row], reply_to: int | None
    ) -> int | None:
        ends = time.monotonic() + DELIVER_FOR_S
        attempt = 0
        plain = False
        while True:
            if wait := self.quiet_for(chat):
                await asyncio.sleep(wait)
            try:
                number = await self.actions.send(
                    chat, piece, plain=plain, rows=rows, reply_to=reply_to
                )
            except BadMarkup as err:
                if plain:
                    raise Refused(str(err)) from err
                _LOGGER.warning("Sent as plain text: %s", err)
                plain = True
            except TryLater as err:
                self.told_to_wait(chat, err.wait_s)
                if err.wait_s > RETRY_AFTER_MAX_S or time.monotonic() > ends:
                    raise
            except Unreachable as err:
                if time.monotonic() > ends:
                    raise
                _LOGGER.info("Sent again in a moment: %s", err)
                await asyncio.sleep(RETRY_S[min(attempt, len(RETRY_S) - 1)])
                attempt += 1
            except Refused as err:
                if reply_to is None or "repl" not in str(err).lower():
                    raise
                # What it answers was deleted meanwhile.
                reply_to = None
            else:
                if number is not None:
                    self._sent(chat.chat_id, number)
                return number
