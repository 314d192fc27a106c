"""The assistant in Home Assistant's system information."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.core import callback

from .const import DOMAIN

if TYPE_CHECKING:
    from homeassistant.components import system_health
    from homeassistant.core import HomeAssistant


@callback
def async_register(
    hass: HomeAssistant, register: system_health.SystemHealthRegistration
) -> None:
    """Register the information."""
    register.async_register_info(_info)


async def _info(hass: HomeAssistant) -> dict[str, Any]:
    """Return a few figures of the loaded assistant."""
    entries = hass.config_entries.async_loaded_entries(DOMAIN)
    if not entries:
        return {"loaded": False}
    runtime = entries[0].runtime_data
    satellites = runtime.satellites.satellites()
    return {
        "loaded": True,
        "provider": runtime.providers.config.kind,
        "satellites": len(satellites),
        "satellites_reachable": sum(one.available for one in satellites),
        "channels": len(runtime.satellites.channels()),
    }
