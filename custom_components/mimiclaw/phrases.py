"""Our own sentences, in the listener's language, from the translations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from homeassistant.helpers.translation import async_get_translations

from .const import DOMAIN, LOGGER

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

CATEGORY = "exceptions"


class Phrases:
    """Looks sentences up by key; English stands in for what a language lacks."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass

    async def async_say(
        self, language: str, key: str, placeholders: Mapping[str, str] | None = None
    ) -> str:
        """Return the sentence with its placeholders filled."""
        texts = await async_get_translations(self._hass, language, CATEGORY, [DOMAIN])
        text = texts.get(f"component.{DOMAIN}.{CATEGORY}.{key}.message")
        if text is None:
            LOGGER.error("There is no sentence for %s", key)
            return key
        try:
            return text.format(**(placeholders or {}))
        except KeyError, IndexError, ValueError:
            LOGGER.exception("The sentence for %s in %s is broken", key, language)
            return text
