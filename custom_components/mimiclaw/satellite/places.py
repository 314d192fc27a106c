"""What the owner has made of a channel in Home Assistant: its names, its area."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from homeassistant.core import HomeAssistant

    from .model import Channel


def entities_by_channel(
    entries: Iterable[er.RegistryEntry], mac: str
) -> dict[str, er.RegistryEntry]:
    """Return our own entities of one device by channel id."""
    prefix = f"{mac}-"
    return {
        entry.unique_id.removeprefix(prefix): entry
        for entry in entries
        if entry.unique_id.startswith(prefix)
    }


def settled(
    hass: HomeAssistant,
    channel: Channel,
    entry: er.RegistryEntry | None,
    device_id: str | None,
    also: Iterable[str] = (),
) -> Channel:
    """Return the channel with the owner's names and area added to the device's own.

    `also` are the names that the options hold.
    """
    registry = dr.async_get(hass)
    device = registry.async_get(device_id) if device_id else None
    area_id = (entry.area_id if entry else None) or (device.area_id if device else None)
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    own = (*(_own_names(hass, entry) if entry else ()), *also)
    names = dict(channel.names)
    if own:
        names[""] = tuple(dict.fromkeys((*names.get("", ()), *own)))
    return replace(
        channel,
        names=names,
        area=area.name if area else None,
        satellite_name=(device.name_by_user if device else None)
        or channel.satellite_name,
    )


def _own_names(hass: HomeAssistant, entry: er.RegistryEntry) -> tuple[str, ...]:
    given = [entry.name] if entry.name else []
    aliases = [alias for alias in entry.aliases if isinstance(alias, str)]
    return tuple(text.strip() for text in (*given, *aliases) if text.strip())
