"""The check that runs before an entry is made."""

from __future__ import annotations

import asyncio
from pathlib import Path
import ssl
from typing import Any

import pytest

from custom_components.mimiclaw.providers.factory import create
from custom_components.mimiclaw.providers.protocol import (
    ErrorKind,
    ProviderConfig,
    ProviderError,
)

from .conftest import KEY, Maker
from .wire.certificate import self_signed
from .wire.reply import Reply


async def test_all_is_well(make: Maker, wire: str) -> None:
    server, provider = await make(wire, key=KEY, models=["model-1"])
    await provider.check()
    assert server.open_streams == 0


async def test_wrong_key(make: Maker, wire: str) -> None:
    _, provider = await make(wire, key="sk-another-0123456789", models=["model-1"])
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.KEY
    assert caught.value.status == 401


async def test_wrong_model_names_those_there_are(make: Maker, wire: str) -> None:
    _, provider = await make(wire, key=KEY, models=["llama", "qwen"])
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.NOT_FOUND
    assert "llama, qwen" in caught.value.detail


async def test_no_model_names_those_there_are(make: Maker, wire: str) -> None:
    _, provider = await make(wire, models=["llama"], config={"model": ""})
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.NOT_FOUND
    assert "llama" in caught.value.detail


async def test_wrong_path(make: Maker) -> None:
    server, _ = await make("chat")
    provider = await create(
        ProviderConfig("openai", "Test", "m", KEY, f"{server.url}/elsewhere")
    )
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.NOT_FOUND
    await provider.aclose()


async def test_a_server_without_a_catalogue(make: Maker, wire: str) -> None:
    _, provider = await make(wire, lacks=_without_catalogue(wire))
    await provider.check()


def _without_catalogue(wire: str) -> set[str]:
    lacks = {"/v1/models", "/v1/models/model-1"}
    if wire == "chat":
        lacks.add("/v1/responses")
    if wire == "responses":
        lacks.add("/v1/chat/completions")
    return lacks


async def test_an_open_catalogue_proves_no_key(make: Maker, wire: str) -> None:
    """Some servers list their models to everybody; the key is tried all the same."""
    refusal = Reply(status=401, error=("authentication_error", "No"))
    _, provider = await make(wire, refusal, models=["model-1"])
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.KEY


async def test_no_key_for_a_server_in_the_house(make: Maker, wire: str) -> None:
    _, provider = await make(wire, config={"api_key": ""})
    await provider.check()


async def test_a_certificate_nobody_trusts(tmp_path: Path, wire: str) -> None:
    context = await asyncio.to_thread(self_signed, tmp_path)

    async def ignore(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(ignore, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    kind: Any = "anthropic" if wire == "anthropic" else "openai"
    provider = await create(
        ProviderConfig(kind, "Test", "m", KEY, f"https://127.0.0.1:{port}")
    )
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.CERTIFICATE
    assert "self-signed" in caught.value.detail
    await provider.aclose()
    server.close()
    await server.wait_closed()


def test_the_certificate_is_one(tmp_path: Path) -> None:
    assert isinstance(self_signed(tmp_path), ssl.SSLContext)
