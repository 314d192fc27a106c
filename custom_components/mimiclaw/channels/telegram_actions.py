"""telegram_bot's actions, with deadlines, and its errors told apart.

The token, the allow list and the connection are telegram_bot's; nothing here talks to
Telegram itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from homeassistant.config_entries import UnknownEntry
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceNotFound,
    ServiceValidationError,
)
import probatio

from .errors import (
    BadMarkup,
    ChannelError,
    NotModified,
    Refused,
    TryLater,
    Unreachable,
)
from .limits import ACTION_S, DOWNLOAD_S, MESSAGES_AT_ONCE, SIGNS_AT_ONCE

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .markdown import Piece
    from .update import Chat

DOMAIN: Final = "telegram_bot"

#: What only shows that an answer is coming; it must not keep answers waiting.
_SIGNS: Final = frozenset({"send_message_draft", "send_chat_action"})

#: A row of buttons: what stands on each, and what it carries back.
type Row = Sequence[tuple[str, str]]


def _ended(task: asyncio.Task[Any], line: asyncio.Semaphore) -> None:
    """Free the place of a request; its trouble is no news when nobody waits for it."""
    line.release()
    if not task.cancelled():
        task.exception()


class TelegramActions:
    """Sends, shows, edits and fetches. Every method raises ChannelError only."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take the core."""
        self._hass = hass
        self._messages = asyncio.Semaphore(MESSAGES_AT_ONCE)
        self._signs = asyncio.Semaphore(SIGNS_AT_ONCE)

    async def send(
        self,
        chat: Chat,
        piece: Piece,
        *,
        plain: bool = False,
        rows: Sequence[Row] = (),
        reply_to: int | None = None,
    ) -> int | None:
        """Send one message and return its id."""
        data: dict[str, Any] = {
            "message": piece.text if plain else piece.html,
            "parse_mode": "plain_text" if plain else "html",
            "disable_web_page_preview": True,
        }
        if rows:
            data["inline_keyboard"] = _keyboard(rows)
        if reply_to is not None:
            data["reply_to_message_id"] = reply_to
        answer = await self._call("send_message", chat, data, answers=True)
        chats = answer.get("chats")
        if isinstance(chats, list) and chats and isinstance(chats[0], dict):
            number = chats[0].get("message_id")
            return number if isinstance(number, int) else None
        return None

    async def draft(self, chat: Chat, draft_id: int, piece: Piece) -> None:
        """Show a part of a message that is still being written."""
        await self._call(
            "send_message_draft",
            chat,
            {"draft_id": draft_id, "message": piece.html, "parse_mode": "html"},
        )

    async def typing(self, chat: Chat) -> None:
        """Show "typing…" for some seconds."""
        await self._call("send_chat_action", chat, {"chat_action": "typing"})

    async def edit(
        self, chat: Chat, message_id: int, piece: Piece, rows: Sequence[Row] = ()
    ) -> None:
        """Put another text, and buttons, in place of a message's."""
        data: dict[str, Any] = {
            "message": piece.html,
            "message_id": message_id,
            "parse_mode": "html",
        }
        if rows:
            data["inline_keyboard"] = _keyboard(rows)
        await self._call("edit_message", chat, data, topic=False)

    async def delete(self, chat: Chat, message_id: int) -> None:
        """Take a message away."""
        await self._call(
            "delete_message", chat, {"message_id": message_id}, topic=False
        )

    async def answer_press(self, chat: Chat, callback_id: str, text: str) -> None:
        """End the waiting sign on a button, with a short text."""
        await self._call(
            "answer_callback_query",
            chat,
            {"callback_query_id": callback_id, "message": text[:190]},
            topic=False,
            to_chat=False,
        )

    async def download(self, chat: Chat, file_id: str, name: str, limit: int) -> bytes:
        """Fetch a file of at most `limit` bytes; nothing of it stays on the disk."""
        answer = await self._call(
            "download_file",
            chat,
            {"file_id": file_id, "file_name": name},
            answers=True,
            topic=False,
            to_chat=False,
            deadline_s=DOWNLOAD_S,
        )
        path = answer.get("file_path")
        if not isinstance(path, str):
            raise Refused("telegram_bot did not say where the file is")
        return await asyncio.to_thread(_take_file, Path(path), limit)

    async def _call(
        self,
        action: str,
        chat: Chat,
        data: Mapping[str, Any],
        *,
        answers: bool = False,
        topic: bool = True,
        to_chat: bool = True,
        deadline_s: float = ACTION_S,
    ) -> Mapping[str, Any]:
        full = {"config_entry_id": chat.entry_id, **data}
        if to_chat:
            full["chat_id"] = chat.chat_id
        if topic and chat.thread_id is not None:
            full["message_thread_id"] = chat.thread_id
        try:
            line = self._signs if action in _SIGNS else self._messages
            await line.acquire()
            # A request that is cancelled under way takes its connection along, and
            # telegram_bot's library has few: a request that was begun is always ended,
            # whatever becomes of who asked for it.
            task = self._hass.async_create_task(
                self._hass.services.async_call(
                    DOMAIN, action, full, blocking=True, return_response=answers
                ),
                f"mimiclaw {action}",
            )
            task.add_done_callback(lambda ended: _ended(ended, line))
            done, _ = await asyncio.wait({task}, timeout=deadline_s)
            if not done:
                raise Unreachable(f"{action}: no answer in {deadline_s:g} s")
            answer = task.result()
        except ServiceNotFound, UnknownEntry:
            raise Unreachable(f"{action}: telegram_bot is not set up") from None
        except ServiceValidationError as err:
            if err.translation_key == "entry_not_loaded":
                # It is being reloaded, or Home Assistant is starting.
                raise Unreachable(f"{action}: the bot is not loaded") from err
            raise Refused(f"{action}: {err}") from err
        except HomeAssistantError as err:
            raise _told_apart(action, err) from err
        except probatio.Invalid as err:
            raise Refused(f"{action}: {err}") from err
        except Exception as err:
            # The integration is being unloaded, or its library let something through.
            raise Unreachable(f"{action}: {type(err).__name__}: {err}") from err
        return answer if isinstance(answer, dict) else {}


def _keyboard(rows: Sequence[Row]) -> list[list[list[str]]]:
    return [[[text, data] for text, data in row] for row in rows]


def _told_apart(action: str, err: HomeAssistantError) -> ChannelError:
    """Return our error for what the library raised beneath."""
    cause = err.__cause__
    kind = type(cause).__name__
    text = f"{action}: {cause or err}"
    wait = getattr(cause, "retry_after", None)
    if wait is not None:
        seconds = wait.total_seconds() if isinstance(wait, timedelta) else float(wait)
        return TryLater(seconds)
    words = str(cause or err).lower()
    if "can't parse entities" in words or "can't find end" in words:
        return BadMarkup(text)
    if "not modified" in words:
        return NotModified(text)
    if kind in {"NetworkError", "TimedOut"}:
        return Unreachable(text)
    return Refused(text)


def _take_file(path: Path, limit: int) -> bytes:
    """Read a downloaded file and remove it. Blocking. Raises Refused."""
    try:
        if path.stat().st_size > limit:
            raise Refused(f"The file is over {limit} bytes")
        return path.read_bytes()
    except OSError as err:
        raise Refused(f"The file cannot be read: {err}") from err
    finally:
        path.unlink(missing_ok=True)
