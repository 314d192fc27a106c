"""YAML that cannot be safe is refused with the reason; everything we ship is accepted."""

from __future__ import annotations

import json
from pathlib import Path
import subprocess
import textwrap

import pytest

from scripts.house.twin import ESPHOME, REPO

HERE = Path(__file__).parent
VALIDATE_TIMEOUT_S = 120


def chip(variant: str) -> str:
    return (
        "esphome: {name: node}\n"
        f"esp32: {{variant: {variant}, framework: {{type: esp-idf}}}}\n"
        "wifi: {ssid: home, password: long-enough}\n"
    )


ESP32 = chip("esp32s3")
HOST = """
esphome: {name: node}
host:
"""
COMMON = f"""
api:
external_components:
  - source: {{type: local, path: {REPO}/esphome/components}}
    components: [mimiclaw_io]
"""


def node(channels: str, platform: str = ESP32, device: str = "") -> str:
    text = textwrap.indent(textwrap.dedent(channels).strip(), "    ")
    return f"{platform}{COMMON}mimiclaw_io:\n{textwrap.indent(textwrap.dedent(device), '  ')}\n  channels:\n{text}\n"


def relay(options: str = "", pin: str = "4", kind: str = "relay") -> str:
    return node(
        f"- {{id: a, name: A, kind: {kind}, pin: {pin}{', ' if options else ''}{options}}}"
    )


REFUSED = {
    "same pin twice": (
        node(
            "- {id: a, name: A, kind: relay, pin: 4}\n- {id: b, name: B, kind: relay, pin: 4}"
        ),
        "share pin 4",
    ),
    "pin of another component": (
        relay() + "\noutput: [{platform: gpio, id: o, pin: 4}]\n",
        "Pin 4 is used in multiple places",
    ),
    "flash pin": (relay(pin="27"), "PSRAM interface"),
    "octal PSRAM pin": (relay(pin="35"), "belongs to the flash or PSRAM"),
    "USB pin": (relay(pin="19"), "USB line"),
    "USB pin as input": (relay(pin="20", kind="input"), "USB line"),
    "strapping pin": (relay(pin="0"), "strapping pin"),
    "strapping pin of an output": (relay(pin="45", kind="output"), "strapping pin"),
    "boot log pin": (relay(pin="43"), "boot log"),
    "pin that is not there": (relay(pin="23"), "not usable on ESP32-S3"),
    "analog without ADC1": (
        relay(pin="12", kind="analog"),
        "ADC2 cannot be read while Wi-Fi is on",
    ),
    "analog without any ADC": (relay(pin="38", kind="analog"), "has no ADC1"),
    "interlock of one": (relay("interlock: motor"), "has one member, a"),
    "interlock with two safe on": (
        node(
            "- {id: a, name: A, kind: relay, pin: 4, interlock: m, safe_state: true}\n"
            "- {id: b, name: B, kind: relay, pin: 5, interlock: m, safe_state: true}"
        ),
        "Two members of the interlock m have safe_state: on",
    ),
    "max under min": (
        relay("max_on_time: 1s, min_on_time: 2s"),
        "max_on_time is shorter than min_on_time",
    ),
    "max of zero": (relay("max_on_time: 0s"), "Longer than zero"),
    "a week": (relay("max_on_time: 7days"), "Longer than a day"),
    "negative time": (relay("min_on_time: -1s"), "value must be at least 0s"),
    "pulse over max": (relay("pulse: 5s, max_on_time: 1s"), "longer than max_on_time"),
    "pulse under min": (
        relay("pulse: 1s, min_on_time: 2s"),
        "shorter than min_on_time",
    ),
    "safe on with max": (
        relay("safe_state: true, max_on_time: 1s"),
        "contradict each other",
    ),
    "safe on momentary": (relay("safe_state: true, pulse: 1s"), "rests off"),
    "restore of a pulse": (relay("restore: true, pulse: 1s"), "no state to restore"),
    "restore with max": (
        relay("restore: true, max_on_time: 1s"),
        "anew at every restart",
    ),
    "restore with min off": (
        relay("restore: true, min_off_time: 1s"),
        "which min_off_time forbids",
    ),
    "debounce of a relay": (
        relay("debounce: 10ms"),
        "debounce means nothing on a relay",
    ),
    "endless debounce": (relay("debounce: 11s", kind="input"), "debounce over"),
    "unit of a relay": (
        relay("unit_of_measurement: W"),
        "unit_of_measurement means nothing on a relay",
    ),
    "inverted analog": (
        relay("inverted: true", pin="1", kind="analog"),
        "Swap voltage_range",
    ),
    "flat voltage range": (
        relay("voltage_range: [1.0, 1.0]", pin="1", kind="analog"),
        "The two voltages are the same",
    ),
    "inverted twice": (
        relay("inverted: true", pin="{number: 4, inverted: true}"),
        "inverted is said twice",
    ),
    "two of one id": (
        node(
            "- {id: a, name: A, kind: relay, pin: 4}\n- {id: a, name: B, kind: relay, pin: 5}"
        ),
        "Two channels are called a",
    ),
    "two of one name": (
        node(
            "- {id: a, name: A, kind: relay, pin: 4}\n- {id: b, name: A, kind: relay, pin: 5}"
        ),
        "Duplicate switch entity",
    ),
    "id with capitals": (
        node("- {id: Pump, name: A, kind: relay, pin: 4}"),
        "lower-case letters",
    ),
    "unknown actor": (relay("actors: [everybody]"), "Unknown value 'everybody'"),
    "nobody may act": (relay("actors: []"), "length of value must be at least 1"),
    "unknown kind": (relay(kind="motor"), "Unknown value 'motor'"),
    "empty name": (relay("names: {en: ['']}"), "An empty name in en"),
    "no channels": (node("[]"), "length of value must be at least 1"),
    "tick under FreeRTOS": (
        node("- {id: a, name: A, kind: relay, pin: 4}", device="tick: 500us"),
        "whole milliseconds",
    ),
    "third core": (
        node("- {id: a, name: A, kind: relay, pin: 4}", device="core: 2"),
        "value must be at most 1",
    ),
    "control socket on a chip": (
        node("- {id: a, name: A, kind: relay, pin: 4}", device="twin_socket: x"),
        "host platform only",
    ),
    "unknown chip": (
        node(
            "- {id: a, name: A, kind: relay, pin: 4}",
            platform=chip("esp32c3"),
        ),
        "knows which pins are safe on",
    ),
    "another platform": (
        node(
            "- {id: a, name: A, kind: relay, pin: 4}",
            platform="esphome: {name: node}\nesp8266: {board: d1_mini}\nwifi: {ssid: a}\n",
        ),
        "only available on",
    ),
    **{
        f"{option.split(':')[0]} of an input": (
            relay(option, kind="input"),
            f"{option.split(':')[0]} means nothing on an input",
        )
        for option in (
            "safe_state: false",
            "restore: true",
            "max_on_time: 1s",
            "min_on_time: 1s",
            "min_off_time: 1s",
            "interlock: m",
            "pulse: 1s",
            "actors: [agent]",
            "confirm: true",
            "allow_strapping: true",
        )
    },
}

ACCEPTED = {
    "strapping pin, knowingly": relay("allow_strapping: true", pin="0"),
    "strapping pin as input": relay(kind="input", pin="0"),
    "everything on one relay": relay(
        "inverted: true, max_on_time: 1h, min_on_time: 1s, min_off_time: 1s, actors: [agent], confirm: true"
    ),
    "interlock of two": node(
        "- {id: a, name: A, kind: relay, pin: 4, interlock: m}\n- {id: b, name: B, kind: output, pin: 5, interlock: m}"
    ),
    "falling analog": relay(
        "voltage_range: [3.0, 1.2], value_range: [0, 100]", pin="1", kind="analog"
    ),
    "numbers on the host": node(
        "- {id: a, name: A, kind: relay, pin: 0}", platform=HOST
    ),
    "plain ESP32": node(
        "- {id: a, name: A, kind: relay, pin: 25}",
        platform=chip("esp32"),
    ),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What ESPHome says to every configuration here, by name."""
    folder = tmp_path_factory.mktemp("yaml")
    cases = {**{name: text for name, (text, _) in REFUSED.items()}, **ACCEPTED}
    files = []
    for number, text in enumerate(cases.values()):
        file = folder / f"{number}.yaml"
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    ran = subprocess.run(
        [str(ESPHOME.with_name("python")), str(HERE / "validate_many.py")],
        input=json.dumps(files),
        capture_output=True,
        text=True,
        timeout=VALIDATE_TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return {
        name: "\n".join(errors)
        for name, errors in zip(cases, json.loads(ran.stdout), strict=True)
    }


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_reason(verdicts: dict[str, str], case: str) -> None:
    assert REFUSED[case][1] in verdicts[case]


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(verdicts: dict[str, str], case: str) -> None:
    assert verdicts[case] == ""
