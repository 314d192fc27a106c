"""Schema of one channel and of what channels must agree on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import esphome.codegen as cg
import esphome.config_validation as cv
from esphome.const import (
    CONF_DEVICE_CLASS,
    CONF_DISABLED_BY_DEFAULT,
    CONF_ICON,
    CONF_ID,
    CONF_INVERTED,
    CONF_MODE,
    CONF_NAME,
    CONF_NUMBER,
    CONF_PIN,
    CONF_PULLDOWN,
    CONF_PULLUP,
    CONF_UNIT_OF_MEASUREMENT,
)
from esphome.core import ID
from esphome.types import ConfigType

from esphome import pins
from esphome.components import binary_sensor, button, sensor, switch

from .const import (
    ACTORS,
    CONF_ACTORS,
    CONF_ALLOW_STRAPPING,
    CONF_CONFIRM,
    CONF_DEBOUNCE,
    CONF_ENTITY,
    CONF_INTERLOCK,
    CONF_KIND,
    CONF_MAX_ON_TIME,
    CONF_MIN_OFF_TIME,
    CONF_MIN_ON_TIME,
    CONF_NAMES,
    CONF_PULSE,
    CONF_RESTORE,
    CONF_SAFE_STATE,
    CONF_SAMPLE,
    CONF_VALUE_RANGE,
    CONF_VOLTAGE_RANGE,
    KIND_ANALOG,
    KIND_INPUT,
    KINDS,
    MAX_DEBOUNCE_MS,
    MAX_NAME_LENGTH,
    MAX_NAMES_PER_LANGUAGE,
    MAX_TIME_MS,
    OUTPUT_KINDS,
)
from .pin_rules import check_pin

mimiclaw_ns = cg.esphome_ns.namespace("mimiclaw_io")
MimiClawIO = mimiclaw_ns.class_("MimiClawIO", cg.Component)
MimiClawSwitch = mimiclaw_ns.class_("MimiClawSwitch", switch.Switch)
MimiClawButton = mimiclaw_ns.class_("MimiClawButton", button.Button)

# What only makes sense on a channel that drives something
_OUTPUT_OPTIONS = (
    CONF_ACTORS,
    CONF_ALLOW_STRAPPING,
    CONF_CONFIRM,
    CONF_INTERLOCK,
    CONF_MAX_ON_TIME,
    CONF_MIN_OFF_TIME,
    CONF_MIN_ON_TIME,
    CONF_PULSE,
    CONF_RESTORE,
    CONF_SAFE_STATE,
)
_INPUT_OPTIONS = (CONF_DEBOUNCE,)
_ANALOG_OPTIONS = (
    CONF_SAMPLE,
    CONF_UNIT_OF_MEASUREMENT,
    CONF_VALUE_RANGE,
    CONF_VOLTAGE_RANGE,
)
# Handed on to the entity as they are
_ENTITY_OPTIONS = (
    CONF_DEVICE_CLASS,
    CONF_DISABLED_BY_DEFAULT,
    CONF_ICON,
    CONF_NAME,
    CONF_UNIT_OF_MEASUREMENT,
)


def channel_id(value: Any) -> str:
    """A channel's id: lower-case letters, digits and _, starting with a letter."""
    text = cv.string_strict(value)
    if not text or not text[0].isalpha() or len(text) > 32:
        raise cv.Invalid(
            "A channel id starts with a letter and has at most 32 characters"
        )
    if any(
        not (c.isascii() and (c.islower() or c.isdigit() or c == "_")) for c in text
    ):
        raise cv.Invalid("A channel id has lower-case letters, digits and _ only")
    return text


def _duration(value: Any) -> cv.TimePeriod:
    period = cv.positive_time_period_milliseconds(value)
    if period.total_milliseconds > MAX_TIME_MS:
        raise cv.Invalid(
            "Longer than a day is not a relay's job; let an automation renew it"
        )
    return period


def _names(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise cv.Invalid("Names go by language: {en: [water pump, pump], de: [Pumpe]}")
    names: dict[str, list[str]] = {}
    for key, spoken in value.items():
        language = cv.string_strict(key)
        texts = [text.strip() for text in cv.ensure_list(cv.string_strict)(spoken)]
        if not texts or any(not text for text in texts):
            raise cv.Invalid(f"An empty name in {language}")
        if len(texts) > MAX_NAMES_PER_LANGUAGE:
            raise cv.Invalid(f"More than {MAX_NAMES_PER_LANGUAGE} names in {language}")
        if any(len(text) > MAX_NAME_LENGTH for text in texts):
            raise cv.Invalid(f"A name over {MAX_NAME_LENGTH} characters in {language}")
        names[language] = texts
    return names


def _float_pair(value: Any) -> list[float]:
    if not isinstance(value, list) or len(value) != 2:
        raise cv.Invalid("Two numbers, low and high: [0.0, 3.3]")
    return [cv.float_(value[0]), cv.float_(value[1])]


def _voltages(value: Any) -> list[float]:
    low, high = _float_pair(value)
    if low == high:
        raise cv.Invalid(
            "The two voltages are the same; nothing could be told from them"
        )
    return [low, high]


_CHANNEL_SCHEMA = cv.Schema(
    {
        cv.Required(CONF_ID): channel_id,
        cv.Required(CONF_NAME): cv.string_strict,
        cv.Required(CONF_KIND): cv.one_of(*KINDS, lower=True),
        cv.Required(CONF_PIN): cv.Any(dict, cv.string, int),
        cv.Optional(CONF_NAMES, default={}): _names,
        cv.Optional(CONF_INVERTED, default=False): cv.boolean,
        cv.Optional(CONF_ALLOW_STRAPPING): cv.boolean,
        cv.Optional(CONF_SAFE_STATE): cv.boolean,
        cv.Optional(CONF_RESTORE): cv.boolean,
        cv.Optional(CONF_CONFIRM): cv.boolean,
        cv.Optional(CONF_ACTORS): cv.All(
            cv.ensure_list(cv.one_of(*ACTORS, lower=True)), cv.Length(min=1)
        ),
        cv.Optional(CONF_INTERLOCK): channel_id,
        cv.Optional(CONF_MAX_ON_TIME): _duration,
        cv.Optional(CONF_MIN_ON_TIME): _duration,
        cv.Optional(CONF_MIN_OFF_TIME): _duration,
        cv.Optional(CONF_PULSE): _duration,
        cv.Optional(CONF_DEBOUNCE): _duration,
        cv.Optional(CONF_SAMPLE): _duration,
        cv.Optional(CONF_VOLTAGE_RANGE): _voltages,
        cv.Optional(CONF_VALUE_RANGE): _float_pair,
        cv.Optional(CONF_UNIT_OF_MEASUREMENT): cv.string_strict,
        cv.Optional(CONF_DEVICE_CLASS): cv.string_strict,
        cv.Optional(CONF_ICON): cv.icon,
        cv.Optional(CONF_DISABLED_BY_DEFAULT): cv.boolean,
    }
)


def ms(config: ConfigType, key: str) -> int:
    """Milliseconds of an optional time, 0 when it is not given."""
    period = config.get(key)
    return 0 if period is None else int(period.total_milliseconds)


def _check_options(config: ConfigType) -> None:
    kind = config[CONF_KIND]
    foreign: list[tuple[str, ...]] = []
    if kind not in OUTPUT_KINDS:
        foreign.append(_OUTPUT_OPTIONS)
    if kind != KIND_INPUT:
        foreign.append(_INPUT_OPTIONS)
    if kind != KIND_ANALOG:
        foreign.append(_ANALOG_OPTIONS)
    for option in (option for options in foreign for option in options):
        if option in config:
            raise cv.Invalid(
                f"{option} means nothing on an {kind}"
                if kind[0] in "aeiou"
                else f"{option} means nothing on a {kind}",
                [option],
            )
    if kind == KIND_ANALOG and config[CONF_INVERTED]:
        raise cv.Invalid(
            "Swap voltage_range instead of inverting an analog channel", [CONF_INVERTED]
        )


def _check_times(config: ConfigType) -> None:
    max_on, min_on, pulse = (
        ms(config, key) for key in (CONF_MAX_ON_TIME, CONF_MIN_ON_TIME, CONF_PULSE)
    )
    for key in (CONF_MAX_ON_TIME, CONF_PULSE, CONF_SAMPLE):
        if key in config and ms(config, key) == 0:
            raise cv.Invalid("Longer than zero, or leave it out", [key])
    if max_on and max_on < min_on:
        raise cv.Invalid(
            "max_on_time is shorter than min_on_time: the channel could neither stay on nor go off",
            [CONF_MAX_ON_TIME],
        )
    if pulse and max_on and pulse > max_on:
        raise cv.Invalid("The pulse is longer than max_on_time allows", [CONF_PULSE])
    if pulse and pulse < min_on:
        raise cv.Invalid("The pulse is shorter than min_on_time", [CONF_PULSE])
    if ms(config, CONF_DEBOUNCE) > MAX_DEBOUNCE_MS:
        raise cv.Invalid(f"debounce over {MAX_DEBOUNCE_MS} ms", [CONF_DEBOUNCE])


def _check_states(config: ConfigType) -> None:
    if config.get(CONF_SAFE_STATE):
        if CONF_MAX_ON_TIME in config:
            raise cv.Invalid(
                "safe_state: on and max_on_time contradict each other",
                [CONF_SAFE_STATE],
            )
        if CONF_PULSE in config:
            raise cv.Invalid(
                "A momentary channel rests off; safe_state: on would hold it",
                [CONF_SAFE_STATE],
            )
    if config.get(CONF_RESTORE):
        if CONF_PULSE in config:
            raise cv.Invalid(
                "A momentary channel has no state to restore", [CONF_RESTORE]
            )
        if CONF_MAX_ON_TIME in config:
            raise cv.Invalid(
                "restore would start max_on_time anew at every restart, so it could stay on for ever",
                [CONF_RESTORE],
            )
        if CONF_MIN_OFF_TIME in config:
            raise cv.Invalid(
                "restore switches on right after the power came back, which min_off_time forbids",
                [CONF_RESTORE],
            )


def _validate_pin(config: ConfigType) -> ConfigType:
    kind = config[CONF_KIND]
    if kind in OUTPUT_KINDS:
        schema: Callable[[Any], ConfigType] = pins.internal_gpio_output_pin_schema
    else:
        schema = pins.internal_gpio_input_pin_schema
    with cv.prepend_path([CONF_PIN]):
        pin = config[CONF_PIN]
        if config.get(CONF_ALLOW_STRAPPING) and not isinstance(pin, dict):
            # The owner has just said so; ESPHome need not warn as well.
            pin = {CONF_NUMBER: pin}
        pin = schema(pin)
        check_pin(pin[CONF_NUMBER], kind, config.get(CONF_ALLOW_STRAPPING, False))
        if kind == KIND_ANALOG and pin[CONF_INVERTED]:
            raise cv.Invalid("An analog pin cannot be inverted")
    if pin[CONF_INVERTED]:
        if config[CONF_INVERTED]:
            raise cv.Invalid(
                "inverted is said twice, on the channel and on its pin", [CONF_INVERTED]
            )
        config[CONF_INVERTED] = True
    config[CONF_PIN] = pin
    return config


def _entity(config: ConfigType) -> ConfigType:
    """The entity that stands for the channel, as its platform's own schema makes it."""
    options: ConfigType = {key: config[key] for key in _ENTITY_OPTIONS if key in config}
    options[CONF_ID] = f"mimiclaw_{config[CONF_ID]}"
    kind = config[CONF_KIND]
    if kind == KIND_INPUT:
        return binary_sensor.binary_sensor_schema()(options)
    if kind == KIND_ANALOG:
        return sensor.sensor_schema(accuracy_decimals=1, state_class="measurement")(
            options
        )
    if CONF_PULSE in config:
        return button.button_schema(MimiClawButton)(options)
    return switch.switch_schema(MimiClawSwitch, default_restore_mode="DISABLED")(
        options
    )


def channel(value: Any) -> ConfigType:
    """Validate one channel (raises cv.Invalid with the reason)."""
    config: ConfigType = _CHANNEL_SCHEMA(value)
    _check_options(config)
    _check_times(config)
    _check_states(config)
    _validate_pin(config)
    config[CONF_ENTITY] = _entity(config)
    return config


def channels(configs: list[ConfigType]) -> list[ConfigType]:
    """Check what channels must agree on: ids, pins, interlocks."""
    ids: set[str] = set()
    pin_of: dict[int, str] = {}
    groups: dict[str, list[ConfigType]] = {}
    for index, config in enumerate(configs):
        name = config[CONF_ID]
        if name in ids:
            raise cv.Invalid(f"Two channels are called {name}", [index, CONF_ID])
        ids.add(name)
        number = config[CONF_PIN][CONF_NUMBER]
        if number in pin_of:
            raise cv.Invalid(
                f"{name} and {pin_of[number]} share pin {number}; one would switch the other",
                [index, CONF_PIN],
            )
        pin_of[number] = name
        if CONF_INTERLOCK in config:
            groups.setdefault(config[CONF_INTERLOCK], []).append(config)
    for group, members in groups.items():
        if len(members) == 1:
            raise cv.Invalid(
                f"The interlock {group} has one member, {members[0][CONF_ID]}; "
                "it would guard against nothing"
            )
        if sum(bool(member.get(CONF_SAFE_STATE)) for member in members) > 1:
            raise cv.Invalid(
                f"Two members of the interlock {group} have safe_state: on"
            )
    return configs


def pulls(config: ConfigType) -> tuple[bool, bool]:
    """Whether the pin is pulled up, pulled down."""
    mode = config[CONF_PIN][CONF_MODE]
    return bool(mode.get(CONF_PULLUP)), bool(mode.get(CONF_PULLDOWN))


def entity_id(config: ConfigType) -> ID:
    """Id of the entity that stands for the channel."""
    return config[CONF_ENTITY][CONF_ID]
