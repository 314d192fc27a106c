"""The device and the entities a satellite has in Home Assistant's registries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from ..const import CONF_ALIASES, CONF_ESPHOME_ENTRY, DOMAIN
from .borrowed_entities import lent_device, lent_entities
from .places import entities_by_channel, settled
from .platforms import EXTRAS, domain_of

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry
    from homeassistant.core import HomeAssistant

    from .model import Channel
    from .satellite import Satellite

#: Makers as they write themselves; a project's name is in small letters.
_MAKERS: Final = {"mimiclaw": "MimiClaw"}


class Devices:
    """Keeps the registries as the satellites are."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry[Any]) -> None:
        self._hass = hass
        self._entry = entry

    @callback
    def register(self, satellite: Satellite) -> None:
        """Make or renew the device of a satellite; a lent one has its own already."""
        node, description = satellite.node, satellite.description
        if node is None or description is None or self.lender(satellite.subentry_id):
            return
        maker, _, model = description.project.partition(".")
        dr.async_get(self._hass).async_get_or_create(
            config_entry_id=self._entry.entry_id,
            config_subentry_id=satellite.subentry_id,
            identifiers={(DOMAIN, satellite.mac)},
            connections={(dr.CONNECTION_NETWORK_MAC, satellite.mac)},
            name=description.friendly_name,
            manufacturer=_MAKERS.get(maker, maker) or None,
            model=model.capitalize() or node.model or None,
            hw_version=node.model or None,
            sw_version=f"{description.version} (ESPHome {node.esphome_version})",
            suggested_area=node.area or None,
        )

    @callback
    def clean_up(self, satellite: Satellite) -> None:
        """Remove the entities of channels the device no longer has."""
        if satellite.description is None or self.lender(satellite.subentry_id):
            return
        wanted = {
            (domain_of(channel), f"{satellite.mac}-{channel.id}")
            for channel in satellite.description.channels
        }
        kept = {f"{satellite.mac}-{name}" for name in EXTRAS}
        registry = er.async_get(self._hass)
        for entry in self._own(satellite):
            if entry.unique_id in kept or (entry.domain, entry.unique_id) in wanted:
                continue
            registry.async_remove(entry.entity_id)

    @callback
    def settle(self, satellite: Satellite) -> list[Channel]:
        """Return the satellite's channels with the owner's names and areas."""
        if lender := self.lender(satellite.subentry_id):
            channels = satellite.channels()
            device_id = lent_device(self._hass, lender, satellite.mac)
            entries = lent_entities(self._hass, lender, channels)
        else:
            channels = satellite.channels()
            device_id = self._device(satellite)
            entries = entities_by_channel(self._own(satellite), satellite.mac)
        aliases = self._entry.options.get(CONF_ALIASES, {})
        return [
            settled(
                self._hass,
                channel,
                entries.get(channel.id),
                device_id,
                aliases.get(f"{satellite.subentry_id}/{channel.id}", ()),
            )
            for channel in channels
        ]

    def _device(self, satellite: Satellite) -> str | None:
        device = dr.async_get(self._hass).async_get_device_by_identifier(
            (DOMAIN, satellite.mac), self._entry.entry_id
        )
        return device.id if device else None

    def _own(self, satellite: Satellite) -> list[er.RegistryEntry]:
        device_id = self._device(satellite)
        if device_id is None:
            return []
        return er.async_entries_for_device(
            er.async_get(self._hass), device_id, include_disabled_entities=True
        )

    @callback
    def lender(self, subentry_id: str) -> str | None:
        """Return the ESPHome entry whose connection a satellite uses."""
        subentry = self._entry.subentries.get(subentry_id)
        return subentry.data.get(CONF_ESPHOME_ENTRY) if subentry else None
