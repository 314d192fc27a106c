"""An owner of a link that writes down what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from custom_components.mimiclaw.satellite.errors import Trouble
from custom_components.mimiclaw.satellite.link import Node
from custom_components.mimiclaw.satellite.model import (
    ChannelState,
    Description,
    PolicyEvent,
)

#: Longer than anything here may take on a busy machine; no test waits for it to pass.
PATIENCE_S = 15.0


class Recorder:
    """A LinkOwner."""

    def __init__(self) -> None:
        self.up = False
        self.ups = 0
        self.node: Node | None = None
        self.description: Description | None = None
        self.states: dict[str, ChannelState] = {}
        self.figures: dict[str, float | None] = {}
        self.events: list[PolicyEvent] = []
        self.troubles: list[Trouble] = []
        self.changed = asyncio.Event()

    def link_up(
        self,
        node: Node,
        description: Description,
        states: Mapping[str, ChannelState],
    ) -> None:
        self.up = True
        self.ups += 1
        self.node = node
        self.description = description
        self.states = dict(states)
        self.changed.set()

    def link_down(self) -> None:
        self.up = False
        self.changed.set()

    def link_trouble(self, trouble: Trouble, detail: str) -> None:
        self.troubles.append(trouble)
        self.changed.set()

    def link_state(self, channel: str, state: ChannelState) -> None:
        self.states[channel] = state
        self.changed.set()

    def link_diagnostic(self, name: str, value: float | None) -> None:
        self.figures[name] = value
        self.changed.set()

    def link_event(self, event: PolicyEvent) -> None:
        self.events.append(event)
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until it holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.changed.clear()
                await self.changed.wait()
