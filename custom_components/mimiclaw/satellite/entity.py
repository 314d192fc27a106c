"""What every entity of a satellite has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.util import language as language_util

from ..const import CONF_ESPHOME_ENTRY, DOMAIN
from .model import Channel, ChannelState
from .platforms import domain_of
from .refusals import raise_if_refused

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry
    from homeassistant.const import Platform
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .model import Command
    from .registry import Satellites
    from .satellite import Satellite

#: Assist's name in Home Assistant's exposure settings.
ASSIST = "conversation"

type Factory = Callable[[Satellites, Channel], Entity]
type SatelliteFactory = Callable[[Satellites, Satellite], Iterable[Entity]]


@callback
def async_add_channels(
    entry: ConfigEntry[Any],
    satellites: Satellites,
    async_add_entities: AddConfigEntryEntitiesCallback,
    platform: Platform,
    factory: Factory,
) -> None:
    """Add an entity for every channel of one platform, now and as channels appear."""
    there: set[str] = set()

    @callback
    def follow() -> None:
        channels = {
            channel.key: channel
            for channel in satellites.channels()
            if domain_of(channel) is platform and is_native(entry, channel.satellite)
        }
        there.intersection_update(channels)
        for key, channel in channels.items():
            if key not in there:
                there.add(key)
                async_add_entities(
                    [factory(satellites, channel)], config_subentry_id=channel.satellite
                )

    entry.async_on_unload(satellites.async_add_listener(follow))
    follow()


@callback
def async_add_for_satellites(
    entry: ConfigEntry[Any],
    satellites: Satellites,
    async_add_entities: AddConfigEntryEntitiesCallback,
    factory: SatelliteFactory,
) -> None:
    """Add what every satellite has once, now and as satellites appear."""
    there: set[str] = set()

    @callback
    def follow() -> None:
        known = {
            one.subentry_id: one
            for one in satellites.satellites()
            if one.description is not None and is_native(entry, one.subentry_id)
        }
        there.intersection_update(known)
        for subentry_id, satellite in known.items():
            if subentry_id not in there:
                there.add(subentry_id)
                async_add_entities(
                    factory(satellites, satellite), config_subentry_id=subentry_id
                )

    entry.async_on_unload(satellites.async_add_listener(follow))
    follow()


def is_native(entry: ConfigEntry[Any], subentry_id: str) -> bool:
    """Tell whether the entities are ours to make; ESPHome has those of a lent device."""
    subentry = entry.subentries.get(subentry_id)
    return subentry is not None and CONF_ESPHOME_ENTRY not in subentry.data


def _title(name: str) -> str:
    """Return a spoken name as a title: only its first letter changes."""
    return name[:1].upper() + name[1:]


class SatelliteEntity(Entity):
    """An entity of a satellite's device. The registry knows it by MAC, never by name."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, satellites: Satellites, mac: str, name: str) -> None:
        self._satellites = satellites
        self._attr_unique_id = f"{mac}-{name}"
        self._attr_device_info = DeviceInfo(identifiers={(DOMAIN, mac)})


class ChannelEntity(SatelliteEntity):
    """The face of one channel."""

    def __init__(self, satellites: Satellites, channel: Channel) -> None:
        mac = next(
            one.mac
            for one in satellites.satellites()
            if one.subentry_id == channel.satellite
        )
        super().__init__(satellites, mac, channel.id)
        self._key = channel.key
        self._channel = channel
        self._attr_translation_key = f"channel_{channel.kind}"

    @property
    def name(self) -> str:
        """Return the channel's name in the house's language, or the device's own."""
        names = self._channel.names
        spoken = [code for code in names if code]
        found = language_util.matches(self.hass.config.language, spoken)
        return _title(names[found[0]][0]) if found else self._channel.name

    @property
    def available(self) -> bool:
        """Tell whether the device answers."""
        return self._satellites.available(self._key)

    @property
    def channel_state(self) -> ChannelState:
        """Return what the channel is known to be."""
        return self._satellites.state(self._key)

    async def async_added_to_hass(self) -> None:
        """Follow the channel."""
        if self._channel.confirm:
            self._keep_from_assist()
        self.async_on_remove(
            self._satellites.async_add_channel_listener(self._key, self._follow)
        )

    @callback
    def _follow(self) -> None:
        channel = self._satellites.channel(self._key)
        if channel is not None and channel != self._channel:
            self._channel = channel
            self.channel_changed()
        self.async_write_ha_state()

    @callback
    def _keep_from_assist(self) -> None:
        """Keep a channel that wants a yes away from Assist's own sentences.

        Those act at once. The owner may expose it all the same; that is respected.
        """
        entry = er.async_get(self.hass).async_get(self.entity_id)
        if entry is not None and ASSIST not in entry.options:
            async_expose_entity(self.hass, ASSIST, self.entity_id, False)

    @callback
    def channel_changed(self) -> None:
        """Take over what the device now says of the channel."""

    async def async_command(
        self, state: Command, duration_s: float | None = None
    ) -> None:
        """Command the channel as an automation; raises what the device refuses."""
        outcome = await self._satellites.write(
            self._key, state, duration_s, "automation"
        )
        raise_if_refused(self._satellites, outcome)
