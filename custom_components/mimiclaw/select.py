"""Which provider is asked first, switched while running."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.components.select import SelectEntity
from homeassistant.const import EntityCategory
from homeassistant.helpers.restore_state import RestoreEntity

from .service_device import service_device

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
    """Add the one select."""
    async_add_entities([ProviderSelect(entry)])


class ProviderSelect(RestoreEntity, SelectEntity):
    """Model, address and key switch as one: the choice is a whole provider."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _attr_translation_key = "provider"
    _attr_entity_category = EntityCategory.CONFIG

    def __init__(self, entry: MimiClawConfigEntry) -> None:
        """Offer the entry's providers."""
        self._providers = entry.runtime_data.providers
        self._attr_unique_id = f"{entry.entry_id}_provider"
        self._attr_device_info = service_device(entry)
        self._attr_options = self._providers.names
        self._attr_current_option = self._providers.active

    async def async_added_to_hass(self) -> None:
        """Take up the choice that was made before the restart."""
        await super().async_added_to_hass()
        last = await self.async_get_last_state()
        if last is not None and last.state in self.options:
            await self.async_select_option(last.state)

    async def async_select_option(self, option: str) -> None:
        """Ask this provider first from the next turn on."""
        self._providers.switch(option)
        self._attr_current_option = option
        self.async_write_ha_state()
