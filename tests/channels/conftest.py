"""Fixtures: Telegram on loopback, and a house that is connected to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import Event, HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from custom_components.mimiclaw.const import EVENT_TURN
from tests.providers.wire.anthropic_server import AnthropicServer

from .bot_api import BotApi
from .house import ANNA, BEN, GROUP, STRANGER, ChatHouse

type Serve = Callable[..., Awaitable[AnthropicServer]]


@pytest.fixture
async def api(socket_enabled: None) -> AsyncIterator[BotApi]:
    """Telegram, on loopback."""
    server = BotApi()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def house(
    hass: HomeAssistant,
    api: BotApi,
    tmp_path: Path,
    enable_custom_integrations: None,
) -> AsyncIterator[ChatHouse]:
    """A core with the bot set up; each test adds the assistant."""
    hass.config.config_dir = str(tmp_path)
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    hass.states.async_set("person.anna", "home", {"friendly_name": "Anna"})
    one = ChatHouse(hass, api)
    await one.add_bot(ANNA.id, BEN.id, STRANGER.id, GROUP)
    yield one
    await one.close()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a model's server that answers as scripted."""
    async with AsyncExitStack() as stack:

        async def start(*script: Any, **options: Any) -> AnthropicServer:
            return await stack.enter_async_context(AnthropicServer(script, **options))

        yield start


@pytest.fixture
def turns(hass: HomeAssistant) -> list[dict[str, Any]]:
    """The records of all turns."""
    records: list[dict[str, Any]] = []

    def keep(event: Event) -> None:
        records.append(dict(event.data))

    hass.bus.async_listen(EVENT_TURN, keep)
    return records
