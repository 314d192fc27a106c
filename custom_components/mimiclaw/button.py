"""Buttons: the momentary relays of satellites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.components.button import ButtonEntity
from homeassistant.const import Platform

from .satellite.entity import ChannelEntity, async_add_channels

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the buttons, now and as channels appear."""
    satellites = entry.runtime_data.satellites
    async_add_channels(
        entry, satellites, async_add_entities, Platform.BUTTON, ChannelButton
    )


class ChannelButton(ChannelEntity, ButtonEntity):
    """One momentary relay: a press is a pulse of its own length."""

    async def async_press(self) -> None:
        """Press; raises what the device refuses."""
        await self.async_command("pulse")
