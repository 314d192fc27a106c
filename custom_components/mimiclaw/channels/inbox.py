"""Hears telegram_bot from the first moment, and keeps what comes while nobody listens.

The entry may be reloaded at any time; a message that arrives meanwhile waits here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import time
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .limits import INBOX_EVENTS, INBOX_S
from .update import KINDS, Update, from_event

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE

type Reader = Callable[[Update], None]

_KEY: Final[HassKey[Inbox]] = HassKey(f"{DOMAIN}_telegram_inbox")


class Inbox:
    """Passes updates on, or keeps them for a while."""

    def __init__(self) -> None:
        self._reader: Reader | None = None
        self._kept: deque[tuple[float, Update]] = deque(maxlen=INBOX_EVENTS)

    @callback
    def event(self, event: Event[dict[str, Any]]) -> None:
        """Take one event."""
        update = from_event(
            str(event.event_type), event.data, event.time_fired_timestamp
        )
        if update is None:
            return
        if self._reader is not None:
            self._reader(update)
        else:
            self._kept.append((time.monotonic(), update))

    @callback
    def read(self, reader: Reader) -> CALLBACK_TYPE:
        """Give everything to a reader from now on, what was kept first."""
        self._reader = reader
        since = time.monotonic() - INBOX_S
        kept, self._kept = self._kept, deque(maxlen=INBOX_EVENTS)
        for kept_at, update in kept:
            if kept_at >= since:
                reader(update)

        @callback
        def end() -> None:
            if self._reader is reader:
                self._reader = None

        return end


@callback
def async_setup_inbox(hass: HomeAssistant) -> None:
    """Listen, for as long as Home Assistant runs."""
    async_inbox(hass)


@callback
def async_inbox(hass: HomeAssistant) -> Inbox:
    """Return the inbox; the first call begins to listen."""
    if (inbox := hass.data.get(_KEY)) is None:
        inbox = hass.data[_KEY] = Inbox()
        for event_type in KINDS:
            hass.bus.async_listen(event_type, inbox.event)
    return inbox
