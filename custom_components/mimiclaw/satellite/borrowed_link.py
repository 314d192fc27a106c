"""Ride on the connection that the ESPHome integration already has to a device."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from homeassistant.const import (
    EVENT_SERVICE_REGISTERED,
    EVENT_STATE_CHANGED,
    STATE_ON,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
)
from homeassistant.core import State, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from ..const import LOGGER
from .borrowed_entities import ESPHOME, action_prefix, lent_device, lent_entities
from .deadlines import Deadlines
from .describe import join_pages, page_count, parse_description, parse_states
from .errors import LinkError, Trouble
from .limits import RETRY_MOST_S, RETRY_TROUBLE_S
from .link import Node
from .model import ChannelKind, ChannelState
from .session import DESCRIBE, DESCRIBE_PAGE, READ, WRITE
from .updates import POLICY_EVENT, policy_event

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant

    from .link import LinkOwner
    from .model import Actor, Command, Description

type Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class BorrowedLink:
    """Uses ESPHome's actions and its entities' states; owns no socket.

    The one thing it cannot do is take back what is already on the wire: whether a
    command to a device that vanishes in that very moment arrives later is up to the
    connection's owner.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry_id: str,
        mac: str,
        owner: LinkOwner,
        spawn: Spawn,
    ) -> None:
        self._hass = hass
        self._entry_id = entry_id
        self._mac = mac
        self._owner = owner
        self._spawn = spawn
        self._unsubscribe: list[CALLBACK_TYPE] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._deadlines = Deadlines()
        self._up = False
        self._entities: dict[str, str] = {}
        self._kinds: dict[str, ChannelKind] = {}

    @property
    def up(self) -> bool:
        """Tell whether the device answers."""
        return self._up

    async def async_start(self) -> None:
        """Begin to listen."""
        listen = self._hass.bus.async_listen
        self._unsubscribe = [
            listen(EVENT_STATE_CHANGED, self._state_changed),
            listen(EVENT_SERVICE_REGISTERED, self._look_again),
            listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._look_again),
            listen(POLICY_EVENT, self._policy_event),
        ]
        self._task = self._spawn(self._run(), f"satellite {self._mac}")

    async def async_stop(self) -> None:
        """Stop listening; the connection stays with its owner."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._down()

    def poke(self) -> None:
        """Look again now."""
        self._wake.set()

    async def write(
        self, channel: str, state: Command, duration_ms: int, actor: Actor
    ) -> Mapping[str, Any]:
        """Command a channel; see Link."""
        self._check()
        data = {
            "channel": channel,
            "state": state,
            "duration_ms": duration_ms,
            "actor": actor,
        }
        return await self._call(WRITE, data)

    async def read(self, channel: str) -> Mapping[str, Any]:
        """Ask for a channel; see Link."""
        self._check()
        return await self._call(READ, {"channel": channel})

    def _check(self) -> None:
        if not self._up:
            raise LinkError(Trouble.UNREACHABLE, "ESPHome has no connection")

    async def _call(self, action: str, data: dict[str, Any]) -> Mapping[str, Any]:
        prefix = action_prefix(self._hass, self._entry_id)
        if prefix is None or not self._hass.services.has_service(
            ESPHOME, prefix + action
        ):
            raise LinkError(Trouble.NOT_LENT, action)
        call = self._hass.services.async_call(
            ESPHOME, prefix + action, data, blocking=True, return_response=True
        )
        try:
            answer = await self._deadlines.within(call)
        except HomeAssistantError as err:
            raise LinkError(Trouble.UNREACHABLE, str(err)) from err
        if not isinstance(answer, dict):
            raise LinkError(Trouble.BAD_ANSWER, action)
        return answer

    async def _run(self) -> None:
        """Follow ESPHome's connection."""
        while True:
            self._wake.clear()
            pause = RETRY_TROUBLE_S
            connected = self._connected()
            if self._up and not connected:
                self._down()
            elif not self._up and connected:
                try:
                    await self._greet()
                except LinkError as err:
                    LOGGER.debug("%s: %s", self._mac, err)
                    pause = RETRY_MOST_S
                    if err.trouble in {Trouble.VERSION, Trouble.BAD_ANSWER}:
                        self._owner.link_trouble(err.trouble, err.detail)
                        pause = RETRY_TROUBLE_S
                except Exception:  # noqa: BLE001 - one attempt must not be the last one
                    LOGGER.exception("Satellite %s: an attempt failed", self._mac)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    def _connected(self) -> bool:
        """Tell by the entities whether ESPHome is connected: it says so nowhere else."""
        prefix = action_prefix(self._hass, self._entry_id)
        if prefix is None or not self._hass.services.has_service(
            ESPHOME, prefix + WRITE
        ):
            return False
        registry = er.async_get(self._hass)
        states = (
            self._hass.states.get(entry.entity_id)
            for entry in er.async_entries_for_config_entry(registry, self._entry_id)
        )
        return any(state and state.state != STATE_UNAVAILABLE for state in states)

    async def _greet(self) -> None:
        self._deadlines = Deadlines()
        first = await self._call(DESCRIBE, {})
        rest = [
            await self._call(DESCRIBE_PAGE, {"page": page})
            for page in range(1, page_count(first))
        ]
        answer = join_pages([first, *rest])
        description = parse_description(answer)
        if not self._connected():
            return
        self._map(description)
        states = parse_states(answer)
        node = Node(description.node, description.friendly_name, self._mac)
        self._up = True
        self._owner.link_up(node, description, states)

    def _map(self, description: Description) -> None:
        self._kinds = {one.id: one.kind for one in description.channels}
        entries = lent_entities(self._hass, self._entry_id, description.channels)
        self._entities = {entry.entity_id: one for one, entry in entries.items()}

    def _down(self) -> None:
        if self._up:
            self._up = False
            self._deadlines.break_off()
            self._owner.link_down()

    @callback
    def _look_again(self, _event: Event[Any]) -> None:
        self._wake.set()

    @callback
    def _state_changed(self, event: Event[Any]) -> None:
        state: State | None = event.data["new_state"]
        entity_id: str = event.data["entity_id"]
        gone = state is None or state.state == STATE_UNAVAILABLE
        if gone or not self._up:
            if self._is_lent(entity_id):
                self._connection_changed()
            return
        channel = self._entities.get(entity_id)
        if channel is not None and state is not None:
            self._owner.link_state(channel, self._reading(channel, state.state))

    def _connection_changed(self) -> None:
        """Look whether ESPHome is still, or again, connected.

        One entity may be gone for good; all of them mean a lost connection.
        """
        if not self._up:
            self._wake.set()
        elif not self._connected():
            self._down()

    def _is_lent(self, entity_id: str) -> bool:
        entry = er.async_get(self._hass).async_get(entity_id)
        return entry is not None and entry.config_entry_id == self._entry_id

    def _reading(self, channel: str, text: str) -> ChannelState:
        if text == STATE_UNKNOWN:
            return ChannelState()
        if self._kinds[channel] is ChannelKind.ANALOG:
            try:
                return ChannelState(value=float(text))
            except ValueError:
                return ChannelState()
        return ChannelState(state=text == STATE_ON)

    @callback
    def _policy_event(self, event: Event[Any]) -> None:
        device_id = lent_device(self._hass, self._entry_id, self._mac)
        if device_id is None or event.data.get("device_id") != device_id:
            return
        if found := policy_event(event.data):
            self._owner.link_event(found)
