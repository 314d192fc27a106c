"""Find the channels an action's target and fields mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
)
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)

from ..const import DOMAIN
from .borrowed_entities import lent_device, lent_entities

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .model import Channel
    from .registry import Satellites

ATTR_CHANNEL = "channel"

#: Places that stand for every channel in them, as far as it is shown there.
_PLACES = (ATTR_AREA_ID, ATTR_FLOOR_ID, ATTR_LABEL_ID)


def channels_meant(
    hass: HomeAssistant, satellites: Satellites, data: Mapping[str, Any]
) -> list[Channel]:
    """Return the channels; raises ServiceValidationError when it is not clear.

    An entity stands for its channel, an area for those in it. A device narrows a name
    down; without one the name has to be the only one of its kind. A whole device is
    never meant by leaving the name out.
    """
    channels = [
        _of_entity(hass, satellites, entity_id)
        for entity_id in data.get(ATTR_ENTITY_ID, ())
    ]
    if places := {key: data[key] for key in _PLACES if key in data}:
        channels += _of_places(hass, satellites, places)
    text = data.get(ATTR_CHANNEL)
    if text is not None:
        channels += _of_name(hass, satellites, text, data.get(ATTR_DEVICE_ID, ()))
    if not channels:
        raise invalid("channel_missing")
    return list({channel.key: channel for channel in channels}.values())


def _of_name(
    hass: HomeAssistant, satellites: Satellites, text: str, device_ids: list[str]
) -> list[Channel]:
    found = satellites.resolve(text, hass.config.language)
    allowed = {_of_device(hass, satellites, device_id) for device_id in device_ids}
    if allowed:
        found = [one for one in found if one.satellite in allowed]
    if not found:
        raise invalid("channel_unknown", channel=text)
    if len(found) > max(1, len(allowed)):
        where = ", ".join(f"{one.satellite_name}/{one.id}" for one in found)
        raise invalid("channel_ambiguous", channel=text, channels=where)
    return found


def _of_places(
    hass: HomeAssistant, satellites: Satellites, places: Mapping[str, Any]
) -> list[Channel]:
    selected = async_extract_referenced_entity_ids(hass, TargetSelection(dict(places)))
    found = (
        channel_of(hass, satellites, entity_id)
        for entity_id in sorted(selected.indirectly_referenced)
    )
    return [channel for channel in found if channel is not None]


def _of_entity(hass: HomeAssistant, satellites: Satellites, entity_id: str) -> Channel:
    channel = channel_of(hass, satellites, entity_id)
    if channel is None:
        raise invalid("channel_no_entity", entity=entity_id)
    return channel


def channel_of(
    hass: HomeAssistant, satellites: Satellites, entity_id: str
) -> Channel | None:
    """Return the channel an entity shows, ours or one that ESPHome shows for us."""
    known = er.async_get(hass).async_get(entity_id)
    for satellite in satellites.satellites() if known else ():
        lender = satellites.lender(satellite.subentry_id)
        if lender is not None:
            faces = lent_entities(hass, lender, satellite.channels())
            shown = {face.entity_id: channel for channel, face in faces.items()}
            name = shown.get(entity_id, "")
        elif known and known.config_subentry_id == satellite.subentry_id:
            name = known.unique_id.removeprefix(f"{satellite.mac}-")
        else:
            continue
        if channel := satellites.channel(f"{satellite.subentry_id}/{name}"):
            return channel
    return None


def _of_device(hass: HomeAssistant, satellites: Satellites, device_id: str) -> str:
    """Return the subentry id of a device, ours or one that ESPHome lends."""
    device = dr.async_get(hass).async_get(device_id)
    for satellite in satellites.satellites() if device else ():
        lender = satellites.lender(satellite.subentry_id)
        if lender and lent_device(hass, lender, satellite.mac) == device_id:
            return satellite.subentry_id
        if device and (DOMAIN, satellite.mac) in device.identifiers:
            return satellite.subentry_id
    raise invalid("channel_no_device")


def invalid(key: str, **placeholders: str) -> ServiceValidationError:
    """Return the error that says what is wrong with a call."""
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )
