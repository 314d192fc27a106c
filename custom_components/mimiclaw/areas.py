"""Where a device stands, by the name people give the room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant


def area_of_device(hass: HomeAssistant, device_id: str | None) -> str | None:
    """Return the name of the device's area, if it has one."""
    if device_id is None:
        return None
    device = dr.async_get(hass).async_get(device_id)
    if device is None or device.area_id is None:
        return None
    area = ar.async_get(hass).async_get_area(device.area_id)
    return area.name if area else None
