"""The methods of the API, with Telegram's refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
import contextlib
import json
import time
from typing import Any

from .markup import MarkupError, parse, units
from .state import Draft, Sent, State

MESSAGE_UNITS = 4096
CAPTION_UNITS = 1024
BUTTON_BYTES = 64


class Refused(Exception):
    """Telegram says no: a code, a sentence, sometimes how long to wait."""

    def __init__(self, code: int, text: str, retry_after: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.retry_after = retry_after


type Method = Callable[[State, Mapping[str, Any]], Awaitable[Any]]


async def get_me(state: State, given: Mapping[str, Any]) -> Any:
    return me(state)


def me(state: State) -> dict[str, Any]:
    """Return the bot as a user."""
    return {
        "id": int(state.token.split(":")[0]),
        "is_bot": True,
        "first_name": "Mimi",
        "username": state.username,
        "can_join_groups": True,
        "can_read_all_group_messages": False,
        "supports_inline_queries": False,
    }


async def get_chat(state: State, given: Mapping[str, Any]) -> Any:
    chat_id = _chat(given)
    private = chat_id > 0
    chat: dict[str, Any] = {
        "id": chat_id,
        "type": "private" if private else "supergroup",
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": {
            "unlimited_gifts": False,
            "limited_gifts": False,
            "unique_gifts": False,
            "premium_subscription": False,
            "gifts_from_channels": False,
        },
    }
    chat["first_name" if private else "title"] = f"Chat {chat_id}"
    return chat


async def accept(state: State, given: Mapping[str, Any]) -> Any:
    return True


async def get_updates(state: State, given: Mapping[str, Any]) -> Any:
    """Long polling; a second poller ends the first with 409, as at Telegram."""
    mine = object()
    state.poller = mine
    await state.notify()
    if "offset" in given:
        state.confirm(int(given["offset"]))
    ends = time.monotonic() + float(given.get("timeout", 0))
    limit = int(given.get("limit", 100))
    while True:
        if state.poller is not mine:
            raise Refused(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one "
                "bot instance is running",
            )
        if state.updates:
            found = list(state.updates)[:limit]
            for update in found:
                state.fetched.setdefault(update["update_id"], time.perf_counter())
            return found
        left = ends - time.monotonic()
        if left <= 0:
            return []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left), state.changed:
                await state.changed.wait_for(
                    lambda: bool(state.updates) or state.poller is not mine
                )


async def send_message(state: State, given: Mapping[str, Any]) -> Any:
    text, entities = _text(given)
    chat_id = _chat(given)
    sent = Sent(
        chat_id=chat_id,
        message_id=state.message_id(chat_id),
        text=text,
        entities=entities,
        parse_mode=given.get("parse_mode"),
        markup=_markup(given),
        thread_id=_number(given, "message_thread_id"),
        reply_to=_reply(given),
        at=time.perf_counter(),
    )
    state.messages.append(sent)
    await state.notify()
    return as_message(state, sent)


async def send_draft(state: State, given: Mapping[str, Any]) -> Any:
    chat_id = _chat(given)
    if chat_id < 0:
        raise Refused(400, "Bad Request: TEXTDRAFT_PEER_INVALID")
    if int(given.get("draft_id", 0)) == 0:
        raise Refused(400, "Bad Request: TEXTDRAFT_ID_INVALID")
    text, _ = _text(given)
    state.drafts.append(
        Draft(
            chat_id,
            int(given["draft_id"]),
            text,
            _number(given, "message_thread_id"),
            time.perf_counter(),
        )
    )
    await state.notify()
    return True


async def send_chat_action(state: State, given: Mapping[str, Any]) -> Any:
    state.actions.append((_chat(given), str(given.get("action")), time.perf_counter()))
    await state.notify()
    return True


async def edit_text(state: State, given: Mapping[str, Any]) -> Any:
    sent = _known(state, given)
    text, entities = _text(given)
    markup = _markup(given)
    if (text, entities, markup) == (sent.text, sent.entities, sent.markup):
        raise Refused(
            400,
            "Bad Request: message is not modified: specified new message content and reply "
            "markup are exactly the same as a current content and reply markup of the message",
        )
    sent.text, sent.entities, sent.markup = text, entities, markup
    sent.edits += 1
    await state.notify()
    return as_message(state, sent)


async def edit_markup(state: State, given: Mapping[str, Any]) -> Any:
    sent = _known(state, given)
    sent.markup = _markup(given)
    sent.edits += 1
    await state.notify()
    return as_message(state, sent)


async def delete_message(state: State, given: Mapping[str, Any]) -> Any:
    sent = _known(state, given, "Bad Request: message to delete not found")
    sent.deleted = True
    await state.notify()
    return True


async def answer_callback(state: State, given: Mapping[str, Any]) -> Any:
    number = str(given.get("callback_query_id"))
    if number in state.answers:
        raise Refused(
            400,
            "Bad Request: query is too old and response timeout expired or query ID is invalid",
        )
    state.answers[number] = str(given.get("text", ""))
    await state.notify()
    return True


async def get_file(state: State, given: Mapping[str, Any]) -> Any:
    file_id = str(given.get("file_id"))
    if file_id not in state.files:
        raise Refused(400, "Bad Request: invalid file_id")
    path, data = state.files[file_id]
    return {
        "file_id": file_id,
        "file_unique_id": file_id[::-1],
        "file_size": len(data),
        "file_path": path,
    }


def as_message(state: State, sent: Sent) -> dict[str, Any]:
    """Return a message of the bot as the API shows it."""
    kind = "private" if sent.chat_id > 0 else "supergroup"
    body: dict[str, Any] = {
        "message_id": sent.message_id,
        "from": me(state),
        "chat": {"id": sent.chat_id, "type": kind},
        "date": int(time.time()),
        "text": sent.text,
        "entities": sent.entities,
    }
    if sent.markup:
        body["reply_markup"] = sent.markup
    if sent.thread_id is not None:
        body["message_thread_id"] = sent.thread_id
    return body


def _chat(given: Mapping[str, Any]) -> int:
    try:
        return int(given["chat_id"])
    except KeyError, ValueError:
        raise Refused(400, "Bad Request: chat not found") from None


def _number(given: Mapping[str, Any], name: str) -> int | None:
    return int(given[name]) if given.get(name) not in {None, ""} else None


def _text(given: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    try:
        text, entities = parse(str(given.get("text", "")), given.get("parse_mode"))
    except MarkupError as err:
        raise Refused(400, f"Bad Request: {err}") from err
    if not text.strip():
        raise Refused(400, "Bad Request: message text is empty")
    if units(text) > MESSAGE_UNITS:
        raise Refused(400, "Bad Request: message is too long")
    return text, entities


def _markup(given: Mapping[str, Any]) -> dict[str, Any] | None:
    raw = given.get("reply_markup")
    if not raw:
        return None
    markup: dict[str, Any] = json.loads(raw) if isinstance(raw, str) else dict(raw)
    rows = markup.get("inline_keyboard", [])
    if sum(len(row) for row in rows) > 100:
        raise Refused(400, "Bad Request: reply markup is too long")
    for row in rows:
        for button in row:
            if len(str(button.get("callback_data", "")).encode()) > BUTTON_BYTES:
                raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
            if not button.get("text"):
                raise Refused(
                    400, "Bad Request: text buttons are not allowed to be empty"
                )
    return markup


def _reply(given: Mapping[str, Any]) -> int | None:
    raw = given.get("reply_parameters")
    if raw:
        found = json.loads(raw) if isinstance(raw, str) else raw
        return int(found["message_id"])
    return _number(given, "reply_to_message_id")


def _known(
    state: State,
    given: Mapping[str, Any],
    missing: str = "Bad Request: message to edit not found",
) -> Sent:
    chat_id = _chat(given)
    wanted = _number(given, "message_id")
    for one in state.in_chat(chat_id):
        if one.message_id == wanted:
            return one
    raise Refused(400, missing)


METHODS: dict[str, Method] = {
    "getme": get_me,
    "getchat": get_chat,
    "getupdates": get_updates,
    "deletewebhook": accept,
    "setwebhook": accept,
    "logout": accept,
    "sendmessage": send_message,
    "sendmessagedraft": send_draft,
    "sendchataction": send_chat_action,
    "editmessagetext": edit_text,
    "editmessagereplymarkup": edit_markup,
    "deletemessage": delete_message,
    "answercallbackquery": answer_callback,
    "getfile": get_file,
}
