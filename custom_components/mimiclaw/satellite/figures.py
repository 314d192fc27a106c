"""The figures a device keeps of itself."""

from __future__ import annotations

from dataclasses import dataclass

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.const import EntityCategory, UnitOfTime


@dataclass(frozen=True, kw_only=True)
class FigureDescription(SensorEntityDescription):
    """One figure; `figure` is the object id of the device's own sensor for it."""

    figure: str
    entity_category: EntityCategory | None = EntityCategory.DIAGNOSTIC
    entity_registry_enabled_default: bool = False


FIGURE_SENSORS = (
    FigureDescription(
        key="jitter_p99",
        figure="io_jitter_p99",
        translation_key="jitter_p99",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.MICROSECONDS,
        state_class=SensorStateClass.MEASUREMENT,
    ),
    FigureDescription(
        key="jitter_max",
        figure="io_jitter_max",
        translation_key="jitter_max",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.MICROSECONDS,
        state_class=SensorStateClass.MEASUREMENT,
    ),
    FigureDescription(
        key="refusals",
        figure="refused_commands",
        translation_key="refusals",
        state_class=SensorStateClass.TOTAL_INCREASING,
    ),
    FigureDescription(
        key="link_losses",
        figure="link_losses",
        translation_key="link_losses",
        state_class=SensorStateClass.TOTAL_INCREASING,
    ),
    FigureDescription(
        key="queue_high_water",
        figure="command_queue_high_water",
        translation_key="queue_high_water",
        state_class=SensorStateClass.MEASUREMENT,
    ),
    FigureDescription(
        key="uptime",
        figure="uptime",
        translation_key="device_uptime",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        state_class=SensorStateClass.TOTAL_INCREASING,
    ),
)
