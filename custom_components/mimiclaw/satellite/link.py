"""What a satellite needs of a connection, whoever keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .errors import Trouble
    from .model import Actor, ChannelState, Command, Description, PolicyEvent


@dataclass(frozen=True, slots=True)
class Node:
    """What the connection itself says of the device."""

    name: str
    friendly_name: str
    mac: str
    model: str = ""
    esphome_version: str = ""
    area: str = ""


class LinkOwner(Protocol):
    """Who is told what happens on a link. Every call comes from the event loop."""

    def link_up(
        self,
        node: Node,
        description: Description,
        states: Mapping[str, ChannelState],
    ) -> None:
        """The device answers; this is what it has and how its channels are."""

    def link_down(self) -> None:
        """The connection is gone."""

    def link_trouble(self, trouble: Trouble, detail: str) -> None:
        """It cannot be used, and trying again will not help by itself."""

    def link_state(self, channel: str, state: ChannelState) -> None:
        """A channel changed; `channel` is its id."""

    def link_diagnostic(self, name: str, value: float | None) -> None:
        """A figure the device keeps of itself changed."""

    def link_event(self, event: PolicyEvent) -> None:
        """The device acted or refused by its own policy."""


class Link(Protocol):
    """A connection to one device.

    `write` and `read` send at once, in the order they are called, and return the
    device's answer as it came. They raise LinkError: UNREACHABLE when there is no
    connection or it broke, TIMEOUT after COMMAND_DEADLINE_S. A command that raised is
    not carried out later.
    """

    @property
    def up(self) -> bool:
        """Tell whether the device answers."""

    async def async_start(self) -> None:
        """Begin to connect, in the background."""

    async def async_stop(self) -> None:
        """End every task, listener and socket."""

    def poke(self) -> None:
        """Try now instead of later: the device has shown itself."""

    async def write(
        self, channel: str, state: Command, duration_ms: int, actor: Actor
    ) -> Mapping[str, Any]:
        """Command a channel by its id."""

    async def read(self, channel: str) -> Mapping[str, Any]:
        """Ask for a channel by its id; nothing is changed by it."""
