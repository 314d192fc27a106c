"""From a configuration to a provider, without a moment's work on the event loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from ipaddress import ip_address
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from .warm import warm

if TYPE_CHECKING:
    from .protocol import Provider, ProviderConfig

#: What is asked where the owner names no model: quick and cheap, with tools.
DEFAULT_MODELS: Final = {"anthropic": "claude-haiku-5-5", "openai": "gpt-6-luna"}

_HOMES: Final = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
}

#: Sent to servers that want no key: the SDKs want one.
_NO_KEY: Final = "none"

_TAILS: Final = re.compile(r"(/chat/completions|/responses|/messages|/models)?/*$")


async def create(config: ProviderConfig, *, http_client: Any = None) -> Provider:
    """Return the provider for a configuration.

    `http_client` is Home Assistant's shared HTTP client; it is used if the SDK takes
    its kind, and never closed here. Raises nothing: what is wrong with a configuration
    comes out at the first request, and from `check()`.
    """
    # Importing an SDK and reading the machine's certificates takes a second.
    return await asyncio.to_thread(_build, tidy(config), http_client)


def tidy(config: ProviderConfig) -> ProviderConfig:
    """Return the configuration as its owner meant it."""
    return replace(
        config,
        api_key=config.api_key.strip(),
        base_url=tidy_url(config.kind, config.base_url),
        model=config.model.strip()
        or ("" if config.base_url.strip() else DEFAULT_MODELS.get(config.kind, "")),
    )


def tidy_url(kind: str, url: str) -> str:
    """Return the base address an SDK wants, from whatever a person copied."""
    url = url.strip()
    if not url:
        return ""
    if "://" not in url:
        url = f"{'http' if _is_near(url) else 'https'}://{url}"
    parts = urlsplit(url)
    path = _TAILS.sub("", parts.path)
    if kind == "anthropic":
        path = path.removesuffix("/v1")
    elif not path:
        path = "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _is_near(address: str) -> bool:
    """Return whether an address without a scheme is one in the house."""
    host = urlsplit(f"//{address}").hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".home.arpa"))


def _build(config: ProviderConfig, http_client: Any) -> Provider:
    """Make the provider; runs in a worker thread."""
    if config.kind == "offline":
        from .offline import OfflineProvider

        return OfflineProvider(config)
    # Everything is named, so that nothing is taken from the environment: the address
    # and the key of a configuration belong together.
    options: dict[str, Any] = {
        "api_key": config.api_key or _NO_KEY,
        "base_url": config.base_url or _HOMES[config.kind],
        "max_retries": 0,
    }
    if config.kind == "anthropic":
        import anthropic

        from .anthropic import AnthropicProvider

        warm("anthropic", anthropic)
        client, owned = _client(anthropic.AsyncAnthropic, options, http_client)
        _touch(client, client.messages, client.models)
        return AnthropicProvider(config, client, anthropic.Timeout, owns_client=owned)
    import openai

    from .openai import OpenAIProvider

    warm("openai", openai)
    client, owned = _client(openai.AsyncOpenAI, options, http_client)
    client.organization = client.project = None
    _touch(client, client.chat.completions, client.responses, client.models)
    return OpenAIProvider(config, client, openai.Timeout, owns_client=owned)


def _client(
    factory: Any, options: dict[str, Any], http_client: Any
) -> tuple[Any, bool]:
    """Return an SDK client, and whether its connections are its own.

    One SDK may run on httpx while Home Assistant already runs on httpx2, or the other
    way round; then the SDK refuses the shared client and gets one of its own.
    """
    if http_client is not None:
        try:
            return factory(**options, http_client=http_client), False
        except TypeError:
            pass
    return factory(**options), True


def _touch(client: Any, *_resources: Any) -> None:
    """Load what the SDKs load at first use: the resources named, the platform's name."""
    client.platform_headers()
