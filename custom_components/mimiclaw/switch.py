"""Switches: the relays and outputs of satellites, and the jobs of the schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.components.switch import SwitchDeviceClass, SwitchEntity
from homeassistant.const import Platform

from .satellite.entity import ChannelEntity, async_add_channels
from .schedule_entities import async_add_job_switches

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry

#: The device answers each command in its own time; nothing is gained by waiting in line.
PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the switches, now and as channels appear."""
    satellites = entry.runtime_data.satellites
    async_add_channels(
        entry, satellites, async_add_entities, Platform.SWITCH, ChannelSwitch
    )
    async_add_job_switches(hass, entry, async_add_entities)


class ChannelSwitch(ChannelEntity, SwitchEntity):
    """One relay or output. What it shows is what the device read back."""

    _attr_device_class = SwitchDeviceClass.SWITCH

    @property
    def is_on(self) -> bool | None:
        """Return the state the device last read from the pin."""
        return self.channel_state.state

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn on; raises what the device refuses."""
        await self.async_command("on")

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn off; raises what the device refuses."""
        await self.async_command("off")

    async def async_toggle(self, **kwargs: Any) -> None:
        """Toggle what the device has now, not what was last heard of it."""
        await self.async_command("toggle")
