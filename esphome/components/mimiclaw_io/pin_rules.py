"""Which pins of a chip may carry what, with the reason for every no."""

from __future__ import annotations

from dataclasses import dataclass, field

from esphome.components.esp32.const import VARIANT_ESP32, VARIANT_ESP32S3
import esphome.config_validation as cv
from esphome.core import CORE

from esphome.components import esp32

from .const import KIND_ANALOG, KIND_INPUT


@dataclass(frozen=True)
class ChipPins:
    """Pins of one chip that are not free, by what they are taken for."""

    memory: frozenset[int]
    usb: frozenset[int]
    strapping: frozenset[int]
    boot_log: frozenset[int]
    adc1: dict[int, int]
    input_only: frozenset[int] = field(default_factory=frozenset)


CHIPS = {
    VARIANT_ESP32S3: ChipPins(
        # 26-32 flash; 33-37 the second half of octal flash or PSRAM (N8R8, N16R8 and their like)
        memory=frozenset(range(26, 38)),
        usb=frozenset({19, 20}),
        strapping=frozenset({0, 3, 45, 46}),
        boot_log=frozenset({43}),
        adc1={pin: pin - 1 for pin in range(1, 11)},
    ),
    VARIANT_ESP32: ChipPins(
        # 6-11 flash; 16 and 17 PSRAM on WROVER modules
        memory=frozenset({*range(6, 12), 16, 17}),
        usb=frozenset(),
        strapping=frozenset({0, 2, 5, 12, 15}),
        boot_log=frozenset({1}),
        adc1={36: 0, 37: 1, 38: 2, 39: 3, 32: 4, 33: 5, 34: 6, 35: 7},
        input_only=frozenset({34, 35, 36, 37, 38, 39}),
    ),
}


def chip() -> ChipPins | None:
    """Pins of the chip being configured, None on the host, where pins are only numbers.

    Raises cv.Invalid for a chip whose pins nobody has checked.
    """
    if not CORE.is_esp32:
        return None
    variant = esp32.get_esp32_variant()
    if variant not in CHIPS:
        raise cv.Invalid(
            f"mimiclaw_io knows which pins are safe on {', '.join(sorted(CHIPS))}, "
            f"not on {variant}"
        )
    return CHIPS[variant]


def check_pin(number: int, kind: str, allow_strapping: bool) -> None:
    """Refuse a pin that cannot be safe for a channel of this kind (raises cv.Invalid)."""
    pins = chip()
    if pins is None:
        return
    if number in pins.memory:
        raise cv.Invalid(
            f"GPIO{number} belongs to the flash or PSRAM of this chip; "
            "using it stops the chip"
        )
    if number in pins.usb:
        raise cv.Invalid(
            f"GPIO{number} is a USB line; it moves whenever a computer is plugged in"
        )
    if kind == KIND_ANALOG:
        if number not in pins.adc1:
            raise cv.Invalid(
                f"GPIO{number} has no ADC1; ADC2 cannot be read while Wi-Fi is on. "
                f"Analog pins of this chip: {', '.join(map(str, sorted(pins.adc1)))}"
            )
        return
    if kind == KIND_INPUT:
        return
    if number in pins.input_only:
        raise cv.Invalid(f"GPIO{number} can only be read; it drives nothing")
    if number in pins.boot_log:
        raise cv.Invalid(
            f"GPIO{number} carries the boot log; a relay on it chatters at every start"
        )
    if number in pins.strapping and not allow_strapping:
        raise cv.Invalid(
            f"GPIO{number} is a strapping pin: the chip sets its level at boot and reads it "
            "to choose how to start, so a relay on it may pull in or keep the chip from "
            "starting. Use another pin, or say allow_strapping: true if your board is "
            "built for it"
        )
