"""/relays: a button for each relay with its real state; pressing one acts at once."""

from __future__ import annotations

from hashlib import blake2b
from html import escape
from typing import TYPE_CHECKING, Final

from ..satellite.model import Actor, Code
from ..satellite.refusals import refusal_placeholders
from .limits import BUTTONS
from .markdown import Piece

if TYPE_CHECKING:
    from ..phrases import Phrases
    from ..satellite.model import Channel, Command, Outcome
    from ..satellite.registry import Satellites
    from .telegram_actions import Row

#: What our buttons carry begins so: relay, relay after a yes, refresh.
PRESS: Final = "mc:r:"
YES: Final = "mc:y:"
REFRESH: Final = "mc:f"

#: Whose rights a press has: a person's who commands.
ACTOR: Final[Actor] = "fast_path"

_ON, _OFF, _UNKNOWN = "🟢", "⚪️", "❔"


class RelayButtons:
    """Draws the relays and carries out what is pressed, as the fast path does."""

    def __init__(self, satellites: Satellites, phrases: Phrases) -> None:
        """Take the satellites and our sentences."""
        self._satellites = satellites
        self._phrases = phrases

    async def draw(self, language: str) -> tuple[Piece, list[Row]]:
        """Return the message and its buttons. Devices that answer are asked."""
        driven = [one for one in self._satellites.channels() if one.driven]
        if not driven:
            text = await self._phrases.async_say(language, "telegram_relays_none")
            return Piece(escape(text, quote=False), text), []
        driven = driven[:BUTTONS]
        several = len({one.satellite for one in driven}) > 1
        rows: list[Row] = []
        lines = [await self._phrases.async_say(language, "telegram_relays")]
        for channel in driven:
            name = self._name(channel, several=several)
            state = await self._state(channel)
            if state is None and not self._satellites.available(channel.key):
                away = await self._phrases.async_say(
                    language, "telegram_relay_away", {"channel": name}
                )
                lines.append(f"{_UNKNOWN} {away}")
                continue
            lines.append(f"{self._sign(channel, state)} {name}")
            order = _order(channel, state)
            rows.append(
                ((self._label(channel, state, name), _carry(PRESS, channel, order)),)
            )
        rows.append((("↻", REFRESH),))
        text = "\n".join(lines)
        return Piece(escape(text, quote=False), text), rows

    async def _state(self, channel: Channel) -> bool | None:
        """Return what the device reads now, else what is known."""
        if not self._satellites.available(channel.key):
            return None
        outcome = await self._satellites.read(channel.key)
        if outcome.ok and outcome.state is not None:
            return outcome.state
        return self._satellites.state(channel.key).state

    @staticmethod
    def _sign(channel: Channel, state: bool | None) -> str:
        if state is None:
            return _UNKNOWN
        return _ON if state else _OFF

    def _label(self, channel: Channel, state: bool | None, name: str) -> str:
        if channel.momentary:
            return f"▶ {name}"[:60]
        return f"{self._sign(channel, state)} {name}"[:60]

    @staticmethod
    def _name(channel: Channel, *, several: bool) -> str:
        return f"{channel.satellite_name}: {channel.name}" if several else channel.name

    async def press(self, data: str, language: str) -> tuple[str, list[Row]]:
        """Carry out a press; return what to say, and buttons to ask for a yes with."""
        confirmed = data.startswith(YES)
        found = self._find(data.removeprefix(YES if confirmed else PRESS))
        if found is None:
            return await self._phrases.async_say(language, "telegram_button_old"), []
        channel, order = found
        outcome = await self._satellites.write(
            channel.key, order, None, ACTOR, confirmed=confirmed
        )
        if outcome.code is Code.CONFIRM:
            ask = {"channel": channel.name, "state": order}
            text = await self._phrases.async_say(language, "telegram_relay_sure", ask)
            yes = await self._phrases.async_say(language, "telegram_yes")
            no = await self._phrases.async_say(language, "telegram_no")
            row: Row = ((yes, _carry(YES, channel, order)), (no, REFRESH))
            return text, [row]
        return await self._said(channel, order, outcome, language), []

    async def _said(
        self, channel: Channel, order: Command, outcome: Outcome, language: str
    ) -> str:
        if not outcome.ok:
            return await self._phrases.async_say(
                language,
                f"channel_{outcome.code}",
                refusal_placeholders(self._satellites, outcome),
            )
        # Only what the device read back is claimed.
        on = outcome.state if outcome.state is not None else order != "off"
        key = "telegram_relay_on" if on else "telegram_relay_off"
        return await self._phrases.async_say(language, key, {"channel": channel.name})

    def _find(self, carried: str) -> tuple[Channel, Command] | None:
        mark, _, order = carried.partition(":")
        for channel in self._satellites.channels():
            if channel.driven and _mark(channel) == mark:
                orders: dict[str, Command] = {
                    "on": "on",
                    "off": "off",
                    "pulse": "pulse",
                }
                return (channel, orders[order]) if order in orders else None
        return None


def _order(channel: Channel, state: bool | None) -> Command:
    """Return what a press means: never "toggle", for the picture may be old."""
    if channel.momentary:
        return "pulse"
    return "off" if state else "on"


def _mark(channel: Channel) -> str:
    """Return a short name of a channel that fits a button."""
    return blake2b(channel.key.encode(), digest_size=8).hexdigest()


def _carry(start: str, channel: Channel, order: Command) -> str:
    return f"{start}{_mark(channel)}:{order}"
