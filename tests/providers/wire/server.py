"""What the loopback servers share: a port, a script, a record of what was asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
import argparse
import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
import contextlib
from dataclasses import dataclass
import json
from typing import Any, Self

from aiohttp import web

from .reply import Reply

type Scripted = Reply | Callable[[dict[str, Any]], Reply]

_TOO_BIG = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came in; `connection` tells connections apart."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any]
    connection: Any


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the real API would not take."""

    message: str
    status: int = 400
    kind: str = "invalid_request_error"
    code: str | None = None


class WireServer(ABC):
    """A server on 127.0.0.1 that answers from `script`, then from `answer`.

    `key` is the one key it takes, None takes any; `models` are those it has, None has
    any; `lacks` are paths it answers 404 to; `refuses` are fields it does not know.
    `open_streams` counts answers under way; `broken_off` those the client left.
    """

    def __init__(
        self,
        script: Iterable[Scripted] = (),
        *,
        key: str | None = None,
        models: Iterable[str] | None = None,
        lacks: Iterable[str] = (),
        refuses: Iterable[str] = (),
        answer: Callable[[dict[str, Any]], Reply] | None = None,
    ) -> None:
        self.script: deque[Scripted] = deque(script)
        self.key = key
        self.models = None if models is None else list(models)
        self.lacks = frozenset(lacks)
        self.refuses = frozenset(refuses)
        self.answer = answer or self.echo
        self.requests: list[Recorded] = []
        self.open_streams = 0
        self.broken_off = 0
        self.port = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the requests for an answer, on a path there is."""
        there = self.paths - self.lacks
        return [seen.body for seen in self.requests if seen.path in there]

    async def start(self, port: int = 0) -> Self:
        """Listen; port 0 is any free one."""
        app = web.Application(client_max_size=_TOO_BIG)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def stop(self) -> None:
        """Stop listening and end what is under way."""
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def idle(self) -> None:
        """Wait until no answer is under way."""
        await self._idle.wait()

    def echo(self, body: dict[str, Any]) -> Reply:
        """Answer with what was said last."""
        return Reply(text=f"You said: {self.last_words(body)}")

    @abstractmethod
    def last_words(self, body: dict[str, Any]) -> str:
        """Return the text of the last message."""

    @abstractmethod
    def judge(self, path: str, body: dict[str, Any]) -> Refusal | None:
        """Return what the real API would refuse, None if it would take it."""

    @abstractmethod
    def events(self, path: str, body: dict[str, Any], reply: Reply) -> Iterator[bytes]:
        """Yield the events of a stream."""

    @abstractmethod
    def error_body(self, refusal: Refusal) -> dict[str, Any]:
        """Return an error in the API's shape."""

    @abstractmethod
    def stream_error(self, kind: str, message: str) -> bytes:
        """Return an error as an event of a stream."""

    @abstractmethod
    def model_body(self, model: str) -> dict[str, Any]:
        """Return one entry of the catalogue."""

    @property
    @abstractmethod
    def paths(self) -> frozenset[str]:
        """The paths that give answers."""

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body: dict[str, Any] = {}
        with contextlib.suppress(ValueError):
            body = json.loads(raw) if raw else {}
        path = request.path
        self.requests.append(
            Recorded(
                request.method,
                path,
                dict(request.headers),
                raw,
                body,
                request.get_extra_info("peername"),
            )
        )
        if path in self.lacks:
            return web.Response(status=404, text="404 page not found")
        if self.key is not None and not self._opens(request):
            return self._refuse(
                Refusal("invalid x-api-key", 401, "authentication_error")
            )
        if path.startswith("/v1/models"):
            return self._catalogue(path.removeprefix("/v1/models").strip("/"))
        if path not in self.paths:
            return web.Response(status=404, text="404 page not found")
        return await self._answer(request, path, body)

    def _opens(self, request: web.Request) -> bool:
        sent = request.headers.get("x-api-key") or request.headers.get(
            "authorization", ""
        ).removeprefix("Bearer ")
        return sent == self.key

    def _catalogue(self, model: str) -> web.Response:
        known = self.models if self.models is not None else [model or "any"]
        if not model:
            data = [self.model_body(name) for name in known]
            return web.json_response(
                {"object": "list", "data": data, "has_more": False}
            )
        if model not in known:
            return self._refuse(self._no_model(model))
        return web.json_response(self.model_body(model))

    def _no_model(self, model: str) -> Refusal:
        return Refusal(
            f"model: {model} does not exist", 404, "not_found_error", "model_not_found"
        )

    def _refuse(
        self, refusal: Refusal, headers: dict[str, str] | None = None
    ) -> web.Response:
        return web.json_response(
            self.error_body(refusal), status=refusal.status, headers=headers
        )

    async def _answer(
        self, request: web.Request, path: str, body: dict[str, Any]
    ) -> web.StreamResponse:
        for field in self.refuses & body.keys():
            return self._refuse(Refusal(f"{field}: Extra inputs are not permitted"))
        if refusal := self.judge(path, body):
            return self._refuse(refusal)
        if self.models is not None and body["model"] not in self.models:
            return self._refuse(self._no_model(body["model"]))
        scripted = self.script.popleft() if self.script else self.answer
        reply = scripted if isinstance(scripted, Reply) else scripted(body)
        self.open_streams += 1
        self._idle.clear()
        try:
            return await self._play(request, path, body, reply)
        except ConnectionError:
            self.broken_off += 1
            return web.Response()
        except asyncio.CancelledError:
            self.broken_off += 1
            raise
        finally:
            self.open_streams -= 1
            if not self.open_streams:
                self._idle.set()

    async def _play(
        self, request: web.Request, path: str, body: dict[str, Any], reply: Reply
    ) -> web.StreamResponse:
        if reply.hang:
            await self._until_gone(request)
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.page is not None:
            return web.Response(
                status=reply.status,
                body=reply.page,
                content_type=reply.content_type,
                headers=reply.headers,
            )
        if reply.status != 200:
            kind, message = reply.error
            return self._refuse(
                Refusal(message, reply.status, kind, kind), reply.headers
            )
        response = web.StreamResponse(
            headers={"content-type": "text/event-stream; charset=utf-8"}
        )
        await response.prepare(request)
        events = list(self.events(path, body, reply))[: reply.cut_after]
        if reply.stream_error is not None:
            events.append(self.stream_error(*reply.stream_error))
        for piece in _writes(b"".join(events), events, reply):
            await response.write(piece)
            if reply.pause_s:
                await asyncio.sleep(reply.pause_s)
        if reply.abort and request.transport is not None:
            request.transport.abort()
        if reply.hold_open:
            await self._until_gone(request)
        return response

    async def _until_gone(self, request: web.Request) -> None:
        """Keep a request open until the client leaves or the server stops."""
        while not self._stopping.is_set():
            transport = request.transport
            if transport is None or transport.is_closing():
                raise ConnectionResetError
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), 0.02)


def _writes(whole: bytes, events: list[bytes], reply: Reply) -> list[bytes]:
    if reply.split_at is not None:
        return [
            part for part in (whole[: reply.split_at], whole[reply.split_at :]) if part
        ]
    if reply.chunk is not None:
        return [whole[i : i + reply.chunk] for i in range(0, len(whole), reply.chunk)]
    return events


def sse(data: dict[str, Any] | str, event: str | None = None) -> bytes:
    """Return one server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {text}\n\n".encode()


def serve(server: WireServer) -> None:
    """Run a server from the command line until it is interrupted."""
    parser = argparse.ArgumentParser(description=type(server).__doc__)
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port

    async def forever() -> None:
        async with contextlib.AsyncExitStack() as stack:
            await server.start(port)
            stack.push_async_callback(server.stop)
            print(server.url, flush=True)
            await asyncio.Event().wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(forever())
