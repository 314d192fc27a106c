"""The assistant itself as a device: what its entities stand under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.helpers import device_registry as dr

from .const import DOMAIN

if TYPE_CHECKING:
    from .runtime import MimiClawConfigEntry


def service_device(entry: MimiClawConfigEntry) -> dr.DeviceInfo:
    """Return the device of the entry's own entities."""
    return dr.DeviceInfo(
        identifiers={(DOMAIN, entry.entry_id)},
        name=entry.title,
        manufacturer="MimiClaw",
        entry_type=dr.DeviceEntryType.SERVICE,
    )
