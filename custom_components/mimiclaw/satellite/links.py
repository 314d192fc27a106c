"""Choose the way to a device that its subentry asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.components.zeroconf import async_get_async_instance
from homeassistant.const import CONF_HOST, CONF_PORT

from ..const import CONF_ESPHOME_ENTRY, CONF_NOISE_PSK
from .borrowed_link import BorrowedLink
from .limits import DEFAULT_PORT
from .native_link import NativeLink
from .session import Address

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine, Mapping

    from homeassistant.config_entries import ConfigEntry, ConfigSubentry
    from homeassistant.core import HomeAssistant

    from .link import Link, LinkOwner


def address_of(data: Mapping[str, Any], mac: str) -> Address:
    """Return the address a subentry holds."""
    return Address(
        host=data[CONF_HOST],
        port=data.get(CONF_PORT, DEFAULT_PORT),
        noise_psk=data.get(CONF_NOISE_PSK) or "",
        mac=mac,
    )


def create_link(
    hass: HomeAssistant,
    entry: ConfigEntry[Any],
    subentry: ConfigSubentry,
    owner: LinkOwner,
) -> Link:
    """Return the link of a subentry, not started yet."""
    mac = subentry.unique_id or ""

    def spawn(target: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        return entry.async_create_background_task(hass, target, name)

    if esphome_entry := subentry.data.get(CONF_ESPHOME_ENTRY):
        return BorrowedLink(hass, esphome_entry, mac, owner, spawn)
    return NativeLink(
        address_of(subentry.data, mac),
        owner,
        spawn,
        lambda: async_get_async_instance(hass),
    )
