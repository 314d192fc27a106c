"""When a provider is asked again, and when it is not."""

from __future__ import annotations

import asyncio
import datetime as dt
from email.utils import format_datetime
import time

import pytest

from custom_components.mimiclaw.providers.protocol import (
    ErrorKind,
    ProviderError,
    Usage,
)

from .conftest import Maker, ask, collect, text_of
from .wire.reply import Reply

NOW = {"retry-after": "0"}


async def test_a_busy_provider_is_asked_again(make: Maker, wire: str) -> None:
    server, provider = await make(
        wire,
        Reply(status=500, error=("api_error", "Oops"), headers=NOW),
        Reply(status=429, error=("rate_limit_error", "Wait"), headers=NOW),
        Reply(text="Here."),
    )
    events = await collect(provider, ask(retries=2))
    assert text_of(events) == "Here."
    assert len(server.asked) == 3
    assert server.asked[0] == server.asked[2]


async def test_retries_come_to_an_end(make: Maker, wire: str) -> None:
    server, provider = await make(
        wire, *[Reply(status=503, error=("x", "y"), headers=NOW)] * 5
    )
    with pytest.raises(ProviderError):
        await collect(provider, ask(retries=2))
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413])
async def test_what_is_not_worth_another_try(
    make: Maker, wire: str, status: int
) -> None:
    reply = Reply(status=status, error=("x", "model-1"), headers=NOW)
    server, provider = await make(wire, reply)
    with pytest.raises(ProviderError):
        await collect(provider, ask(retries=2))
    assert len(server.asked) == 1


async def test_a_quota_is_not_worth_another_try(make: Maker, wire: str) -> None:
    reply = Reply(status=429, error=("insufficient_quota", "Pay"), headers=NOW)
    server, provider = await make(wire, reply)
    with pytest.raises(ProviderError):
        await collect(provider, ask(retries=2))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "60"}, 60.0),
        ({"retry-after": "12.5"}, 12.5),
        ({"retry-after-ms": "45000"}, 45.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
    ],
)
async def test_retry_after_is_told(
    make: Maker, wire: str, headers: dict[str, str], seconds: float | None
) -> None:
    """A pause too long for a listener is told at once, not waited for."""
    server, provider = await make(
        wire, Reply(status=429, error=("rate_limit_error", "W"), headers=headers)
    )
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask(retries=2 if seconds else 0))
    assert caught.value.kind is ErrorKind.RATE
    assert caught.value.retry_after_s == seconds
    assert len(server.asked) == 1


async def test_retry_after_as_a_date(make: Maker, wire: str) -> None:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=10)
    headers = {"retry-after": format_datetime(later, usegmt=True)}
    _, provider = await make(wire, Reply(status=503, error=("x", "y"), headers=headers))
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask(retries=2))
    assert caught.value.retry_after_s is not None
    assert 500 < caught.value.retry_after_s <= 600


async def test_a_short_retry_after_is_waited_for(make: Maker, wire: str) -> None:
    headers = {"retry-after-ms": "300"}
    _, provider = await make(
        wire, Reply(status=429, error=("x", "y"), headers=headers), Reply(text="Now.")
    )
    begun = time.monotonic()
    assert text_of(await collect(provider, ask(retries=1))) == "Now."
    assert time.monotonic() - begun >= 0.3


async def test_nothing_is_asked_again_once_something_was_said(
    make: Maker, wire: str
) -> None:
    server, provider = await make(
        wire, Reply(text="One two three " * 9, cut_after=6), Reply(text="Again")
    )
    with pytest.raises(ProviderError):
        await collect(provider, ask(retries=2))
    assert len(server.asked) == 1


async def test_a_stream_that_dies_unheard_is_asked_again(make: Maker) -> None:
    """And what the first try cost is counted."""
    server, provider = await make(
        "anthropic", Reply(text="One", cut_after=2, abort=True), Reply(text="Two")
    )
    events = await collect(provider, ask(retries=1))
    assert text_of(events) == "Two"
    used = [event for event in events if isinstance(event, Usage)]
    assert [usage.input_tokens for usage in used] == [100, 100]
    assert len(server.asked) == 2


async def test_a_server_that_comes_up_late(make: Maker, wire: str) -> None:
    server, provider = await make(wire, answer=lambda _: Reply(text="Up."))
    port = server.port
    await server.stop()
    late = type(server)(answer=server.answer, lacks=server.lacks)
    asking = asyncio.create_task(collect(provider, ask(retries=5)))
    await asyncio.sleep(0.1)
    await late.start(port)
    try:
        assert text_of(await asking) == "Up."
    finally:
        await late.stop()
