"""Switches: the relays and outputs of satellites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.switch import SwitchDeviceClass, SwitchEntity
from homeassistant.const import Platform
from homeassistant.helpers import entity_registry as er

from .satellite.entity import ChannelEntity, async_add_channels

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry

#: The device answers each command in its own time; nothing is gained by waiting in line.
PARALLEL_UPDATES = 0

#: Home Assistant's assistants and their name in its exposure settings.
ASSIST = "conversation"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the switches, now and as channels appear."""
    async_add_channels(entry, async_add_entities, Platform.SWITCH, ChannelSwitch)


class ChannelSwitch(ChannelEntity, SwitchEntity):
    """One relay or output. What it shows is what the device read back."""

    _attr_device_class = SwitchDeviceClass.SWITCH

    @property
    def is_on(self) -> bool | None:
        """Return the state the device last read from the pin."""
        return self.channel_state.state

    async def async_added_to_hass(self) -> None:
        """Follow the channel; keep one that wants a yes away from Assist's sentences.

        Those act at once. The owner may expose it all the same; that is respected.
        """
        await super().async_added_to_hass()
        entry = er.async_get(self.hass).async_get(self.entity_id)
        if self._channel.confirm and entry and ASSIST not in entry.options:
            async_expose_entity(self.hass, ASSIST, self.entity_id, False)

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn on; raises what the device refuses."""
        await self.async_command("on")

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn off; raises what the device refuses."""
        await self.async_command("off")

    async def async_toggle(self, **kwargs: Any) -> None:
        """Toggle what the device has now, not what was last heard of it."""
        await self.async_command("toggle")
