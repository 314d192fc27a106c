"""Diagnostic entities of the satellite: how even the task runs and what it refused."""

from __future__ import annotations

import esphome.codegen as cg
import esphome.config_validation as cv
from esphome.const import CONF_NAME, ENTITY_CATEGORY_DIAGNOSTIC
from esphome.cpp_generator import MockObj
from esphome.types import ConfigType

from esphome.components import sensor, text_sensor

# As in io_types.cpp, in its order
EVENT_TYPES = [
    "max_on",
    "interlock",
    "refused",
    "fail_safe",
    "link_lost",
    "link_back",
    "stalled",
]

CONF_REFUSALS = "refusals"

# key: name, unit, icon, state class
_SENSORS = {
    "jitter_p99": ("IO jitter p99", "µs", "mdi:chart-bell-curve", "measurement"),
    "jitter_max": ("IO jitter max", "µs", "mdi:chart-bell-curve", "measurement"),
    "queue_high_water": (
        "Command queue high water",
        cv.UNDEFINED,
        "mdi:tray-full",
        "measurement",
    ),
    "refusal_count": (
        "Refused commands",
        cv.UNDEFINED,
        "mdi:cancel",
        "total_increasing",
    ),
    "link_losses": (
        "Link losses",
        cv.UNDEFINED,
        "mdi:lan-disconnect",
        "total_increasing",
    ),
    "uptime": ("Uptime", "s", "mdi:timer-outline", "total_increasing"),
    "io_core": ("IO core", cv.UNDEFINED, "mdi:chip", cv.UNDEFINED),
}

DIAGNOSTICS_SCHEMA = cv.Schema(
    {
        **{
            cv.Optional(key, default={CONF_NAME: name}): sensor.sensor_schema(
                unit_of_measurement=unit,
                icon=icon,
                accuracy_decimals=0,
                state_class=state_class,
                entity_category=ENTITY_CATEGORY_DIAGNOSTIC,
            )
            for key, (name, unit, icon, state_class) in _SENSORS.items()
        },
        cv.Optional(
            CONF_REFUSALS, default={CONF_NAME: "Refusals by reason"}
        ): text_sensor.text_sensor_schema(
            icon="mdi:cancel", entity_category=ENTITY_CATEGORY_DIAGNOSTIC
        ),
    }
)


async def diagnostics_to_code(var: MockObj, config: ConfigType) -> None:
    """Create the diagnostic entities and hand them to the component."""
    for key in _SENSORS:
        entity = await sensor.new_sensor(config[key])
        cg.add(getattr(var, f"set_{key}_sensor")(entity))
    refusals = await text_sensor.new_text_sensor(config[CONF_REFUSALS])
    cg.add(var.set_refusals_text_sensor(refusals))
