"""Every translation says all that strings.json says, with its placeholders, in its own words."""

from __future__ import annotations

from collections.abc import Iterator
import json
from pathlib import Path
import re
from string import Formatter
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from custom_components.mimiclaw.phrases import Phrases

HOUSE = Path(__file__).parents[2] / "custom_components" / "mimiclaw"
LANGUAGES = ("de", "es", "fr", "ja", "nl", "ru", "th", "zh-Hans", "zh-Hant")

#: Up to this many words a text may be the same in both: names, "Telegram", "Port".
SAME_WORDS = 3
#: Names of the interface, of files and of commands: a translation must not touch them.
LITERAL = re.compile(
    r"mimiclaw_\w+|assist_satellite|persistent_notification|telegram:|/\w+\.(?:md|json)"
    r"|SKILL\.md|```|^/\w+",
    re.ASCII | re.MULTILINE,
)


def _load(file: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


def _leaves(node: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every leaf, in the file's order."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, f"{path}.{key}" if path else key)
    else:
        assert isinstance(node, str), path
        yield path, node


def _placeholders(text: str) -> list[str]:
    """Return the names in braces; raises ValueError for braces that do not pair."""
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


ENGLISH = dict(_leaves(_load(HOUSE / "strings.json")))


def _texts(language: str) -> dict[str, str]:
    return dict(_leaves(_load(HOUSE / "translations" / f"{language}.json")))


def test_these_are_the_languages() -> None:
    found = {file.stem for file in (HOUSE / "translations").glob("*.json")}
    assert found == {"en", *LANGUAGES}
    assert len(ENGLISH) > 100


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_there_and_no_other(language: str) -> None:
    assert list(_texts(language)) == list(ENGLISH)


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_are_the_same(language: str) -> None:
    wrong = {
        path: text
        for path, text in _texts(language).items()
        if path in ENGLISH and _placeholders(text) != _placeholders(ENGLISH[path])
    }
    assert not wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_the_interface_are_left_alone(language: str) -> None:
    wrong = {
        path: text
        for path, text in _texts(language).items()
        if path in ENGLISH
        and sorted(LITERAL.findall(text)) != sorted(LITERAL.findall(ENGLISH[path]))
    }
    assert not wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_in_english(language: str) -> None:
    same = [
        path
        for path, text in _texts(language).items()
        if text == ENGLISH.get(path)
        and len(re.sub(r"\{\w+\}", " ", text).split()) > SAME_WORDS
    ]
    assert not same


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_empty_or_an_address(language: str) -> None:
    wrong = {
        path: text
        for path, text in _texts(language).items()
        if not text.strip() or text != text.strip() or "://" in text
    }
    assert not wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_file_is_written_as_the_others(language: str) -> None:
    file = HOUSE / "translations" / f"{language}.json"
    written = json.dumps(_load(file), ensure_ascii=False, indent=2) + "\n"
    assert file.read_text(encoding="utf-8") == written


@pytest.mark.usefixtures("enable_custom_integrations")
@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", "de"),
        ("de-CH", "de"),
        ("th", "th"),
        ("zh-CN", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh-Hant", "zh-Hant"),
    ],
)
async def test_the_assistant_speaks_them(
    hass: HomeAssistant, language: str, expected: str
) -> None:
    said = await Phrases(hass).async_say(
        language, "provider_network", {"provider": "Brain"}
    )
    written = _texts(expected)["exceptions.provider_network.message"]
    assert said == written.replace("{provider}", "Brain")
    assert said != ENGLISH["exceptions.provider_network.message"].replace(
        "{provider}", "Brain"
    )
