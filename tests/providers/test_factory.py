"""From what an owner typed to a provider, without a stutter on the event loop."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
import sys
from typing import Any

import pytest

from custom_components.mimiclaw.providers.factory import create, tidy, tidy_url
from custom_components.mimiclaw.providers.protocol import ProviderConfig

from .conftest import KEY, Maker, ask, collect, text_of

#: What Home Assistant's shared client may be made of; 2026.11 has left httpx.
HTTP_PACKAGES = [
    name for name in ("httpx", "httpx2") if importlib.util.find_spec(name) is not None
]


@pytest.mark.parametrize(
    ("kind", "typed", "meant"),
    [
        ("openai", "", ""),
        ("openai", "  ", ""),
        ("openai", "http://192.168.1.5:11434", "http://192.168.1.5:11434/v1"),
        ("openai", "http://192.168.1.5:11434/", "http://192.168.1.5:11434/v1"),
        ("openai", "192.168.1.5:11434", "http://192.168.1.5:11434/v1"),
        ("openai", "ollama:11434/v1", "http://ollama:11434/v1"),
        ("openai", "ollama.local:11434", "http://ollama.local:11434/v1"),
        ("openai", "openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("openai", "https://x.example/v1/chat/completions", "https://x.example/v1"),
        ("openai", "https://x.example/v1/responses/", "https://x.example/v1"),
        ("openai", "https://x.example/v1/models", "https://x.example/v1"),
        ("openai", "http://[fd00::1]:1234", "http://[fd00::1]:1234/v1"),
        ("anthropic", "https://x.example/v1", "https://x.example"),
        ("anthropic", "https://x.example/v1/messages", "https://x.example"),
        ("anthropic", "https://x.example/anthropic/", "https://x.example/anthropic"),
    ],
)
def test_addresses(kind: str, typed: str, meant: str) -> None:
    assert tidy_url(kind, typed) == meant
    assert tidy_url(kind, meant) == meant


def test_a_key_is_pasted_with_spaces_around() -> None:
    assert tidy(ProviderConfig("openai", "x", api_key=f" {KEY}\n")).api_key == KEY


def test_a_model_is_chosen_only_where_we_know_the_seller() -> None:
    assert tidy(ProviderConfig("anthropic", "x")).model.startswith("claude-")
    assert tidy(ProviderConfig("openai", "x", base_url="http://a")).model == ""


def test_a_repr_has_no_key() -> None:
    assert KEY not in repr(ProviderConfig("openai", "x", "m", KEY))


@pytest.mark.parametrize("package", HTTP_PACKAGES)
async def test_a_shared_client_is_used_or_left_alone(
    make: Maker, wire: str, package: str
) -> None:
    """Whichever HTTP package the shared client is from, it works and stays open."""
    http = importlib.import_module(package)
    server, _ = await make(wire)
    async with http.AsyncClient() as shared:
        kind: Any = "anthropic" if wire == "anthropic" else "openai"
        base = server.url + ("" if kind == "anthropic" else "/v1")
        provider = await create(
            ProviderConfig(kind, "T", "m", KEY, base), http_client=shared
        )
        assert text_of(await collect(provider, ask())) == "You said: Hello"
        await provider.aclose()
        assert not shared.is_closed


@pytest.mark.parametrize(
    ("kind", "home"),
    [
        ("anthropic", "https://api.anthropic.com"),
        ("openai", "https://api.openai.com/v1"),
    ],
)
async def test_the_environment_names_no_other_address(
    kind: Any, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    provider: Any = await create(ProviderConfig(kind, "T", api_key=KEY))
    assert str(provider._client.base_url).rstrip("/") == home
    await provider.aclose()


async def test_connections_of_its_own_are_closed(make: Maker, wire: str) -> None:
    server, provider = await make(wire)
    await collect(provider, ask())
    await provider.aclose()
    await provider.aclose()
    assert server.open_streams == 0


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_nothing_is_loaded_on_the_event_loop(kind: str) -> None:
    """Neither when a provider is made nor when it is first asked."""
    root = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import runpy, tests.bare; runpy.run_module('tests.providers.first_request')",
        kind,
        cwd=root,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 120.0)
    assert process.returncode == 0, err.decode()
    seen = json.loads(out)
    assert seen == {"made": [], "asked": []}
