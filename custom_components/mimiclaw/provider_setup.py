"""From the entry's provider subentries to providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.httpx_client import get_async_client

from .const import (
    CONF_BASE_URL,
    CONF_EMBEDDINGS,
    CONF_ENGINE,
    CONF_PROVIDER,
    CONF_THINKING,
    CONF_WEB_SEARCH,
    PROVIDER_OFFLINE,
    SUBENTRY_PROVIDER,
    THINKING_BY_MODEL,
)
from .providers.embeddings import Embeddings, EmbeddingsConfig, create_embeddings
from .providers.factory import create
from .providers.failover import ProviderChain
from .providers.protocol import Provider, ProviderConfig
from .providers.web_search import SearchConfig, WebSearch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from homeassistant.config_entries import ConfigEntry
    from homeassistant.core import HomeAssistant


def _thinking(data: Mapping[str, Any]) -> Any:
    chosen = data.get(CONF_THINKING, THINKING_BY_MODEL)
    return "" if chosen == THINKING_BY_MODEL else chosen


def provider_config(data: Mapping[str, Any], name: str) -> ProviderConfig:
    """Return the configuration that a subentry's data holds."""
    return ProviderConfig(
        kind=data[CONF_PROVIDER],
        name=name,
        model=data.get(CONF_MODEL, ""),
        api_key=data.get(CONF_API_KEY, ""),
        base_url=data.get(CONF_BASE_URL, ""),
        thinking=_thinking(data),
        web_search=data.get(CONF_WEB_SEARCH, False),
    )


async def async_create_provider(
    hass: HomeAssistant, config: ProviderConfig
) -> Provider:
    """Return the provider, on Home Assistant's shared HTTP client."""
    return await create(config, http_client=get_async_client(hass))


async def async_create_providers(
    hass: HomeAssistant, entry: ConfigEntry[Any]
) -> ProviderChain:
    """Return the providers of the entry in order; `offline` where there is none."""
    configs = [
        provider_config(subentry.data, subentry.title)
        for subentry in entry.subentries.values()
        if subentry.subentry_type == SUBENTRY_PROVIDER
    ] or [ProviderConfig(kind=PROVIDER_OFFLINE, name="Offline")]
    return ProviderChain([await async_create_provider(hass, one) for one in configs])


def embeddings_config(data: Mapping[str, Any]) -> EmbeddingsConfig:
    """Return the configuration that the options hold."""
    return EmbeddingsConfig(
        base_url=data[CONF_BASE_URL],
        model=data[CONF_MODEL],
        api_key=data.get(CONF_API_KEY, ""),
    )


async def async_create_embeddings(entry: ConfigEntry[Any]) -> Embeddings | None:
    """Return the embeddings endpoint of the options, None where there is none."""
    chosen = entry.options.get(CONF_EMBEDDINGS)
    return await create_embeddings(embeddings_config(chosen)) if chosen else None


def search_config(data: Mapping[str, Any]) -> SearchConfig:
    """Return the search engine that the options hold."""
    return SearchConfig(
        kind=data[CONF_ENGINE],
        api_key=data.get(CONF_API_KEY, ""),
        base_url=data.get(CONF_BASE_URL, ""),
    )


def create_web_search(hass: HomeAssistant, entry: ConfigEntry[Any]) -> WebSearch | None:
    """Return the search engine of the options, None where there is none."""
    chosen = entry.options.get(CONF_WEB_SEARCH)
    if not chosen:
        return None
    return WebSearch(search_config(chosen), async_get_clientsession(hass))
