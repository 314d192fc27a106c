"""The door for another process that plays the people: the demo's tour, a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiohttp import web

from .state import User

if TYPE_CHECKING:
    from .server import BotApi


def routes(api: BotApi) -> list[web.RouteDef]:
    """Return the routes below /control/."""

    def user(body: dict[str, Any]) -> User:
        return User(int(body["user_id"]), str(body.get("name", "Somebody")))

    async def say(request: web.Request) -> web.Response:
        body = await request.json()
        number = await api.say(
            str(body["text"]), user(body), int(body.get("chat_id") or body["user_id"])
        )
        return web.json_response({"message_id": number})

    async def press(request: web.Request) -> web.Response:
        body = await request.json()
        chat_id = int(body.get("chat_id") or body["user_id"])
        wanted = int(body["message_id"])
        sent = next(one for one in api.sent(chat_id) if one.message_id == wanted)
        number = await api.press(user(body), sent, str(body["label"]))
        return web.json_response({"query": number})

    async def messages(request: web.Request) -> web.Response:
        chat_id = int(request.match_info["chat"])
        return web.json_response([one.as_dict() for one in api.sent(chat_id)])

    async def drafts(request: web.Request) -> web.Response:
        chat_id = int(request.match_info["chat"])
        return web.json_response(
            [{"text": one.text, "at": one.at} for one in api.drafts(chat_id)]
        )

    async def state(request: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": dict(api.state.calls),
                "waiting": len(api.state.updates),
                "answers": api.state.answers,
                "refused": api.state.refused,
            }
        )

    return [
        web.post("/control/say", say),
        web.post("/control/press", press),
        web.get("/control/messages/{chat}", messages),
        web.get("/control/drafts/{chat}", drafts),
        web.get("/control/state", state),
    ]
