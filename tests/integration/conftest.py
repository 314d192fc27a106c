"""The integration in a real Home Assistant core, its model a server on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from homeassistant.components import conversation
from homeassistant.components.homeassistant import DOMAIN as HOMEASSISTANT_DOMAIN
from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mimiclaw.const import DOMAIN, EVENT_TURN
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.server import WireServer

AGENT = "conversation.mimiclaw"

type SetUp = Callable[..., Awaitable[MockConfigEntry]]
type Serve = Callable[..., Awaitable[AnthropicServer]]
type Say = Callable[..., Coroutine[Any, Any, conversation.ConversationResult]]


@pytest.fixture(autouse=True)
async def house(
    hass: HomeAssistant,
    tmp_path: Path,
    socket_enabled: None,
    enable_custom_integrations: None,
) -> None:
    """A core with a configuration folder of its own and Assist."""
    hass.config.config_dir = str(tmp_path)
    assert await async_setup_component(hass, HOMEASSISTANT_DOMAIN, {})
    assert await async_setup_component(hass, conversation.DOMAIN, {})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder that the assistant keeps its files in."""
    return tmp_path / "mimiclaw"


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a model's server that answers as scripted."""
    async with AsyncExitStack() as stack:

        async def start(*script: Any, **options: Any) -> AnthropicServer:
            return await stack.enter_async_context(AnthropicServer(script, **options))

        yield start


def anthropic(server: WireServer, title: str = "Anthropic") -> ConfigSubentryDataWithId:
    """Return the provider subentry that asks a server."""
    return ConfigSubentryDataWithId(
        data={
            "provider": "anthropic",
            "api_key": "sk-test-secret",
            "model": "model-1",
            "base_url": server.url,
        },
        subentry_type="provider",
        title=title,
        unique_id=None,
        subentry_id=f"provider-{title}",
    )


@pytest.fixture
async def set_up(hass: HomeAssistant) -> AsyncIterator[SetUp]:
    """Set the assistant up with these subentries; take it down at the end."""
    made: list[MockConfigEntry] = []

    async def make(
        *subentries: ConfigSubentryDataWithId, options: dict[str, Any] | None = None
    ) -> MockConfigEntry:
        entry = MockConfigEntry(
            domain=DOMAIN,
            title="MimiClaw",
            subentries_data=list(subentries),
            options=options or {},
        )
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        made.append(entry)
        return entry

    yield make
    for entry in made:
        if entry.entry_id in {e.entry_id for e in hass.config_entries.async_entries()}:
            await hass.config_entries.async_unload(entry.entry_id)


@pytest.fixture
def say(hass: HomeAssistant) -> Say:
    """Say something to the assistant over Assist's own door."""

    async def talk(
        text: str, conversation_id: str | None = "c1", **options: Any
    ) -> conversation.ConversationResult:
        options.setdefault("context", Context())
        options.setdefault("language", "en")
        return await conversation.async_converse(
            hass,
            text,
            conversation_id,
            agent_id=AGENT,
            **options,
        )

    return talk


@pytest.fixture
def turns(hass: HomeAssistant) -> list[dict[str, Any]]:
    """The records of all turns, as the event carries them."""
    records: list[dict[str, Any]] = []

    @callback
    def keep(event: Event) -> None:
        records.append(dict(event.data))

    hass.bus.async_listen(EVENT_TURN, keep)
    return records


def speech(result: conversation.ConversationResult) -> str:
    """Return what was said."""
    return str(result.response.speech["plain"]["speech"])
