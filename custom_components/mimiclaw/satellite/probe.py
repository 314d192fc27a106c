"""Try a device once: is it there, is it ours, does the key fit?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aioesphomeapi.host_resolver import host_is_local_name
from homeassistant.components.zeroconf import async_get_async_instance

from .session import Session

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .link import Node
    from .session import Address


async def async_probe(hass: HomeAssistant, address: Address) -> Node:
    """Return what answers there, if it is a satellite. Raises LinkError."""
    zeroconf = None
    if host_is_local_name(address.host):
        zeroconf = await async_get_async_instance(hass)
    session = await Session.open(address, zeroconf)
    await session.goodbye()
    return session.node
