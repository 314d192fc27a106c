"""Sensors: the analog channels of satellites, and what a device tells of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorStateClass,
)
from homeassistant.const import Platform
from homeassistant.core import callback
from homeassistant.util.enum import try_parse_enum

from .cost_sensors import async_add_costs
from .satellite.entity import (
    ChannelEntity,
    SatelliteEntity,
    async_add_channels,
    async_add_for_satellites,
)
from .satellite.figures import FIGURE_SENSORS, FigureDescription
from .schedule_entities import async_add_job_sensors

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry
    from .satellite.model import Channel
    from .satellite.registry import Satellites
    from .satellite.satellite import Satellite

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors, now and as channels and satellites appear."""
    satellites = entry.runtime_data.satellites
    async_add_channels(
        entry, satellites, async_add_entities, Platform.SENSOR, ChannelSensor
    )
    async_add_for_satellites(entry, satellites, async_add_entities, _figures)
    async_add_costs(entry, async_add_entities)
    async_add_job_sensors(hass, entry, async_add_entities)


def _figures(satellites: Satellites, satellite: Satellite) -> list[FigureSensor]:
    return [FigureSensor(satellites, satellite, one) for one in FIGURE_SENSORS]


class ChannelSensor(ChannelEntity, SensorEntity):
    """One analog channel."""

    _attr_state_class = SensorStateClass.MEASUREMENT
    _attr_suggested_display_precision = 1

    def __init__(self, satellites: Satellites, channel: Channel) -> None:
        super().__init__(satellites, channel)
        self.channel_changed()

    @callback
    def channel_changed(self) -> None:
        """Take over unit and device class."""
        self._attr_native_unit_of_measurement = self._channel.unit
        self._attr_device_class = try_parse_enum(
            SensorDeviceClass, self._channel.device_class
        )

    @property
    def native_value(self) -> float | None:
        """Return the last reading."""
        return self.channel_state.value


class FigureSensor(SatelliteEntity, SensorEntity):
    """One figure a device keeps of itself."""

    entity_description: FigureDescription

    def __init__(
        self,
        satellites: Satellites,
        satellite: Satellite,
        description: FigureDescription,
    ) -> None:
        super().__init__(satellites, satellite.mac, f":{description.key}")
        self.entity_description = description
        self._satellite = satellite

    @property
    def available(self) -> bool:
        """Tell whether the device answers."""
        return self._satellite.available

    @property
    def native_value(self) -> float | None:
        """Return the figure as the device last told it."""
        return self._satellite.figures.get(self.entity_description.figure)

    async def async_added_to_hass(self) -> None:
        """Follow the device."""
        self.async_on_remove(
            self._satellites.async_add_figure_listener(
                self._satellite.subentry_id, self.async_write_ha_state
            )
        )
