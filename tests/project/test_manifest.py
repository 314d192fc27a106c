"""What Home Assistant's and HACS' own checks would ask, since neither runs here."""

from __future__ import annotations

from importlib.metadata import version
import json
from pathlib import Path
import re
import string
from typing import Any

from homeassistant.components import (
    anthropic,
    conversation,
    esphome,
    openai_conversation,
)
from packaging.requirements import Requirement
import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "custom_components" / "mimiclaw"
#: The pins of the newest release, which this environment does not hold.
NEWEST = sorted(
    (ROOT / ".venv-newest" / "lib").glob("python3*/site-packages/homeassistant")
)

MANIFEST_KEYS = {
    "after_dependencies",
    "codeowners",
    "config_flow",
    "dependencies",
    "documentation",
    "domain",
    "integration_type",
    "iot_class",
    "issue_tracker",
    "loggers",
    "name",
    "quality_scale",
    "requirements",
    "single_config_entry",
    "version",
    "zeroconf",
}
HACS_KEYS = {
    "content_in_root",
    "country",
    "filename",
    "hacs",
    "hide_default_branch",
    "homeassistant",
    "name",
    "persistent_directory",
    "render_readme",
    "zip_release",
}


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _leaves(tree: dict[str, Any], prefix: str = "") -> dict[str, str]:
    leaves: dict[str, str] = {}
    for key, value in tree.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            leaves |= _leaves(value, path)
        else:
            leaves[path] = value
    return leaves


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_manifest_keys_and_order() -> None:
    keys = list(_json(HOUSE / "manifest.json"))
    assert keys[:2] == ["domain", "name"]
    assert keys[2:] == sorted(keys[2:])
    assert set(keys) <= MANIFEST_KEYS


def test_hacs_file() -> None:
    hacs = _json(ROOT / "hacs.json")
    assert set(hacs) <= HACS_KEYS
    assert hacs["filename"] == "mimiclaw.zip"
    assert hacs["homeassistant"] == "2026.10.0"


def test_brand_icons() -> None:
    for name, size in (("icon.png", 256), ("icon@2x.png", 512)):
        head = (HOUSE / "brand" / name).read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = (int.from_bytes(head[at : at + 4]) for at in (16, 20))
        assert (width, height) == (size, size)


def _core_pins() -> list[tuple[str, str, str]]:
    """Return (release, package, version) for what core itself pins and we use."""
    here = Path(conversation.__file__).parents[1]
    releases = {"installed": here} | {
        one.parts[-5]: one / "components" for one in NEWEST
    }
    pins = []
    for release, folder in releases.items():
        for component in (anthropic, openai_conversation, esphome, conversation):
            name = component.__name__.rpartition(".")[2]
            for text in _json(folder / name / "manifest.json")["requirements"]:
                one = Requirement(text)
                pin = next(iter(one.specifier)).version
                pins.append((release, one.name.lower(), pin))
    return pins


def test_newest_release_is_checked_too() -> None:
    assert NEWEST, "scripts/setup makes .venv-newest"


def test_requirements_accept_what_core_pins() -> None:
    ours = {
        one.name.lower(): one
        for one in map(Requirement, _json(HOUSE / "manifest.json")["requirements"])
    }
    checked = 0
    for release, name, pin in _core_pins():
        if name in ours:
            assert ours[name].specifier.contains(pin), (release, name, pin)
            checked += 1
    assert checked >= 6


def test_requirements_need_no_compiler() -> None:
    """Every requirement comes with core, or has wheels for musl itself."""
    core = {name for _, name, _ in _core_pins()}
    # What core pins for whoever needs it has wheels on Home Assistant OS.
    constraints = Path(conversation.__file__).parents[2] / "package_constraints.txt"
    lines = constraints.read_text(encoding="utf-8").splitlines()
    core |= {line.partition("==")[0].lower() for line in lines if "==" in line}
    wheels = {"telegramify-markdown"}
    for text in _json(HOUSE / "manifest.json")["requirements"]:
        assert Requirement(text).name.lower() in core | wheels, text


def test_strings_are_the_english_translation() -> None:
    assert _json(HOUSE / "strings.json") == _json(HOUSE / "translations" / "en.json")


def test_strings_hold_no_address() -> None:
    for path, text in _leaves(_json(HOUSE / "strings.json")).items():
        assert not re.search(r"https?://|www\.", text), path


@pytest.mark.parametrize(
    "file", sorted((HOUSE / "translations").glob("*.json")), ids=lambda file: file.stem
)
def test_translations_fit_the_english_ones(file: Path) -> None:
    english = _leaves(_json(HOUSE / "strings.json"))
    for path, text in _leaves(_json(file)).items():
        assert path in english, path
        assert _placeholders(text) == _placeholders(english[path]), path


def test_actions_are_described_everywhere() -> None:
    services = yaml.safe_load((HOUSE / "services.yaml").read_text(encoding="utf-8"))
    strings = _json(HOUSE / "strings.json")["services"]
    icons = _json(HOUSE / "icons.json")["services"]
    assert services.keys() == strings.keys() == icons.keys()
    for name, service in services.items():
        assert (service or {}).get("fields", {}).keys() == strings[name].get(
            "fields", {}
        ).keys(), name


def test_exceptions_raised_in_code_have_a_sentence() -> None:
    sentences = _json(HOUSE / "strings.json")["exceptions"]
    used = set()
    for file in HOUSE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        used |= set(re.findall(r"\bSaid\(\s*\"(\w+)\"", text))
        used |= set(re.findall(r"Error\([^)]*translation_key=\"(\w+)\"", text))
    assert used
    assert used <= sentences.keys()


def test_versions_are_one() -> None:
    manifest = _json(HOUSE / "manifest.json")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{manifest["version"]}"' in project
    assert version("homeassistant").startswith("2026.10")
