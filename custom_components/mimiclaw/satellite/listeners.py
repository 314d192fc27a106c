"""Who wants to hear of what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from homeassistant.core import CALLBACK_TYPE, callback

if TYPE_CHECKING:
    from .model import Channel, PolicyEvent

type Listener = Callable[[], None]
type EventListener = Callable[[PolicyEvent], None]


class Listeners:
    """Keeps the listeners of all satellites. Each adding returns its undoing."""

    def __init__(self) -> None:
        self._all: set[Listener] = set()
        self._by_key: defaultdict[str, set[Listener]] = defaultdict(set)
        self._by_event: defaultdict[str, set[EventListener]] = defaultdict(set)

    @callback
    def add(self, listener: Listener) -> CALLBACK_TYPE:
        """Call for every change of channels and availability."""
        self._all.add(listener)
        return lambda: self._all.discard(listener)

    @callback
    def add_for(self, key: str, listener: Listener) -> CALLBACK_TYPE:
        """Call for one channel, by its key, or one satellite, by its subentry id."""
        return _add(self._by_key, key, listener)

    @callback
    def add_for_events(
        self, subentry_id: str, listener: EventListener
    ) -> CALLBACK_TYPE:
        """Call for what one satellite did or refused by its own policy."""
        return _add(self._by_event, subentry_id, listener)

    @callback
    def tell(self) -> None:
        """Tell who listens to everything."""
        for listener in list(self._all):
            listener()

    @callback
    def tell_of(self, *keys: str) -> None:
        """Tell who listens to these channels or satellites."""
        for key in keys:
            for listener in list(self._by_key.get(key, ())):
                listener()

    @callback
    def tell_of_channels(self, channels: Iterable[Channel]) -> None:
        """Tell who listens to these channels."""
        self.tell_of(*(channel.key for channel in channels))

    @callback
    def tell_of_event(self, subentry_id: str, event: PolicyEvent) -> None:
        """Pass an event on."""
        for listener in list(self._by_event.get(subentry_id, ())):
            listener(event)


def _add[T](listeners: defaultdict[str, set[T]], key: str, one: T) -> CALLBACK_TYPE:
    listeners[key].add(one)

    def remove() -> None:
        listeners[key].discard(one)
        if not listeners[key]:
            del listeners[key]

    return remove
