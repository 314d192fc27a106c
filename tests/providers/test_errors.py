"""Whatever a provider does wrong ends in one ProviderError of the right kind."""

from __future__ import annotations

import asyncio
import logging
import socket
import traceback
from typing import Any

import pytest

from custom_components.mimiclaw.providers.factory import create
from custom_components.mimiclaw.providers.limits import MAX_EVENT_BYTES
from custom_components.mimiclaw.providers.protocol import (
    ErrorKind,
    Provider,
    ProviderConfig,
    ProviderError,
    Request,
)

from .conftest import KEY, Maker, ask, collect
from .wire.reply import Reply

PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


async def fails(provider: Provider, request: Request | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await collect(provider, request or ask())
    error = caught.value
    assert error.provider == "Test"
    return error


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ErrorKind.BAD_REQUEST),
        (401, ErrorKind.KEY),
        (402, ErrorKind.QUOTA),
        (403, ErrorKind.KEY),
        (404, ErrorKind.NOT_FOUND),
        (408, ErrorKind.TIMEOUT),
        (413, ErrorKind.CONTEXT),
        (422, ErrorKind.BAD_REQUEST),
        (429, ErrorKind.RATE),
        (500, ErrorKind.OVERLOAD),
        (502, ErrorKind.OVERLOAD),
        (503, ErrorKind.OVERLOAD),
        (529, ErrorKind.OVERLOAD),
    ],
)
async def test_status(make: Maker, wire: str, status: int, kind: ErrorKind) -> None:
    reply = Reply(status=status, error=("some_error", "Something about model-1."))
    _, provider = await make(wire, reply)
    error = await fails(provider)
    assert error.kind is kind
    assert error.status == status
    assert "Something about model-1." in error.detail


@pytest.mark.parametrize("status", [403, 500, 502])
async def test_status_with_a_page(make: Maker, wire: str, status: int) -> None:
    _, provider = await make(wire, Reply(status=status, page=PAGE))
    error = await fails(provider)
    assert error.status == status
    assert "502 Bad Gateway" in error.detail
    assert "<" not in error.detail


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, "insufficient_quota", "Check your plan", ErrorKind.QUOTA),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low",
            ErrorKind.QUOTA,
        ),
        (400, "billing_error", "Pay", ErrorKind.QUOTA),
        (400, "context_length_exceeded", "Too many tokens", ErrorKind.CONTEXT),
        (400, "invalid_request_error", "prompt is too long: 3 > 2", ErrorKind.CONTEXT),
        (400, "exceed_context_size_error", "the request exceeds", ErrorKind.CONTEXT),
        (500, "api_error", "context size has been exceeded", ErrorKind.CONTEXT),
        (400, "content_filter", "Filtered", ErrorKind.REFUSED),
        (400, "content_policy_violation", "No", ErrorKind.REFUSED),
        (401, "rate_limit_error", "Odd but clear", ErrorKind.KEY),
    ],
)
async def test_words_say_more_than_a_status(
    make: Maker, wire: str, status: int, code: str, message: str, kind: ErrorKind
) -> None:
    _, provider = await make(wire, Reply(status=status, error=(code, message)))
    assert (await fails(provider)).kind is kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("overloaded_error", ErrorKind.OVERLOAD),
        ("rate_limit_error", ErrorKind.RATE),
        ("insufficient_quota", ErrorKind.QUOTA),
        ("api_error", ErrorKind.OVERLOAD),
        ("never heard of", ErrorKind.OVERLOAD),
    ],
)
@pytest.mark.parametrize("after", [0, 4])
async def test_an_error_inside_the_stream(
    make: Maker, wire: str, code: str, kind: ErrorKind, after: int
) -> None:
    reply = Reply(
        text="Half a sentence, and", stream_error=(code, "Oh"), cut_after=after
    )
    _, provider = await make(wire, reply)
    error = await fails(provider)
    assert error.kind is kind
    assert error.status is None


async def test_a_response_that_reports_its_failure(make: Maker) -> None:
    failed = {
        "type": "response.failed",
        "response": {
            "id": "r",
            "object": "response",
            "status": "failed",
            "output": [],
            "error": {"code": "rate_limit_exceeded", "message": "Slow down"},
        },
    }
    _, provider = await make("responses", Reply(text="So", extra=(failed,)))
    error = await fails(provider)
    assert error.kind is ErrorKind.RATE
    assert error.detail == "Slow down"


@pytest.mark.parametrize("abort", [False, True])
async def test_a_stream_cut_at_every_event(make: Maker, wire: str, abort: bool) -> None:
    """A cut before the end is an error; the good-bye alone may be missing."""
    whole: dict[str, Any] = {"text": "One two three four", "thinking": "Well"}
    server, provider = await make(wire)
    path = "/v1/chat/completions" if wire == "chat" else "/v1/responses"
    events = list(server.events(path, {"model": "m", "messages": []}, Reply(**whole)))
    good_byes = {"anthropic": 1, "chat": 1, "responses": 0}[wire]
    for cut in range(len(events) - good_byes):
        server.script.append(Reply(**whole, cut_after=cut, abort=abort))
        error = await fails(provider)
        assert error.kind in (ErrorKind.MALFORMED, ErrorKind.NETWORK), cut
    for cut in range(len(events) - good_byes, len(events) + 1):
        server.script.append(Reply(**whole, cut_after=cut, abort=abort))
        assert len(await collect(provider, ask())) > 3
    assert server.open_streams == 0


@pytest.mark.parametrize(
    ("page", "content_type"),
    [
        (PAGE, "text/html"),
        (b"", "text/event-stream"),
        (b'{"ok": true}', "application/json"),
        (b"data: {not json}\n\n", "text/event-stream"),
        (b"event: message_start\ndata: 7\n\n", "text/event-stream"),
        (b"event: message_start\ndata: {}\n\n", "text/event-stream"),
        (
            b'event: message_start\ndata: {"type": "message_start"}\n\n',
            "text/event-stream",
        ),
        (b"data: \xff\xfe\n\n", "text/event-stream"),
        (b"\x00" * 1000, "application/octet-stream"),
    ],
)
async def test_a_body_that_is_no_stream(
    make: Maker, wire: str, page: bytes, content_type: str
) -> None:
    server, provider = await make(wire, Reply(page=page, content_type=content_type))
    assert (await fails(provider)).kind is ErrorKind.MALFORMED
    assert server.open_streams == 0


async def test_a_page_is_named_for_what_it_is(make: Maker, wire: str) -> None:
    _, provider = await make(wire, Reply(page=PAGE))
    assert "text/html" in (await fails(provider)).detail


async def test_a_server_that_never_answers(make: Maker, wire: str) -> None:
    server, provider = await make(wire, Reply(hang=True))
    error = await fails(provider, ask(deadline_s=0.2))
    assert error.kind is ErrorKind.TIMEOUT
    await server.idle()
    assert server.broken_off == 1


async def test_a_server_that_stops_in_the_middle(make: Maker, wire: str) -> None:
    server, provider = await make(
        wire, Reply(text="One two three " * 9, cut_after=6, hold_open=True)
    )
    error = await fails(provider, ask(deadline_s=0.2))
    assert error.kind is ErrorKind.TIMEOUT
    await server.idle()
    assert server.broken_off == 1


async def test_a_byte_now_and_then(make: Maker, wire: str) -> None:
    """Bytes that never make an event do not keep a turn alive."""
    server, provider = await make(wire, Reply(text="One", chunk=1, pause_s=0.05))
    error = await fails(provider, ask(deadline_s=0.4))
    assert error.kind is ErrorKind.TIMEOUT
    await server.idle()


async def test_whole_answers_do_not_wait_for_the_good_bye(make: Maker) -> None:
    """A server that keeps the line open after the last word costs no deadline."""
    server, provider = await make("chat")
    events = list(
        server.events("/v1/chat/completions", {"model": "m"}, Reply(text="Hi"))
    )
    server.script.append(Reply(text="Hi", cut_after=len(events) - 1, hold_open=True))
    got = await asyncio.wait_for(collect(provider, ask(deadline_s=60.0)), 30.0)
    assert got[-1].__class__.__name__ == "Stop"


@pytest.mark.parametrize("piece", [100, 20_000_000])
async def test_twenty_megabytes_of_text(make: Maker, wire: str, piece: int) -> None:
    server, provider = await make(wire, Reply(text="word " * 4_000_000, piece=piece))
    request = ask(max_output_tokens=1000, deadline_s=30.0)
    events = await collect(provider, request)
    assert events[-1].__class__.__name__ == "Stop"
    assert events[-1].reason == "length"  # type: ignore[union-attr]
    said = sum(len(getattr(event, "text", "")) for event in events)
    # One event may go over the limit for text, and none is bigger than this.
    assert said <= 1000 * 16 + MAX_EVENT_BYTES
    await server.idle()
    assert server.broken_off == 1


async def test_closing_ends_the_request(make: Maker, wire: str) -> None:
    server, provider = await make(wire, Reply(text="word " * 1000, pause_s=0.02))
    stream = provider.stream(ask())
    async for _ in stream:
        break
    await stream.aclose()
    await asyncio.wait_for(server.idle(), 5.0)
    assert server.broken_off == 1


async def test_cancelling_ends_the_request(make: Maker, wire: str) -> None:
    server, provider = await make(wire, Reply(hang=True))
    task = asyncio.create_task(collect(provider, ask()))
    while not server.open_streams:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.idle(), 5.0)


async def test_nobody_listens(wire: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    provider = await create(_config(wire, f"http://127.0.0.1:{port}"))
    error = await fails(provider)
    assert error.kind is ErrorKind.NETWORK
    await provider.aclose()


async def test_a_name_that_is_not_there(wire: str) -> None:
    provider = await create(_config(wire, "http://no-such-host.invalid"))
    assert (await fails(provider)).kind is ErrorKind.NETWORK
    await provider.aclose()


async def test_tls_where_there_is_none(make: Maker, wire: str) -> None:
    server, _ = await make(wire)
    provider = await create(_config(wire, server.url.replace("http:", "https:")))
    assert (await fails(provider)).kind is ErrorKind.NETWORK
    await provider.aclose()


async def test_moved_elsewhere(make: Maker, wire: str) -> None:
    reply = Reply(
        status=308, page=b"", headers={"location": "ftp://elsewhere.invalid/"}
    )
    _, provider = await make(wire, reply)
    error = await fails(provider)
    assert error.kind in (ErrorKind.NOT_FOUND, ErrorKind.NETWORK)


def _config(wire: str, url: str, key: str = KEY) -> ProviderConfig:
    return ProviderConfig(
        "anthropic" if wire == "anthropic" else "openai",
        "Test",
        "model-1",
        key,
        url,
        wire="auto" if wire == "anthropic" else wire,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401, error=("invalid_api_key", f"Incorrect API key: {KEY}.")),
        Reply(status=500, page=f"key={KEY}".encode(), content_type="text/plain"),
        Reply(stream_error=("api_error", f"bad {KEY} bad"), cut_after=0),
        Reply(page=f"data: {KEY}\n\n".encode(), content_type="text/event-stream"),
        Reply(hang=True),
        Reply(
            status=401, error=("invalid_api_key", "Wrong: sk-proj-Xy12345678*****wxyz")
        ),
    ],
)
async def test_no_key_leaves_the_room(
    make: Maker, wire: str, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in the error, its traceback, a repr or any log, at the chattiest level."""
    caplog.set_level(logging.DEBUG)
    _, provider = await make(wire, reply, reply)
    error = await fails(provider, ask(deadline_s=0.5, retries=1))
    texts = [
        str(error),
        repr(error),
        "".join(traceback.format_exception(error)),
        repr(provider.config),
        caplog.text,
        *(repr(record.__dict__) for record in caplog.records),
    ]
    for text in texts:
        assert KEY not in text
        assert "Xy12345678" not in text
    chained = error.__context__ or error.__cause__
    assert chained is None


@pytest.mark.parametrize("key", ["sk-broken\nkey-0123456789", "ключ-0123456789"])
async def test_a_key_that_cannot_be_one(
    make: Maker, wire: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    _, provider = await make(wire, config={"api_key": key})
    error = await fails(provider)
    assert error.kind is ErrorKind.KEY
    assert "0123456789" not in str(error) + caplog.text


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_no_key_at_all(kind: Any) -> None:
    provider = await create(ProviderConfig(kind, "Test"))
    assert (await fails(provider)).kind is ErrorKind.KEY
    with pytest.raises(ProviderError) as caught:
        await provider.check()
    assert caught.value.kind is ErrorKind.KEY
    await provider.aclose()
