"""mimiclaw_io: relays, outputs, inputs and analog channels under one policy, on one pinned task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import esphome.codegen as cg
from esphome.config_helpers import filter_source_files_from_platform
import esphome.config_validation as cv
from esphome.const import (
    CONF_DEVICE_CLASS,
    CONF_ID,
    CONF_INVERTED,
    CONF_NAME,
    CONF_NUMBER,
    CONF_PIN,
    CONF_PRIORITY,
    CONF_UNIT_OF_MEASUREMENT,
    PLATFORM_ESP32,
    PLATFORM_HOST,
    PlatformFramework,
)
from esphome.core import CORE
from esphome.cpp_generator import MockObj
from esphome.types import ConfigType

from esphome.components import (
    binary_sensor,
    button,
    esp32,
    event,
    ota,
    sensor,
    switch,
)

from .channel import MimiClawIO, channel, channels, mimiclaw_ns, ms, pulls
from .const import (
    ACTORS,
    CONF_ACTORS,
    CONF_BOOT_DELAY,
    CONF_CHANNELS,
    CONF_CONFIRM,
    CONF_CORE,
    CONF_DEBOUNCE,
    CONF_DIAGNOSTICS,
    CONF_DIAGNOSTICS_INTERVAL,
    CONF_ENTITY,
    CONF_EVENT,
    CONF_INTERLOCK,
    CONF_KIND,
    CONF_LINK_LOSS,
    CONF_LINK_TIMEOUT,
    CONF_MAX_ON_TIME,
    CONF_MIN_OFF_TIME,
    CONF_MIN_ON_TIME,
    CONF_NAMES,
    CONF_PULSE,
    CONF_RESTORE,
    CONF_SAFE_STATE,
    CONF_SAMPLE,
    CONF_STALL_TIMEOUT,
    CONF_TICK,
    CONF_TWIN_SOCKET,
    CONF_VALUE_RANGE,
    CONF_VOLTAGE_RANGE,
    KIND_ANALOG,
    KIND_INPUT,
    MAX_CHANNELS,
    OUTPUT_KINDS,
)
from .diagnostics import DIAGNOSTICS_SCHEMA, EVENT_TYPES, diagnostics_to_code

CODEOWNERS = ["@mimiclaw"]
DEPENDENCIES = ["api"]

ChannelConfig = mimiclaw_ns.struct("ChannelConfig")
ChannelInfo = mimiclaw_ns.struct("ChannelInfo")
DeviceConfig = mimiclaw_ns.struct("DeviceConfig")
Kind = mimiclaw_ns.enum("Kind", is_class=True)


def AUTO_LOAD() -> list[str]:  # noqa: N802 (ESPHome looks for this name)
    """The platforms our entities live on; ESPHome's JSON only where it can be had (see twin_include)."""
    loads = ["binary_sensor", "button", "event", "sensor", "switch", "text_sensor"]
    if not CORE.is_host:
        loads.append("json")
    return loads


def _tick(value: Any) -> cv.TimePeriod:
    period = cv.positive_time_period_microseconds(value)
    # FreeRTOS counts in milliseconds; slower than 20 ms a debounced button feels dead.
    if (
        period.total_microseconds % 1000
        or not 1000 <= period.total_microseconds <= 20000
    ):
        raise cv.Invalid("The tick is 1 to 20 whole milliseconds")
    return period


def _twin_only(config: ConfigType) -> ConfigType:
    if CONF_TWIN_SOCKET in config and not CORE.is_host:
        raise cv.Invalid(
            "twin_socket opens the pins to anyone on the machine; it exists on the host platform only",
            [CONF_TWIN_SOCKET],
        )
    return config


CONFIG_SCHEMA = cv.All(
    cv.Schema(
        {
            cv.GenerateID(): cv.declare_id(MimiClawIO),
            cv.Optional(CONF_CORE, default=0): cv.int_range(min=0, max=1),
            # Above ESPHome's loop (1), below Wi-Fi (23) and lwIP (18)
            cv.Optional(CONF_PRIORITY, default=17): cv.int_range(min=1, max=22),
            cv.Optional(CONF_TICK, default="1ms"): _tick,
            cv.Optional(
                CONF_LINK_TIMEOUT, default="60s"
            ): cv.positive_time_period_milliseconds,
            cv.Optional(CONF_LINK_LOSS, default="safe"): cv.one_of(
                "safe", "keep", lower=True
            ),
            cv.Optional(
                CONF_BOOT_DELAY, default="0ms"
            ): cv.positive_time_period_milliseconds,
            cv.Optional(
                CONF_STALL_TIMEOUT, default="250ms"
            ): cv.positive_time_period_milliseconds,
            cv.Required(CONF_CHANNELS): cv.All(
                cv.ensure_list(channel), cv.Length(min=1, max=MAX_CHANNELS), channels
            ),
            cv.Optional(
                CONF_EVENT, default={CONF_NAME: "Policy event"}
            ): event.event_schema(
                icon="mdi:shield-alert-outline", entity_category="diagnostic"
            ),
            cv.Optional(
                CONF_DIAGNOSTICS_INTERVAL, default="30s"
            ): cv.positive_time_period_milliseconds,
            cv.Optional(CONF_DIAGNOSTICS, default={}): DIAGNOSTICS_SCHEMA,
            cv.Optional(CONF_TWIN_SOCKET): cv.string_strict,
        }
    ).extend(cv.COMPONENT_SCHEMA),
    cv.only_on([PLATFORM_ESP32, PLATFORM_HOST]),
    _twin_only,
)

FILTER_SOURCE_FILES = filter_source_files_from_platform(
    {
        "io_task_host.cpp": {PlatformFramework.HOST_NATIVE},
        "pins_host.cpp": {PlatformFramework.HOST_NATIVE},
        "pins_host.h": {PlatformFramework.HOST_NATIVE},
        "twin_control.cpp": {PlatformFramework.HOST_NATIVE},
        "twin_control.h": {PlatformFramework.HOST_NATIVE},
        "io_task_esp32.cpp": {
            PlatformFramework.ESP32_IDF,
            PlatformFramework.ESP32_ARDUINO,
        },
        "pins_esp32.cpp": {
            PlatformFramework.ESP32_IDF,
            PlatformFramework.ESP32_ARDUINO,
        },
        "pins_esp32.h": {PlatformFramework.ESP32_IDF, PlatformFramework.ESP32_ARDUINO},
    }
)


def _channel_config(config: ConfigType, groups: list[str]) -> cg.StructInitializer:
    kind = config[CONF_KIND]
    drives = kind in OUTPUT_KINDS
    pullup, pulldown = pulls(config)
    actors = config.get(CONF_ACTORS, list(ACTORS)) if drives else []
    volts = config.get(CONF_VOLTAGE_RANGE, [0.0, 3.3])
    values = config.get(CONF_VALUE_RANGE, [0.0, 100.0])
    return cg.StructInitializer(
        ChannelConfig,
        ("id", config[CONF_ID]),
        ("kind", getattr(Kind, kind.upper())),
        ("pin", config[CONF_PIN][CONF_NUMBER]),
        ("inverted", config[CONF_INVERTED]),
        ("safe", config.get(CONF_SAFE_STATE, False)),
        ("restore", config.get(CONF_RESTORE, False)),
        ("confirm", config.get(CONF_CONFIRM, False)),
        ("pullup", pullup),
        ("pulldown", pulldown),
        ("actors", sum(ACTORS[actor] for actor in set(actors))),
        (
            "group",
            groups.index(config[CONF_INTERLOCK]) + 1 if CONF_INTERLOCK in config else 0,
        ),
        ("max_on_ms", ms(config, CONF_MAX_ON_TIME)),
        ("min_on_ms", ms(config, CONF_MIN_ON_TIME)),
        ("min_off_ms", ms(config, CONF_MIN_OFF_TIME)),
        ("pulse_ms", ms(config, CONF_PULSE)),
        # 20 ms outlasts the bounce of a reed contact and is not felt.
        ("debounce_ms", ms(config, CONF_DEBOUNCE) if CONF_DEBOUNCE in config else 20),
        ("sample_ms", ms(config, CONF_SAMPLE) or 1000),
        ("volt_low", volts[0]),
        ("volt_high", volts[1]),
        ("value_low", values[0]),
        ("value_high", values[1]),
        # Half a percent of the range: less is noise of the converter.
        ("delta", abs(values[1] - values[0]) * 0.005),
    )


async def _entity_to_code(
    var: MockObj, index: int, config: ConfigType
) -> dict[str, MockObj]:
    entity = config[CONF_ENTITY]
    if config[CONF_KIND] == KIND_INPUT:
        return {"binary_sensor_entity": await binary_sensor.new_binary_sensor(entity)}
    if config[CONF_KIND] == KIND_ANALOG:
        return {"sensor_entity": await sensor.new_sensor(entity)}
    if CONF_PULSE in config:
        face = await button.new_button(entity, index)
        key = "button_entity"
    else:
        face = await switch.new_switch(entity, index)
        key = "switch_entity"
    await cg.register_parented(face, var)
    return {key: face}


async def to_code(config: ConfigType) -> None:
    """Generate the component, its channels and everything that stands for them."""
    # Our actions are registered by the component; their answers carry data.
    cg.add_define("USE_API_USER_DEFINED_ACTIONS")
    cg.add_define("USE_API_CUSTOM_SERVICES")
    cg.add_define("USE_API_USER_DEFINED_ACTION_RESPONSES")
    cg.add_define("USE_API_USER_DEFINED_ACTION_RESPONSES_JSON")
    cg.add_define("USE_API_HOMEASSISTANT_SERVICES")
    var = cg.new_Pvariable(config[CONF_ID])
    await cg.register_component(var, config)

    cg.add(
        var.set_device(
            cg.StructInitializer(
                DeviceConfig,
                ("tick_us", config[CONF_TICK].total_microseconds),
                ("link_timeout_ms", config[CONF_LINK_TIMEOUT].total_milliseconds),
                ("link_keep", config[CONF_LINK_LOSS] == "keep"),
                ("boot_delay_ms", config[CONF_BOOT_DELAY].total_milliseconds),
            )
        )
    )
    cg.add(var.set_task(config[CONF_CORE], config[CONF_PRIORITY]))
    cg.add(var.set_stall_timeout(config[CONF_STALL_TIMEOUT].total_milliseconds))
    cg.add(
        var.set_diagnostics_interval(
            config[CONF_DIAGNOSTICS_INTERVAL].total_milliseconds
        )
    )

    groups = sorted(
        {c[CONF_INTERLOCK] for c in config[CONF_CHANNELS] if CONF_INTERLOCK in c}
    )
    for index, conf in enumerate(config[CONF_CHANNELS]):
        faces = await _entity_to_code(var, index, conf)
        info = cg.StructInitializer(
            ChannelInfo,
            ("name", conf[CONF_NAME]),
            (
                "names_json",
                json.dumps(conf[CONF_NAMES], ensure_ascii=False, separators=(",", ":")),
            ),
            ("interlock", conf.get(CONF_INTERLOCK, "")),
            ("unit", conf.get(CONF_UNIT_OF_MEASUREMENT, "")),
            ("device_class", conf.get(CONF_DEVICE_CLASS, "")),
            *(
                (key, faces.get(key, cg.nullptr))
                for key in (
                    "switch_entity",
                    "button_entity",
                    "binary_sensor_entity",
                    "sensor_entity",
                )
            ),
        )
        cg.add(var.add_channel(_channel_config(conf, groups), info))

    cg.add(
        var.set_event_entity(
            await event.new_event(config[CONF_EVENT], event_types=EVENT_TYPES)
        )
    )
    await diagnostics_to_code(var, config[CONF_DIAGNOSTICS])

    if CORE.is_host:
        here = Path(__file__).parent
        cg.add_build_flag(f"-I{here / 'twin_include'}")
        cg.add_build_flag("-pthread")
        cg.add_define("USE_MIMICLAW_TWIN")
        cg.add_define(
            "USE_MIMICLAW_TWIN_SOCKET",
            config.get(CONF_TWIN_SOCKET, "mimiclaw-twin.sock"),
        )
        cg.add_build_flag("-Wl,--wrap=_ZN7esphome19get_mac_address_rawEPh")
    else:
        esp32.include_builtin_idf_component("esp_adc")
    if "ota" in CORE.config:
        ota.request_ota_state_listeners()
