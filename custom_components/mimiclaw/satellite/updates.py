"""Turn what the native API pushes into channel states, figures and events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aioesphomeapi import BinarySensorState, SensorInfo, SensorState, SwitchState

from .model import EVENT_TYPES, ChannelState, PolicyEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aioesphomeapi import EntityInfo, EntityState, HomeassistantServiceCall

    from .link import LinkOwner
    from .model import Channel

#: What the device fires on Home Assistant's bus, with everything about one event.
POLICY_EVENT = "esphome.mimiclaw_event"


class Updates:
    """Routes the messages of one connection."""

    def __init__(
        self,
        owner: LinkOwner,
        channels: Iterable[Channel],
        entities: Iterable[EntityInfo],
    ) -> None:
        self._owner = owner
        self._channels = {
            channel.entity_key: channel.id
            for channel in channels
            if channel.entity_key is not None
        }
        self._figures = {
            info.key: info.object_id
            for info in entities
            if isinstance(info, SensorInfo) and info.key not in self._channels
        }

    def on_state(self, state: EntityState) -> None:
        """Take one state."""
        match state:
            case SwitchState():
                if channel := self._channels.get(state.key):
                    self._owner.link_state(channel, ChannelState(state=state.state))
            case BinarySensorState():
                if channel := self._channels.get(state.key):
                    known = None if state.missing_state else state.state
                    self._owner.link_state(channel, ChannelState(state=known))
            case SensorState():
                self._on_sensor(state)
            case _:
                # Events come over the bus as well, with their details: on_service_call.
                pass

    def _on_sensor(self, state: SensorState) -> None:
        missing = state.missing_state or not math.isfinite(state.state)
        value = None if missing else state.state
        if channel := self._channels.get(state.key):
            self._owner.link_state(channel, ChannelState(value=value))
        elif name := self._figures.get(state.key):
            self._owner.link_diagnostic(name, value)

    def on_service_call(self, call: HomeassistantServiceCall) -> None:
        """Take one event; the device is allowed no actions in Home Assistant."""
        if not call.is_event or call.service != POLICY_EVENT:
            return
        if event := policy_event(call.data):
            self._owner.link_event(event)


def policy_event(data: Mapping[str, object]) -> PolicyEvent | None:
    """Return the event a device reports, None when it is none we know."""
    kind = str(data.get("type", ""))
    if kind not in EVENT_TYPES:
        return None
    return PolicyEvent(
        type=kind,
        channel=str(data.get("channel", "")),
        detail=str(data.get("detail", "")),
        other=str(data.get("other", "")),
        actor=str(data.get("actor", "")),
        ms=_number(data.get("ms")),
        age_ms=_number(data.get("age_ms")),
    )


def _number(value: object) -> int:
    """Return a count of milliseconds; on the bus every value is text."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else 0
