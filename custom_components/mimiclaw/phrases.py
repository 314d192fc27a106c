"""Our own sentences, in the listener's language, from the translations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from homeassistant.helpers.translation import async_get_translations

from .const import DOMAIN, LOGGER

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

CATEGORY = "exceptions"


#: Home Assistant names its Chinese translations by the script.
SCRIPTS = {
    "zh": "zh-Hans",
    "zh-cn": "zh-Hans",
    "zh-sg": "zh-Hans",
    "zh-tw": "zh-Hant",
    "zh-hk": "zh-Hant",
}


def translation_of(language: str) -> str:
    """Return the translation that serves a language code."""
    if script := SCRIPTS.get(language.lower()):
        return script
    return language if language.startswith("zh") else language.partition("-")[0]


class Phrases:
    """Looks sentences up by key; English stands in for what a language lacks."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass

    async def async_say(
        self, language: str, key: str, placeholders: Mapping[str, str] | None = None
    ) -> str:
        """Return the sentence with its placeholders filled."""
        texts = await async_get_translations(
            self._hass, translation_of(language), CATEGORY, [DOMAIN]
        )
        text = texts.get(f"component.{DOMAIN}.{CATEGORY}.{key}.message")
        if text is None:
            LOGGER.error("There is no sentence for %s", key)
            return key
        try:
            return text.format(**(placeholders or {}))
        except KeyError, IndexError, ValueError:
            LOGGER.exception("The sentence for %s in %s is broken", key, language)
            return text
