"""Which of Home Assistant's platforms shows what."""

from __future__ import annotations

from homeassistant.const import Platform

from .figures import FIGURE_SENSORS
from .model import Channel, ChannelKind

#: The unique id's second part of the event entity.
POLICY_EVENTS = "policy_events"

#: What a satellite has besides its channels. A colon keeps them apart from channel ids.
EXTRAS = frozenset({f":{one.key}" for one in FIGURE_SENSORS} | {f":{POLICY_EVENTS}"})


def domain_of(channel: Channel) -> Platform:
    """Return the platform whose entity a channel becomes."""
    match channel.kind:
        case ChannelKind.INPUT:
            return Platform.BINARY_SENSOR
        case ChannelKind.ANALOG:
            return Platform.SENSOR
        case ChannelKind.RELAY | ChannelKind.OUTPUT:
            return Platform.BUTTON if channel.momentary else Platform.SWITCH
