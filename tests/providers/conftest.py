"""What all tests of the providers need: loopback, servers, and a clean house after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
from typing import Any

import pytest

from custom_components.mimiclaw.providers.factory import create
from custom_components.mimiclaw.providers.protocol import (
    Event,
    Provider,
    ProviderConfig,
    Request,
    TextDelta,
    ToolSpec,
    UserMessage,
)

from .wire.anthropic_server import AnthropicServer
from .wire.openai_server import CHAT, RESPONSES, OpenAIServer
from .wire.server import WireServer

KEY = "sk-test-0123456789abcdef"

WEATHER = ToolSpec(
    "get_weather",
    "Tells the weather.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
)


@pytest.fixture(autouse=True)
def loopback(request: pytest.FixtureRequest) -> None:
    """Let the tests use sockets, where Home Assistant's plugin forbids them."""
    if request.config.pluginmanager.has_plugin("homeassistant"):
        request.getfixturevalue("socket_enabled")


@pytest.fixture(autouse=True)
async def nothing_left() -> AsyncIterator[None]:
    """Fail a test that leaves a task behind."""
    before = asyncio.all_tasks()
    yield
    for _ in range(50):
        left = asyncio.all_tasks() - before - {asyncio.current_task()}
        if not left:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"tasks left: {left}")


type Maker = Callable[..., Awaitable[tuple[Any, Provider]]]


@pytest.fixture(params=["anthropic", "chat", "responses"])
def wire(request: pytest.FixtureRequest) -> str:
    """Each wire format in turn."""
    return str(request.param)


@pytest.fixture
async def make() -> AsyncIterator[Maker]:
    """Return what starts a server of a format and a provider that asks it."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(
            wire: str,
            *script: Any,
            config: dict[str, Any] | None = None,
            **options: Any,
        ) -> tuple[WireServer, Provider]:
            server: WireServer
            if wire == "anthropic":
                server = AnthropicServer(script, **options)
                kind, base = "anthropic", ""
            else:
                lacks = {"chat": {RESPONSES}, "responses": {CHAT}, "both": set()}[wire]
                options.setdefault("lacks", lacks)
                server = OpenAIServer(script, **options)
                kind, base = "openai", "/v1"
            await stack.enter_async_context(server)
            values: dict[str, Any] = {
                "kind": kind,
                "name": "Test",
                "model": "model-1",
                "api_key": KEY,
                "base_url": server.url + base,
                **(config or {}),
            }
            provider = await create(ProviderConfig(**values))
            stack.push_async_callback(provider.aclose)
            return server, provider

        yield start


def ask(text: str = "Hello", **changes: Any) -> Request:
    """Return a plain request."""
    values: dict[str, Any] = {
        "system": (),
        "messages": (UserMessage(text),),
        "deadline_s": 5.0,
        "retries": 0,
        **changes,
    }
    return Request(**values)


async def collect(provider: Provider, request: Request) -> list[Event]:
    """Return all events of an answer."""
    async with contextlib.aclosing(provider.stream(request)) as stream:
        return [event async for event in stream]


def text_of(events: list[Event]) -> str:
    """Return what was said."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))
