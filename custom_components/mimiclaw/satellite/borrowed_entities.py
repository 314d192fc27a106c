"""What the ESPHome integration has of a satellite: its device and entities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntryState
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from .platforms import domain_of

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .model import Channel

ESPHOME = "esphome"
#: Where the ESPHome integration keeps the node's name; its actions begin with it.
DEVICE_NAME = "device_name"
#: It shows a project "mimiclaw.satellite" as maker and model of the device.
MAKER = "mimiclaw"


@dataclass(frozen=True, slots=True)
class Lender:
    """An ESPHome entry that has a satellite."""

    entry_id: str
    title: str
    mac: str


def lenders(hass: HomeAssistant) -> list[Lender]:
    """Return the loaded ESPHome entries whose device is one of ours."""
    devices = dr.async_get(hass)
    return [
        Lender(entry.entry_id, entry.title, entry.unique_id)
        for entry in hass.config_entries.async_loaded_entries(ESPHOME)
        if entry.unique_id
        and any(
            device.manufacturer == MAKER
            for device in dr.async_entries_for_config_entry(devices, entry.entry_id)
        )
    ]


def lender_of(hass: HomeAssistant, mac: str) -> Lender | None:
    """Return the ESPHome entry that has this device."""
    return next((one for one in lenders(hass) if one.mac == mac), None)


def action_prefix(hass: HomeAssistant, entry_id: str) -> str | None:
    """Return what the names of the node's actions begin with, None while unloaded."""
    entry = hass.config_entries.async_get_entry(entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        return None
    name = entry.data.get(DEVICE_NAME)
    return f"{str(name).replace('-', '_')}_" if name else None


def lent_device(hass: HomeAssistant, entry_id: str, mac: str) -> str | None:
    """Return the id of the device in the ESPHome integration."""
    device = dr.async_get(hass).async_get_device_by_connection(
        (dr.CONNECTION_NETWORK_MAC, mac), entry_id
    )
    return device.id if device else None


def lent_entities(
    hass: HomeAssistant, entry_id: str, channels: Iterable[Channel]
) -> dict[str, er.RegistryEntry]:
    """Return the ESPHome entities that stand for channels, by channel id.

    The integration's unique ids are "<mac>/<device>/<type>/<name>".
    """
    by_name = {(domain_of(one).value, one.name): one.id for one in channels}
    found: dict[str, er.RegistryEntry] = {}
    registry = er.async_get(hass)
    for entry in er.async_entries_for_config_entry(registry, entry_id):
        parts = entry.unique_id.split("/", 3)
        if len(parts) == 4 and (channel := by_name.get((parts[2], parts[3]))):
            found[channel] = entry
    return found
