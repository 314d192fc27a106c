"""The server: routes, faults, and the people who write to the bot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
import time
from typing import Any

from aiohttp import web

from .control import routes
from .methods import METHODS, Refused, as_message
from .state import Draft, Fault, Sent, State, User

TOKEN = "4242:loopback"
USERNAME = "mimi_claw_bot"


class BotApi:
    """One bot's Telegram, on 127.0.0.1."""

    def __init__(self, token: str = TOKEN, username: str = USERNAME) -> None:
        self.state = State(token, username)
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Return what telegram_bot takes as its API endpoint."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        """Return the bot's token."""
        return self.state.token

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 takes a free one."""
        app = web.Application(client_max_size=32 * 1024 * 1024)
        app.add_routes(
            [
                web.route("*", "/bot{token}/{method}", self._call),
                web.get("/file/bot{token}/{path:.+}", self._file),
                *routes(self),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.2, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port or self.port)
        await site.start()
        sockets = site._server.sockets  # type: ignore[union-attr]
        self.port = sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close; what was sent stays readable, and start() goes on with it."""
        # A poller that waits is let go: its handler must not outlive us.
        self.state.poller = None
        await self.state.notify()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # What the bot calls.

    async def _call(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["token"] != self.state.token:
            return _refusal(Refused(401, "Unauthorized"))
        name = request.match_info["method"].lower()
        method = METHODS.get(name)
        if method is None:
            return _refusal(Refused(404, "Not Found"))
        given = await _given(request)
        self.state.calls[name] += 1
        fault = self.state.take_fault(name)
        if fault is not None and fault.kind != "cut_after":
            answer = await self._suffer(request, fault)
            if answer is not None:
                return answer
        try:
            result = await method(self.state, given)
        except Refused as refused:
            self.state.refused.append((name, refused.text))
            return _refusal(refused)
        if fault is not None and fault.kind == "cut_after":
            return _cut(request)
        return web.json_response({"ok": True, "result": result})

    async def _suffer(
        self, request: web.Request, fault: Fault
    ) -> web.StreamResponse | None:
        if fault.kind == "cut":
            return _cut(request)
        if fault.kind == "429":
            wait = max(1, round(fault.value))
            self.state.refused.append((fault.method, "429"))
            return _refusal(
                Refused(429, f"Too Many Requests: retry after {wait}", wait)
            )
        if fault.kind == "500":
            return _refusal(Refused(500, "Internal Server Error"))
        await asyncio.sleep(fault.value)
        return None

    async def _file(self, request: web.Request) -> web.StreamResponse:
        for path, data in self.state.files.values():
            if path == request.match_info["path"]:
                return web.Response(body=data)
        return web.Response(status=404)

    # What people do.

    def fault(self, method: str, kind: str, value: float = 0.0, times: int = 1) -> None:
        """Let the next calls of a method go wrong; see state.Fault."""
        self.state.faults.append(Fault(method.lower(), kind, value, times))

    def _from(
        self, user: User, chat_id: int, extra: Mapping[str, Any]
    ) -> dict[str, Any]:
        kind = "private" if chat_id > 0 else "supergroup"
        chat: dict[str, Any] = {"id": chat_id, "type": kind}
        chat["first_name" if chat_id > 0 else "title"] = user.name
        return {
            "message_id": self.state.message_id(chat_id),
            "from": user.as_dict(),
            "chat": chat,
            "date": int(time.time()),
            **extra,
        }

    async def say(
        self,
        text: str,
        user: User,
        chat_id: int | None = None,
        **extra: Any,
    ) -> int:
        """Write to the bot; return the id of the message."""
        body: dict[str, Any] = {"text": text, **extra}
        if text.startswith("/"):
            length = len(text.split(maxsplit=1)[0])
            body["entities"] = [{"type": "bot_command", "offset": 0, "length": length}]
        message = self._from(user, chat_id or user.id, body)
        await self.state.push(message=message)
        return int(message["message_id"])

    async def reply(self, text: str, user: User, to: Sent, **extra: Any) -> int:
        """Answer one of the bot's messages."""
        return await self.say(
            text,
            user,
            to.chat_id,
            reply_to_message=as_message(self.state, to),
            **extra,
        )

    async def edit(
        self, text: str, user: User, message_id: int, chat_id: int | None = None
    ) -> None:
        """Change a message of one's own."""
        message = self._from(user, chat_id or user.id, {"text": text})
        message["message_id"] = message_id
        message["edit_date"] = int(time.time())
        await self.state.push(edited_message=message)

    async def press(self, user: User, sent: Sent, label: str) -> str:
        """Press the first button whose text has `label`; return the query's id."""
        button = next(one for one in sent.buttons if label in one["text"])
        number = self.state.callback_id()
        await self.state.push(
            callback_query={
                "id": number,
                "from": user.as_dict(),
                "chat_instance": "1",
                "message": as_message(self.state, sent),
                "data": button["callback_data"],
            }
        )
        return number

    async def send_file(
        self,
        kind: str,
        data: bytes,
        user: User,
        *,
        chat_id: int | None = None,
        name: str = "file",
        mime: str = "application/octet-stream",
        caption: str | None = None,
    ) -> int:
        """Send a voice note, a photo or a document."""
        file_id = f"file{len(self.state.files) + 1:04d}"
        self.state.files[file_id] = (f"{kind}/{file_id}", data)
        one: dict[str, Any] = {
            "file_id": file_id,
            "file_unique_id": file_id[::-1],
            "file_size": len(data),
        }
        if kind == "voice":
            one |= {"duration": 2, "mime_type": mime}
        elif kind == "document":
            one |= {"file_name": name, "mime_type": mime}
        body: dict[str, Any] = {kind: one}
        if kind == "photo":
            body = {"photo": [one | {"width": 8, "height": 8}]}
        if caption is not None:
            body["caption"] = caption
        message = self._from(user, chat_id or user.id, body)
        await self.state.push(message=message)
        return int(message["message_id"])

    # What came of it.

    def sent(self, chat_id: int) -> list[Sent]:
        """Return the bot's messages in a chat that are still there, oldest first."""
        return list(self.state.in_chat(chat_id))

    def drafts(self, chat_id: int) -> list[Draft]:
        """Return the drafts shown in a chat."""
        return [one for one in self.state.drafts if one.chat_id == chat_id]

    async def until(self, done: Callable[[], Any], deadline_s: float = 10.0) -> None:
        """Wait until something is so. Raises TimeoutError."""
        async with asyncio.timeout(deadline_s), self.state.changed:
            await self.state.changed.wait_for(lambda: bool(done()))

    async def until_sent(
        self, chat_id: int, count: int = 1, deadline_s: float = 10.0
    ) -> list[Sent]:
        """Wait for so many messages of the bot in a chat."""
        await self.until(lambda: len(self.sent(chat_id)) >= count, deadline_s)
        return self.sent(chat_id)


async def _given(request: web.Request) -> dict[str, Any]:
    given: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        given |= await request.json()
    elif request.can_read_body:
        given |= dict(await request.post())
    return given


def _refusal(refused: Refused) -> web.Response:
    body: dict[str, Any] = {
        "ok": False,
        "error_code": refused.code,
        "description": refused.text,
    }
    if refused.retry_after is not None:
        body["parameters"] = {"retry_after": refused.retry_after}
    return web.json_response(body, status=refused.code)


def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
