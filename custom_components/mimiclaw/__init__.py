"""MimiClaw: an assistant that keeps its memory in Markdown and drives relays at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.const import Platform
from homeassistant.helpers import config_validation as cv

from .const import DOMAIN
from .runtime import MimiClawConfigEntry, async_create_runtime
from .services import async_setup_services

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.typing import ConfigType

PLATFORMS = (
    Platform.AI_TASK,
    Platform.BINARY_SENSOR,
    Platform.BUTTON,
    Platform.CONVERSATION,
    Platform.EVENT,
    Platform.SELECT,
    Platform.SENSOR,
    Platform.SWITCH,
)

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Set up what is there without an entry: the actions."""
    async_setup_services(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: MimiClawConfigEntry) -> bool:
    """Set up the assistant."""
    entry.runtime_data = await async_create_runtime(hass, entry)
    await entry.runtime_data.async_prepare()
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    entry.async_on_unload(entry.add_update_listener(async_reload_entry))
    await entry.runtime_data.async_start()
    return True


async def async_unload_entry(hass: HomeAssistant, entry: MimiClawConfigEntry) -> bool:
    """Unload the assistant; nothing of it goes on."""
    unloaded = await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
    if unloaded:
        await entry.runtime_data.async_stop()
    return unloaded


async def async_reload_entry(hass: HomeAssistant, entry: MimiClawConfigEntry) -> None:
    """Begin anew after the entry changed; satellites follow their subentries alone."""
    if entry.runtime_data.satellites.async_nothing_else_changed():
        return
    await hass.config_entries.async_reload(entry.entry_id)
