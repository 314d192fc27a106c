"""Where an answer goes that nobody waits for: a chat, a device that speaks, a notification."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from homeassistant.components import persistent_notification
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.exceptions import HomeAssistantError

from .channels.errors import ChannelError
from .channels.markdown import formatted, pieces
from .schedule.limits import ANNOUNCE_S
from .schedule.targets import (
    ANNOUNCE,
    NOTIFICATION,
    NOTIFY,
    TELEGRAM,
    TITLE,
    Target,
    Undeliverable,
    parse_target,
)

if TYPE_CHECKING:
    from homeassistant.core import Context, HomeAssistant

    from .channels.telegram import TelegramChannel

_LOGGER = logging.getLogger(__name__)


class Delivery:
    """Brings texts to people."""

    def __init__(
        self, hass: HomeAssistant, telegram: TelegramChannel, default: str = ""
    ) -> None:
        """Take the Telegram channel, and the target of what has none of its own."""
        self._hass = hass
        self._telegram = telegram
        self._default = parse_target(default) if default else None

    def target_for(self, channel: str, number: str, person: str | None) -> Target:
        """Return where a job of a channel and its id delivers.

        A conversation of Assist cannot be reached later, so its jobs go to the person's
        own chat, else to where the options say.
        """
        if channel == TELEGRAM and number:
            return Target(TELEGRAM, number)
        if channel in {NOTIFY, ANNOUNCE}:
            return Target(channel, number)
        if channel == NOTIFICATION:
            return Target(NOTIFICATION)
        return self.target_of(person)

    def target_of(self, person: str | None) -> Target:
        """Return where a person, or the household, is reached."""
        if person is not None:
            chat_id = self._telegram.allowed.chat_of(person)
            if chat_id is not None:
                return Target(TELEGRAM, str(chat_id))
        return self._default or Target(NOTIFICATION)

    def find(self, wanted: str, person: str | None) -> Target | None:
        """Return what a model's word for a target means; None for what it may not reach.

        "telegram" is the person's own chat. No chat can be named by its number: a model
        makes numbers up.
        """
        word = wanted.strip().lower()
        if word == TELEGRAM:
            chat_id = self._telegram.allowed.chat_of(person)
            return None if chat_id is None else Target(TELEGRAM, str(chat_id))
        if word in {"notification", NOTIFICATION}:
            return Target(NOTIFICATION)
        target = parse_target(word)
        if target is None or target.channel == TELEGRAM:
            return None
        return target if self._hass.states.get(target.id) is not None else None

    async def deliver(
        self,
        target: Target,
        text: str,
        *,
        title: str = TITLE,
        context: Context | None = None,
    ) -> None:
        """Bring a Markdown text to a target.

        Raises Undeliverable; the text then stands in a persistent notification.
        """
        try:
            await self._bring(target, text, title, context)
        except (ChannelError, HomeAssistantError, TimeoutError) as err:
            reason = str(err) or type(err).__name__
            _LOGGER.warning("%s was not reached: %s", target, reason)
            persistent_notification.async_create(self._hass, text, title)
            raise Undeliverable(f"{target}: {reason}") from err

    async def _bring(
        self, target: Target, text: str, title: str, context: Context | None
    ) -> None:
        if target.channel == TELEGRAM:
            chat = self._telegram.chat(target.id)
            if chat is None:
                raise ChannelError("There is no such chat, or no bot")
            await self._telegram.send(chat, await asyncio.to_thread(pieces, text))
        elif target.channel == NOTIFY:
            plain = (await asyncio.to_thread(formatted, text)).text
            data = {ATTR_ENTITY_ID: target.id, "message": plain, "title": title}
            await self._call(NOTIFY, "send_message", data, context)
        elif target.channel == ANNOUNCE:
            spoken = (await asyncio.to_thread(formatted, text)).text
            data = {ATTR_ENTITY_ID: target.id, "message": spoken}
            await self._call(ANNOUNCE, "announce", data, context)
        else:
            persistent_notification.async_create(self._hass, text, title)

    async def _call(
        self, domain: str, action: str, data: dict[str, str], context: Context | None
    ) -> None:
        if self._hass.states.get(data[ATTR_ENTITY_ID]) is None:
            raise ChannelError(f"There is no {data[ATTR_ENTITY_ID]}")
        async with asyncio.timeout(ANNOUNCE_S):
            await self._hass.services.async_call(
                domain, action, data, blocking=True, context=context
            )
