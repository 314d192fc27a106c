"""A loopback server for the three web search engines, each in its own shape."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Self

from aiohttp import web


class SearchServer:
    """Answers with `results` (title, url, text), or as `status` and `body` say.

    `key` is the one key Brave and Tavily are asked with; `seen` are the queries.
    """

    def __init__(
        self,
        results: list[tuple[str, str, str]] | None = None,
        *,
        key: str = "",
        status: int = 200,
        body: bytes | None = None,
        hang: bool = False,
    ) -> None:
        self.results = results or []
        self.key = key
        self.status = status
        self.body = body
        self.hang = hang
        self.seen: list[Mapping[str, Any]] = []
        self.url = ""
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/res/v1/web/search", self._brave)
        app.router.add_post("/search", self._tavily)
        app.router.add_get("/search", self._searxng)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _brave(self, request: web.Request) -> web.Response:
        rows = [{"title": t, "url": u, "description": d} for t, u, d in self.results]
        return await self._give(
            dict(request.query),
            {"web": {"results": rows}},
            request.headers.get("X-Subscription-Token", ""),
        )

    async def _tavily(self, request: web.Request) -> web.Response:
        rows = [{"title": t, "url": u, "content": d} for t, u, d in self.results]
        return await self._give(
            await request.json(),
            {"results": rows},
            request.headers.get("Authorization", "").removeprefix("Bearer "),
        )

    async def _searxng(self, request: web.Request) -> web.Response:
        if request.query.get("format") != "json":
            return web.Response(text="<html>")
        rows = [{"title": t, "url": u, "content": d} for t, u, d in self.results]
        return await self._give(dict(request.query), {"results": rows}, self.key)

    async def _give(
        self, asked: Mapping[str, Any], answer: dict[str, Any], key: str
    ) -> web.Response:
        self.seen.append(asked)
        if self.hang:
            await self._stopping.wait()
        if key != self.key:
            return web.json_response({"error": f"bad key {key}"}, status=401)
        if self.body is not None or self.status != 200:
            return web.Response(status=self.status, body=self.body or b"")
        return web.json_response(answer)
