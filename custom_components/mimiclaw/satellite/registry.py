"""All satellites of the assistant, and the channels on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
import math
from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import callback
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later

from ..const import DOMAIN, SUBENTRY_SATELLITE
from . import issues, naming
from .borrowed_entities import ESPHOME
from .devices import Devices
from .limits import MAX_DURATION_S, STEADY_S
from .links import create_link
from .listeners import EventListener, Listener, Listeners
from .memory import Memory
from .model import Channel, ChannelState, Code, Outcome
from .satellite import Satellite

if TYPE_CHECKING:
    from datetime import datetime

    from homeassistant.config_entries import ConfigEntry, ConfigSubentry
    from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant

    from .model import Actor, Command, PolicyEvent

#: Who must ask before a channel with `confirm` is touched. A person who presses a
#: switch or writes an automation has decided already.
_MUST_ASK = frozenset({"fast_path", "agent"})


class Satellites:
    """Knows every channel, also of a device that is away, and commands them."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry[Any]) -> None:
        self._hass = hass
        self._entry = entry
        self._memory = Memory(hass)
        self._devices = Devices(hass, entry)
        self._satellites: dict[str, Satellite] = {}
        self._seen: dict[str, dict[str, Any]] = {}
        self._channels: dict[str, Channel] = {}
        self._listeners = Listeners()
        self._settling: dict[str, CALLBACK_TYPE] = {}
        self._unsubscribe: list[CALLBACK_TYPE] = []
        self._counting: asyncio.Handle | None = None
        self._uncounted: set[Satellite] = set()
        #: One change of satellites at a time, or a link could be replaced twice.
        self._changing = asyncio.Lock()
        self._stopped = False
        self._rest = _rest_of(entry)

    async def async_start(self) -> None:
        """Take up every satellite; none is waited for."""
        await self._memory.async_load()
        listen = self._hass.bus.async_listen
        self._unsubscribe = [
            async_dispatcher_connect(
                self._hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._entry_changed
            ),
            listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._entity_changed),
            listen(dr.EVENT_DEVICE_REGISTRY_UPDATED, self._place_changed),
            listen(ar.EVENT_AREA_REGISTRY_UPDATED, self._place_changed),
            listen(EVENT_HOMEASSISTANT_CLOSE, self._closing),
        ]
        for subentry in self._subentries().values():
            await self._take_up(subentry)
        self._recount(self._satellites.values())

    async def async_stop(self) -> None:
        """End every link, task and listener."""
        self._stopped = True
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        if self._counting is not None:
            self._counting.cancel()
        async with self._changing:
            for subentry_id in list(self._satellites):
                await self._let_go(subentry_id)
        await self._memory.async_flush()

    def satellites(self) -> list[Satellite]:
        """Return every satellite."""
        return list(self._satellites.values())

    def channels(self) -> list[Channel]:
        """Return every known channel, by satellite and as the device lists them."""
        return list(self._channels.values())

    def channel(self, key: str) -> Channel | None:
        """Return one channel by its key."""
        return self._channels.get(key)

    def resolve(
        self, text: str, language: str | None = None, area: str | None = None
    ) -> list[Channel]:
        """Return the channels a text means; see naming.resolve."""
        return naming.resolve(self._channels.values(), text, language, area)

    def available(self, key: str) -> bool:
        """Tell whether the channel's device answers."""
        satellite = self._satellites.get(key.partition("/")[0])
        return satellite is not None and satellite.available

    def state(self, key: str) -> ChannelState:
        """Return what is known of a channel, without asking the device."""
        subentry_id, _, channel_id = key.partition("/")
        satellite = self._satellites.get(subentry_id)
        return satellite.state(channel_id) if satellite else ChannelState()

    def lender(self, subentry_id: str) -> str | None:
        """Return the ESPHome entry whose connection a satellite uses, if it does."""
        return self._devices.lender(subentry_id)

    def needs_yes(self, key: str, actor: Actor, state: Command) -> bool:
        """Tell whether a person has to confirm before this actor may write.

        Going off needs no yes where off is the safe state: nobody should have to argue
        with a heater.
        """
        channel = self._channels.get(key)
        if channel is None or not channel.confirm or actor not in _MUST_ASK:
            return False
        return state != "off" or channel.safe

    async def write(
        self,
        key: str,
        state: Command,
        duration_s: float | None = None,
        actor: Actor = "automation",
        *,
        confirmed: bool = False,
    ) -> Outcome:
        """Command a channel and return what the device did.

        Sent before this first waits, so commands to a channel keep their order. It
        fails at once while the device is away and after a second without an answer; it
        is not carried out later. `duration_s` turns `on` into a timed one.
        """
        if (channel := self._channels.get(key)) is None:
            return Outcome(False, Code.UNKNOWN_CHANNEL, key)
        if not channel.driven:
            return Outcome(False, Code.WRONG_KIND, key)
        duration_ms = 0
        if duration_s is not None:
            if not math.isfinite(duration_s) or not 0 < duration_s <= MAX_DURATION_S:
                limit = int(MAX_DURATION_S * 1000)
                return Outcome(False, Code.BAD_DURATION, key, limit_ms=limit)
            duration_ms = max(1, round(duration_s * 1000))
        satellite = self._satellites[channel.satellite]
        if not satellite.available:
            return Outcome(False, Code.UNREACHABLE, key)
        if not confirmed and self.needs_yes(key, actor, state):
            return Outcome(False, Code.CONFIRM, key)
        return await satellite.write(channel, state, duration_ms, actor)

    async def read(self, key: str) -> Outcome:
        """Ask the device for a channel; changes nothing there."""
        if (channel := self._channels.get(key)) is None:
            return Outcome(False, Code.UNKNOWN_CHANNEL, key)
        return await self._satellites[channel.satellite].read(channel)

    @callback
    def async_add_listener(self, listener: Listener) -> CALLBACK_TYPE:
        """Call when channels, their names or policy, or availability change."""
        return self._listeners.add(listener)

    @callback
    def async_add_channel_listener(self, key: str, listener: Listener) -> CALLBACK_TYPE:
        """Call when a channel, its state or its device's availability changes."""
        return self._listeners.add_for(key, listener)

    @callback
    def async_add_figure_listener(
        self, subentry_id: str, listener: Listener
    ) -> CALLBACK_TYPE:
        """Call when one of a device's own figures, or its availability, changes."""
        return self._listeners.add_for(subentry_id, listener)

    @callback
    def async_add_event_listener(
        self, subentry_id: str, listener: EventListener
    ) -> CALLBACK_TYPE:
        """Call when a device acts or refuses by its own policy."""
        return self._listeners.add_for_events(subentry_id, listener)

    def poke(self, mac: str) -> None:
        """Try a device now: it has shown itself on the network."""
        for satellite in self._satellites.values():
            if satellite.mac == mac and satellite.link and not satellite.available:
                satellite.link.poke()

    async def async_sync(self) -> None:
        """Follow the subentries: take up new ones, repoint changed ones, let go."""
        async with self._changing:
            if not self._stopped:
                await self._follow_subentries()

    async def _follow_subentries(self) -> None:
        wanted = self._subentries()
        before = list(self._satellites.values())
        for satellite in before:
            subentry = wanted.get(satellite.subentry_id)
            if subentry is None or subentry.unique_id != satellite.mac:
                await self._let_go(satellite.subentry_id, forget=subentry is None)
            elif dict(subentry.data) != self._seen[satellite.subentry_id]:
                await self._connect(satellite, subentry)
        for subentry_id, subentry in wanted.items():
            if subentry_id not in self._satellites:
                await self._take_up(subentry)
        self._recount([*before, *self._satellites.values()])

    @callback
    def async_nothing_else_changed(self) -> bool:
        """Tell whether the entry is, but for its satellites, as it was at the start.

        Then nothing needs to be loaded anew: the satellites follow by themselves, and
        no turn is cut off because a device got another address.
        """
        return _rest_of(self._entry) == self._rest

    def _subentries(self) -> dict[str, ConfigSubentry]:
        return {
            subentry_id: subentry
            for subentry_id, subentry in self._entry.subentries.items()
            if subentry.subentry_type == SUBENTRY_SATELLITE
        }

    async def _take_up(self, subentry: ConfigSubentry) -> None:
        mac = subentry.unique_id or ""
        satellite = Satellite(
            subentry.subentry_id, mac, subentry.title, self._memory.recall(mac), self
        )
        self._satellites[subentry.subentry_id] = satellite
        await self._connect(satellite, subentry)

    async def _connect(self, satellite: Satellite, subentry: ConfigSubentry) -> None:
        """Give a satellite the link its subentry asks for, in place of the one it has."""
        self._seen[subentry.subentry_id] = dict(subentry.data)
        if satellite.link is not None:
            await satellite.link.async_stop()
        satellite.link = create_link(self._hass, self._entry, subentry, satellite)
        await satellite.link.async_start()

    async def _let_go(self, subentry_id: str, *, forget: bool = False) -> None:
        satellite = self._satellites.pop(subentry_id)
        self._seen.pop(subentry_id)
        if cancel := self._settling.pop(subentry_id, None):
            cancel()
        if satellite.link is not None:
            await satellite.link.async_stop()
        if forget:
            self._memory.forget(satellite.mac)
            issues.clear(self._hass, subentry_id)

    @callback
    def _entry_changed(self, _change: object, entry: ConfigEntry[Any]) -> None:
        if entry.entry_id != self._entry.entry_id or self._stopped:
            return
        wanted = {key: dict(sub.data) for key, sub in self._subentries().items()}
        if wanted != self._seen:
            self._entry.async_create_task(self._hass, self.async_sync(), "satellites")

    @callback
    def _entity_changed(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Count the satellite anew whose entity it is: its name, aliases or area."""
        entry = er.async_get(self._hass).async_get(event.data["entity_id"])
        if entry is None or entry.platform not in {DOMAIN, ESPHOME}:
            return
        if (own := self._satellites.get(entry.config_subentry_id or "")) is not None:
            self._count_soon([own])
        elif entry.platform == ESPHOME:
            self._count_soon(self._satellites.values())

    @callback
    def _place_changed(self, _event: Event[Any]) -> None:
        self._count_soon(self._satellites.values())

    @callback
    def _count_soon(self, satellites: Iterable[Satellite]) -> None:
        """Count once after a burst: a satellite alone makes a dozen entities."""
        self._uncounted.update(satellites)
        if self._counting is None:
            self._counting = self._hass.loop.call_soon(self._count)

    @callback
    def _count(self) -> None:
        self._counting = None
        satellites, self._uncounted = self._uncounted, set()
        self._recount(satellites)

    async def _closing(self, _event: Event[Any]) -> None:
        await self.async_stop()

    @callback
    def _recount(self, satellites: Iterable[Satellite]) -> None:
        """Work out the channels of some satellites anew; tell who listens of changes."""
        counted = list(satellites)
        ids = {one.subentry_id for one in counted}
        fresh = {
            channel.key: channel
            for one in counted
            if one.subentry_id in self._satellites
            for channel in self._devices.settle(one)
        }
        known = {
            key: one for key, one in self._channels.items() if one.satellite in ids
        }
        if fresh == known:
            return
        kept = {key: one for key, one in self._channels.items() if key not in known}
        self._channels = kept | fresh
        self._listeners.tell()
        changed = {
            key
            for key in known.keys() | fresh.keys()
            if known.get(key) != fresh.get(key)
        }
        self._listeners.tell_of(*changed)

    @callback
    def satellite_described(self, satellite: Satellite, *, changed: bool) -> None:
        """Register the device and clean up after channels that are gone."""
        if changed and satellite.description is not None:
            self._memory.keep(satellite.mac, satellite.description)
        self._devices.register(satellite)
        self._recount([satellite])
        self._devices.clean_up(satellite)

    @callback
    def satellite_available(self, satellite: Satellite) -> None:
        """Pass availability on."""
        subentry_id = satellite.subentry_id
        if cancel := self._settling.pop(subentry_id, None):
            cancel()
        if satellite.available:
            self._settling[subentry_id] = async_call_later(
                self._hass, STEADY_S, self._believe(satellite)
            )
        self._listeners.tell()
        self._listeners.tell_of_channels(satellite.channels())
        self._listeners.tell_of(subentry_id)

    @callback
    def satellite_trouble(self, satellite: Satellite) -> None:
        """Tell the owner in the repairs."""
        issues.show(self._hass, self._entry, satellite)

    @callback
    def satellite_channel(self, satellite: Satellite, channel_id: str) -> None:
        """Pass a channel's state on."""
        self._listeners.tell_of(f"{satellite.subentry_id}/{channel_id}")

    @callback
    def satellite_figure(self, satellite: Satellite, name: str) -> None:
        """Pass a figure on."""
        self._listeners.tell_of(satellite.subentry_id)

    @callback
    def satellite_event(self, satellite: Satellite, event: PolicyEvent) -> None:
        """Pass an event on."""
        self._listeners.tell_of_event(satellite.subentry_id, event)

    def _believe(self, satellite: Satellite) -> Callable[[datetime], None]:
        @callback
        def settled(_now: datetime) -> None:
            self._settling.pop(satellite.subentry_id, None)
            satellite.settle()

        return settled


def _rest_of(entry: ConfigEntry[Any]) -> tuple[Any, ...]:
    """Return all of an entry that is not a satellite."""
    others = {
        key: (one.subentry_type, one.title, dict(one.data))
        for key, one in entry.subentries.items()
        if one.subentry_type != SUBENTRY_SATELLITE
    }
    return entry.title, dict(entry.data), dict(entry.options), others
