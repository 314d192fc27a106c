"""One thing that came in from Telegram, as telegram_bot's event tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import blake2b
import time
from typing import Any, Literal

type Kind = Literal["text", "command", "attachment", "callback"]

KINDS: Mapping[str, Kind] = {
    "telegram_text": "text",
    "telegram_command": "command",
    "telegram_attachment": "attachment",
    "telegram_callback": "callback",
}


@dataclass(frozen=True, slots=True)
class Chat:
    """Where a message came from and its answer goes: a bot, a chat, a topic of it."""

    entry_id: str
    chat_id: int
    thread_id: int | None = None

    @property
    def conversation_id(self) -> str:
        """Return what its session is known by."""
        if self.thread_id is None:
            return str(self.chat_id)
        return f"{self.chat_id}_{self.thread_id}"

    @property
    def private(self) -> bool:
        """Tell whether it is one person's chat with the bot."""
        return self.chat_id > 0


def parse_conversation(text: str) -> tuple[int, int | None] | None:
    """Return chat and topic of a conversation id, None if it is none of ours."""
    chat, _, thread = text.partition("_")
    try:
        return int(chat), int(thread) if thread else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class File:
    """What hangs on a message. `size` in bytes, 0 if unknown."""

    file_id: str
    name: str = ""
    mime: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Update:
    """A message, a command, a file or the press of a button.

    `sent_at` is when the person sent it, in seconds since 1970; for a button now.
    `message_id` is the message's, for a button that of the message it hangs on.
    """

    kind: Kind
    key: str
    chat: Chat
    user_id: int
    user_name: str
    message_id: int
    sent_at: float
    text: str = ""
    command: str = ""
    reply_to: int | None = None
    file: File | None = None
    callback_id: str = ""
    bot_name: str = ""

    def as_raw(self) -> dict[str, Any]:
        """Return it for the journal."""
        return asdict(self)

    @staticmethod
    def from_raw(raw: Mapping[str, Any]) -> Update:
        """Return what as_raw gave. Raises TypeError, KeyError."""
        values = dict(raw)
        values["chat"] = Chat(**values["chat"])
        if values.get("file") is not None:
            values["file"] = File(**values["file"])
        return Update(**values)


def from_event(
    event_type: str, data: Mapping[str, Any], fired_at: float | None = None
) -> Update | None:
    """Return the update of an event; None for what nobody sent or nobody can answer."""
    kind = KINDS.get(event_type)
    chat_id, user_id = data.get("chat_id"), data.get("user_id")
    bot = data.get("bot")
    if kind is None or not isinstance(chat_id, int) or not isinstance(bot, Mapping):
        return None
    if not isinstance(user_id, int):
        # A channel's post has no author.
        return None
    fields = _Fields(kind, data)
    number = fields.message_id
    if number is None:
        return None
    digest = blake2b(fields.content.encode("utf-8", "replace"), digest_size=6)
    key = f"{bot.get('id')}:{chat_id}:{number}:{digest.hexdigest()}"
    if kind == "callback":
        key = f"{bot.get('id')}:press:{data.get('id')}"
    return Update(
        kind=kind,
        key=key,
        chat=Chat(str(bot.get("config_entry_id")), chat_id, fields.thread_id),
        user_id=user_id,
        user_name=str(data.get("from_first") or ""),
        message_id=number,
        sent_at=_epoch(data.get("date"), fired_at),
        text=fields.text,
        command=fields.command,
        reply_to=data.get("reply_to_message_id"),
        file=fields.file,
        callback_id=str(data.get("id")) if kind == "callback" else "",
        bot_name=str(bot.get("username") or ""),
    )


@dataclass(slots=True)
class _Fields:
    """What the four kinds of event tell differently."""

    kind: Kind
    data: Mapping[str, Any]
    text: str = ""
    command: str = ""
    file: File | None = None
    message_id: int | None = None
    thread_id: int | None = None
    content: str = field(default="")

    def __post_init__(self) -> None:
        data = self.data
        self.message_id = _whole(data.get("id"))
        self.thread_id = _whole(data.get("message_thread_id"))
        if self.kind == "callback":
            message = data.get("message")
            under = message if isinstance(message, Mapping) else {}
            self.message_id = _whole(under.get("message_id"))
            self.thread_id = _whole(under.get("message_thread_id"))
            self.text = str(data.get("data") or "")
        elif self.kind == "command":
            self.command = str(data.get("command") or "")
            self.text = " ".join(map(str, data.get("args") or ()))
        else:
            self.text = str(data.get("text") or "")
        if data.get("file_id"):
            self.file = File(
                str(data["file_id"]),
                str(data.get("file_name") or ""),
                str(data.get("file_mime_type") or ""),
                _whole(data.get("file_size")) or 0,
            )
        parts = (self.command, self.text, self.file.file_id if self.file else "")
        self.content = "\0".join(parts)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _epoch(value: Any, fired_at: float | None) -> float:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, datetime):
        return value.timestamp()
    return time.time() if fired_at is None else fired_at
