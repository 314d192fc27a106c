"""Sensors of what the assistant spends: money and tokens, today, whole and by person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.const import EntityCategory
from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from .providers.usage import Spent
from .service_device import service_device

if TYPE_CHECKING:
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry

#: The price table is in US dollars.
CURRENCY = "USD"


@dataclass(frozen=True, kw_only=True)
class CostDescription(SensorEntityDescription):
    """A figure of the day's sum."""

    value: Callable[[Spent], float]


MONEY = CostDescription(
    key="cost_today",
    translation_key="cost_today",
    device_class=SensorDeviceClass.MONETARY,
    native_unit_of_measurement=CURRENCY,
    suggested_display_precision=3,
    state_class=SensorStateClass.TOTAL,
    value=lambda spent: round(spent.money, 6),
)
TOKENS = tuple(
    CostDescription(
        key=key,
        translation_key=key,
        state_class=SensorStateClass.TOTAL,
        entity_category=EntityCategory.DIAGNOSTIC,
        value=value,
    )
    for key, value in (
        ("input_tokens_today", lambda spent: spent.prompt_tokens),
        ("output_tokens_today", lambda spent: spent.output_tokens),
        ("cached_tokens_today", lambda spent: spent.cache_read_tokens),
    )
)


@callback
def async_add_costs(
    entry: MimiClawConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the sensors; a person's one when that person has first spent something."""
    async_add_entities([CostSensor(entry, one) for one in (MONEY, *TOKENS)])
    costs = entry.runtime_data.costs
    there: set[str] = set()

    @callback
    def follow() -> None:
        new = set(costs.people()) - there
        there.update(new)
        async_add_entities([PersonCostSensor(entry, person) for person in sorted(new)])

    entry.async_on_unload(costs.async_add_listener(follow))
    follow()


class CostSensor(SensorEntity):
    """One figure of today's sum."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    entity_description: CostDescription

    def __init__(
        self, entry: MimiClawConfigEntry, description: CostDescription
    ) -> None:
        """Stand under the assistant's own device."""
        self.entity_description = description
        self._costs = entry.runtime_data.costs
        self._attr_unique_id = f"{entry.entry_id}_{description.key}"
        self._attr_device_info = service_device(entry)

    @property
    def native_value(self) -> float:
        """Return today's figure."""
        return self.entity_description.value(self._costs.today())

    @property
    def last_reset(self) -> datetime:
        """Return when today began."""
        return dt_util.start_of_local_day()

    async def async_added_to_hass(self) -> None:
        """Follow the books."""
        self.async_on_remove(self._costs.async_add_listener(self.async_write_ha_state))


class PersonCostSensor(CostSensor):
    """What one person has spent today."""

    def __init__(self, entry: MimiClawConfigEntry, person: str) -> None:
        """Name the sensor after the person."""
        super().__init__(entry, MONEY)
        self._person = person
        self._attr_unique_id = f"{entry.entry_id}_{MONEY.key}_{person}"
        self._attr_translation_key = "cost_today_person"
        self._attr_translation_placeholders = {"person": person}

    @property
    def native_value(self) -> float:
        """Return today's share."""
        return self.entity_description.value(self._costs.today(self._person))
