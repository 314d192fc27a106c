"""Binary sensors: the inputs of satellites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.components.binary_sensor import (
    BinarySensorDeviceClass,
    BinarySensorEntity,
)
from homeassistant.const import Platform
from homeassistant.core import callback
from homeassistant.util.enum import try_parse_enum

from .satellite.entity import ChannelEntity, async_add_channels

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry
    from .satellite.model import Channel
    from .satellite.registry import Satellites

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the binary sensors, now and as channels appear."""
    satellites = entry.runtime_data.satellites
    async_add_channels(
        entry, satellites, async_add_entities, Platform.BINARY_SENSOR, ChannelInput
    )


class ChannelInput(ChannelEntity, BinarySensorEntity):
    """One input, debounced by the device."""

    def __init__(self, satellites: Satellites, channel: Channel) -> None:
        super().__init__(satellites, channel)
        self.channel_changed()

    @callback
    def channel_changed(self) -> None:
        """Take over the device class."""
        self._attr_device_class = try_parse_enum(
            BinarySensorDeviceClass, self._channel.device_class
        )

    @property
    def is_on(self) -> bool | None:
        """Return the debounced level."""
        return self.channel_state.state
