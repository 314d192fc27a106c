"""Events: what a satellite did or refused by its own policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.components.event import EventEntity
from homeassistant.core import callback

from .satellite.entity import SatelliteEntity, async_add_for_satellites
from .satellite.model import EVENT_TYPES
from .satellite.platforms import POLICY_EVENTS

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry
    from .satellite.model import PolicyEvent
    from .satellite.registry import Satellites
    from .satellite.satellite import Satellite

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one event entity a satellite, now and as satellites appear."""
    satellites = entry.runtime_data.satellites
    async_add_for_satellites(entry, satellites, async_add_entities, _events)


def _events(satellites: Satellites, satellite: Satellite) -> list[PolicyEvents]:
    return [PolicyEvents(satellites, satellite)]


class PolicyEvents(SatelliteEntity, EventEntity):
    """A satellite's policy at work: what automations react to."""

    _attr_translation_key = POLICY_EVENTS

    def __init__(self, satellites: Satellites, satellite: Satellite) -> None:
        super().__init__(satellites, satellite.mac, f":{POLICY_EVENTS}")
        self._satellite = satellite
        self._attr_event_types = list(EVENT_TYPES)

    @property
    def available(self) -> bool:
        """Tell whether the device answers."""
        return self._satellite.available

    async def async_added_to_hass(self) -> None:
        """Follow the device."""
        subentry_id = self._satellite.subentry_id
        self.async_on_remove(
            self._satellites.async_add_event_listener(subentry_id, self._happened)
        )
        self.async_on_remove(
            self._satellites.async_add_figure_listener(
                subentry_id, self.async_write_ha_state
            )
        )

    @callback
    def _happened(self, event: PolicyEvent) -> None:
        details: dict[str, Any] = {
            "channel": event.channel,
            "detail": event.detail,
            "other": event.other,
            "actor": event.actor,
            "milliseconds": event.ms,
            "age_ms": event.age_ms,
        }
        self._trigger_event(event.type, {k: v for k, v in details.items() if v})
        self.async_write_ha_state()
