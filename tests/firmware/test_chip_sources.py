"""What runs on the chip: its own files checked against declarations, its configurations generated."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
import re
import shutil
import subprocess

import pytest

from scripts.house.twin import ESPHOME, REPO

from .compile_core import COMPONENT

DECLARATIONS = Path(__file__).parent / "esp32_declarations"
GENERATE_TIMEOUT_S = 120


@pytest.mark.parametrize("calibration", ["CURVE", "LINE", "NO"])
@pytest.mark.parametrize("file", ["io_task_esp32.cpp", "pins_esp32.cpp"])
def test_the_chips_own_files_are_sound_cpp(file: str, calibration: str) -> None:
    checked = subprocess.run(
        [
            "g++",
            "-std=gnu++20",
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-DUSE_ESP32",
            f"-DADC_CALI_SCHEME_{calibration}_FITTING_SUPPORTED",
            f"-I{DECLARATIONS}",
            f"-I{COMPONENT}",
            str(COMPONENT / file),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


@pytest.fixture(scope="module")
def configurations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of esphome/ with the secrets a user would add and a wake word made up here."""
    folder = tmp_path_factory.mktemp("chip") / "esphome"
    ignore = shutil.ignore_patterns("secrets.yaml", ".esphome", "__pycache__")
    shutil.copytree(REPO / "esphome", folder, ignore=ignore)
    (folder / "secrets.yaml").write_text(
        f"api_encryption_key: {base64.b64encode(os.urandom(32)).decode()}\n"
        "ota_password: only-a-test\nap_password: only-a-test\nwifi_ssid: home\nwifi_password: long-enough\n"
    )
    (folder / "word.tflite").write_bytes(bytes(2048))
    (folder / "word.json").write_text(
        json.dumps(
            {
                "type": "micro",
                "wake_word": "Test",
                "author": "test",
                "model": "word.tflite",
                "trained_languages": ["en"],
                "version": 2,
                "micro": {
                    "probability_cutoff": 0.9,
                    "sliding_window_size": 5,
                    "feature_step_size": 10,
                    "tensor_arena_size": 30000,
                    "minimum_esphome_version": "2024.7.0",
                },
            }
        )
    )
    return folder


def generate(folder: Path, name: str, node: str, **substitutions: str) -> Path:
    """Validate and generate a configuration for the chip; return its source folder."""
    # ESP-IDF's own builder would fetch libraries at this point; PlatformIO's leaves that to the build.
    command = [str(ESPHOME), "-q", "--toolchain", "platformio"]
    for key, value in {"components_source": "components", **substitutions}.items():
        command += ["-s", key, value]
    data = folder / f".data-{node}-{substitutions.get('channels', '')}"
    ran = subprocess.run(
        [*command, "compile", "--only-generate", str(folder / name)],
        capture_output=True,
        text=True,
        timeout=GENERATE_TIMEOUT_S,
        check=False,
        env={**os.environ, "ESPHOME_DATA_DIR": str(data)},
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return data / "build" / node / "src"


def channels_of(source: Path) -> list[tuple[str, int]]:
    """Ids and pins of the channels in the generated program."""
    text = (source / "main.cpp").read_text()
    assert "add_channel" in text
    return [
        (id_, int(pin))
        for id_, pin in re.findall(r'\.id = "(\w+)",.*?\.pin = (\d+),', text, re.DOTALL)
    ]


@pytest.mark.parametrize(
    ("channels", "count"), [("greenhouse", 8), ("relays-4", 4), ("relays-8", 8)]
)
def test_satellite_generates_for_the_chip(
    configurations: Path, channels: str, count: int
) -> None:
    source = generate(
        configurations,
        "mimiclaw-satellite.yaml",
        "mimiclaw-satellite",
        channels=channels,
    )
    main = (source / "main.cpp").read_text()
    defines = (source / "esphome" / "core" / "defines.h").read_text()
    assert len(channels_of(source)) == count
    assert "set_batch_delay(0)" in main
    assert "USE_API_NOISE" in defines
    assert "USE_API_PLAINTEXT" not in defines
    assert 'ESPHOME_PROJECT_NAME "mimiclaw.satellite"' in defines
    assert "USE_OTA_PASSWORD" in defines
    assert "USE_CAPTIVE_PORTAL" in defines
    assert "USE_IMPROV_SERIAL" in defines
    assert "USE_IMPROV_BLE" in defines
    assert "USE_DASHBOARD_IMPORT" in defines
    assert "#define USE_WEBSERVER\n" not in defines
    assert "set_task(0, 17)" in main
    # No back door on a chip
    assert "USE_MIMICLAW_TWIN" not in defines
    component = {
        path.name
        for path in (source / "esphome" / "components" / "mimiclaw_io").iterdir()
    }
    assert {"io_task_esp32.cpp", "pins_esp32.cpp"} <= component
    assert not {name for name in component if "host" in name or "twin" in name}


def test_the_chip_and_the_twin_have_the_same_channels(
    configurations: Path, twin_program: Path
) -> None:
    source = generate(
        configurations,
        "mimiclaw-satellite.yaml",
        "mimiclaw-satellite",
        channels="greenhouse",
    )
    built = twin_program.parents[1] / "data" / "build" / "mimiclaw-twin" / "src"
    assert channels_of(built) == channels_of(source)


def test_voice_satellite_generates_for_the_chip(configurations: Path) -> None:
    source = generate(
        configurations,
        "mimiclaw-voice.yaml",
        "mimiclaw-voice",
        wake_word_model=str(configurations / "word.json"),
    )
    assert len(channels_of(source)) == 8
    defines = (source / "esphome" / "core" / "defines.h").read_text()
    for feature in (
        "USE_MICROPHONE",
        "USE_SPEAKER",
        "USE_MICRO_WAKE_WORD",
        "USE_VOICE_ASSISTANT",
        "USE_PSRAM",
    ):
        assert feature in defines
