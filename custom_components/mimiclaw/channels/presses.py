"""Buttons under our own messages: relays and models."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from .commands import MODEL, Commands
from .errors import ChannelError, NotModified
from .markdown import Piece, plain_pieces
from .relay_buttons import PRESS, REFRESH, YES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..phrases import Phrases
    from .telegram_actions import Row, TelegramActions
    from .update import Update

_LOGGER = logging.getLogger(__name__)


class Presses:
    """Carries out a press, ends the waiting sign, brings the message up to date."""

    def __init__(
        self, actions: TelegramActions, commands: Commands, phrases: Phrases
    ) -> None:
        """Take the actions and the commands whose buttons these are."""
        self._actions = actions
        self._commands = commands
        self._phrases = phrases

    async def press(self, update: Update, language: str) -> None:
        """Do what a button says."""
        if update.text.startswith((PRESS, YES)):
            await self._relay(update, language)
        elif update.text == REFRESH:
            await self._redraw(update, language)
            await self._end(update, "↻")
        elif update.text.startswith(MODEL):
            await self._model(update, language)
        # Any other button is another automation's.

    async def _relay(self, update: Update, language: str) -> None:
        said, rows = await self._commands.relays.press(update.text, language)
        await self._end(update, said)
        if rows:
            await self._edit(update, plain_pieces(said)[0], rows)
        else:
            await self._redraw(update, language, said)

    async def _redraw(self, update: Update, language: str, said: str = "") -> None:
        piece, rows = await self._commands.relays.draw(language)
        if said:
            first = plain_pieces(said)[0]
            piece = Piece(
                f"{piece.html}\n\n{first.html}", f"{piece.text}\n\n{first.text}"
            )
        await self._edit(update, piece, rows)

    async def _model(self, update: Update, language: str) -> None:
        number = update.text.removeprefix(MODEL)
        done = number.isdecimal() and await self._commands.switch_model(int(number))
        key = "telegram_model" if done else "telegram_button_old"
        name = self._commands.active_model
        text = await self._phrases.async_say(language, key, {"name": name})
        await self._end(update, text)
        if done:
            await self._edit(update, plain_pieces(text)[0], self._commands.model_rows())

    async def _end(self, update: Update, text: str) -> None:
        try:
            await self._actions.answer_press(update.chat, update.callback_id, text)
        except ChannelError as err:
            _LOGGER.debug("A press was not answered: %s", err)

    async def _edit(self, update: Update, piece: Piece, rows: Sequence[Row]) -> None:
        try:
            await self._actions.edit(update.chat, update.message_id, piece, rows)
        except NotModified:
            return
        except ChannelError as err:
            _LOGGER.warning("A message was not brought up to date: %s", err)
