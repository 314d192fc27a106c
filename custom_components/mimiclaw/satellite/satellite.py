"""One satellite: what it has, how it is, and a way to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
import time
from typing import TYPE_CHECKING, Protocol

from .describe import parse_outcome, placed
from .errors import LinkError, Trouble
from .limits import REBOOT_WINDOW_S, REBOOTS
from .model import ChannelState, Code, Outcome

if TYPE_CHECKING:
    from .link import Link, Node
    from .model import Actor, Channel, Command, Description, PolicyEvent

_UNKNOWN = ChannelState()

#: What became of a command that raised.
_CODES = {Trouble.UNREACHABLE: Code.UNREACHABLE, Trouble.TIMEOUT: Code.TIMEOUT}


class Watcher(Protocol):
    """Who keeps the satellites and wants to know what happens to one."""

    def satellite_described(self, satellite: Satellite, *, changed: bool) -> None:
        """It is there and has told what it has."""

    def satellite_available(self, satellite: Satellite) -> None:
        """It became available, or stopped being it."""

    def satellite_trouble(self, satellite: Satellite) -> None:
        """What is wrong with it changed; see `trouble` and `restless`."""

    def satellite_channel(self, satellite: Satellite, channel_id: str) -> None:
        """The state of one channel changed."""

    def satellite_figure(self, satellite: Satellite, name: str) -> None:
        """One of its own figures changed."""

    def satellite_event(self, satellite: Satellite, event: PolicyEvent) -> None:
        """It acted or refused by its own policy."""


class Satellite:
    """The owner of one link."""

    def __init__(
        self,
        subentry_id: str,
        mac: str,
        title: str,
        description: Description | None,
        watcher: Watcher,
    ) -> None:
        """Begin with what was remembered, before the device has been heard."""
        self.subentry_id = subentry_id
        self.mac = mac
        self.title = title
        self.description = description
        self.node: Node | None = None
        self.link: Link | None = None
        self.trouble: Trouble | None = None
        self.trouble_detail = ""
        self.restless = False
        self.figures: dict[str, float | None] = {}
        self._watcher = watcher
        self._states: dict[str, ChannelState] = {}
        self._available = False
        self._starts: deque[float] = deque(maxlen=REBOOTS)

    @property
    def available(self) -> bool:
        """Tell whether the device answers."""
        return self._available

    @property
    def name(self) -> str:
        """Return what the owner or the device calls it."""
        known = self.description.friendly_name if self.description else ""
        return known or self.title

    def channels(self) -> list[Channel]:
        """Return its channels, also while it is away."""
        if self.description is None:
            return []
        return [
            placed(channel, self.subentry_id, self.name)
            for channel in self.description.channels
        ]

    def state(self, channel_id: str) -> ChannelState:
        """Return what is known of a channel now."""
        return self._states.get(channel_id, _UNKNOWN)

    async def write(
        self, channel: Channel, state: Command, duration_ms: int, actor: Actor
    ) -> Outcome:
        """Command a channel. Never waits longer than the link's deadline."""
        if self.link is None or not self._available:
            return Outcome(False, Code.UNREACHABLE, channel.key)
        try:
            answer = await self.link.write(channel.id, state, duration_ms, actor)
        except LinkError as err:
            return Outcome(False, _CODES.get(err.trouble, Code.FAILED), channel.key)
        return self._took(channel, parse_outcome(answer, channel))

    async def read(self, channel: Channel) -> Outcome:
        """Ask the device for a channel; changes nothing there."""
        if self.link is None or not self._available:
            return Outcome(False, Code.UNREACHABLE, channel.key)
        try:
            answer = await self.link.read(channel.id)
        except LinkError as err:
            return Outcome(False, _CODES.get(err.trouble, Code.FAILED), channel.key)
        return self._took(channel, parse_outcome(answer, channel))

    def _took(self, channel: Channel, outcome: Outcome) -> Outcome:
        """Show at once what the answer says of the channel."""
        if self._available and not channel.momentary:
            value = None if channel.driven else outcome.value
            if outcome.state is not None or value is not None:
                self.link_state(channel.id, ChannelState(outcome.state, value))
        return outcome

    def link_up(
        self,
        node: Node,
        description: Description,
        states: Mapping[str, ChannelState],
    ) -> None:
        """The device answers."""
        description = replace(description, mac=self.mac or description.mac)
        changed = description != self.description
        self.node = node
        self.description = description
        self._states = dict(states)
        self.figures.clear()
        self._available = True
        self._set_trouble(None, "")
        self._count_start()
        self._watcher.satellite_described(self, changed=changed)
        self._watcher.satellite_available(self)

    def link_down(self) -> None:
        """The connection is gone."""
        if self._available:
            self._available = False
            self._watcher.satellite_available(self)

    def link_trouble(self, trouble: Trouble, detail: str) -> None:
        """It cannot be used until somebody mends it."""
        self._set_trouble(trouble, detail)

    def link_state(self, channel: str, state: ChannelState) -> None:
        """A channel changed."""
        if self._states.get(channel) != state:
            self._states[channel] = state
            self._watcher.satellite_channel(self, channel)

    def link_diagnostic(self, name: str, value: float | None) -> None:
        """A figure changed."""
        if name not in self.figures or self.figures[name] != value:
            self.figures[name] = value
            self._watcher.satellite_figure(self, name)

    def link_event(self, event: PolicyEvent) -> None:
        """The device acted or refused by its own policy."""
        self._watcher.satellite_event(self, event)

    def settle(self) -> None:
        """Believe it steady again; called when it has been up for long enough."""
        self._starts.clear()
        if self.restless:
            self.restless = False
            self._watcher.satellite_trouble(self)

    def _count_start(self) -> None:
        now = time.monotonic()
        self._starts.append(now)
        full = len(self._starts) == REBOOTS
        if full and now - self._starts[0] <= REBOOT_WINDOW_S and not self.restless:
            self.restless = True
            self._watcher.satellite_trouble(self)

    def _set_trouble(self, trouble: Trouble | None, detail: str) -> None:
        if (trouble, detail) != (self.trouble, self.trouble_detail):
            self.trouble = trouble
            self.trouble_detail = detail
            self._watcher.satellite_trouble(self)
