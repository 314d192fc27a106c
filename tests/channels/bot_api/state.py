"""What Telegram knows: updates waiting to be fetched, messages, files, faults to come."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
import time
from typing import Any


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who writes to the bot."""

    id: int
    name: str = "Somebody"

    def as_dict(self) -> dict[str, Any]:
        """Return the object of the API."""
        return {"id": self.id, "is_bot": False, "first_name": self.name}


@dataclass(slots=True)
class Sent:
    """A message of the bot as it stands now."""

    chat_id: int
    message_id: int
    text: str
    entities: list[dict[str, Any]]
    parse_mode: str | None
    markup: dict[str, Any] | None
    thread_id: int | None
    reply_to: int | None
    at: float
    edits: int = 0
    deleted: bool = False

    @property
    def buttons(self) -> list[dict[str, Any]]:
        """Return the inline buttons, row after row."""
        rows = (self.markup or {}).get("inline_keyboard", [])
        return [button for row in rows for button in row]

    def as_dict(self) -> dict[str, Any]:
        """Return it for the control door."""
        return {
            "chat_id": self.chat_id,
            "message_id": self.message_id,
            "text": self.text,
            "entities": self.entities,
            "buttons": self.buttons,
            "thread_id": self.thread_id,
            "at": self.at,
            "edits": self.edits,
            "deleted": self.deleted,
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """One partial message."""

    chat_id: int
    draft_id: int
    text: str
    thread_id: int | None
    at: float


@dataclass(slots=True)
class Fault:
    """What goes wrong with the next calls of a method.

    `kind`: "cut" before anything is done, "cut_after" it was done, "429", "500",
    "delay" (seconds in `value`).
    """

    method: str
    kind: str
    value: float = 0.0
    times: int = 1


@dataclass(slots=True)
class State:
    """Everything one bot's server remembers."""

    token: str
    username: str
    updates: deque[dict[str, Any]] = field(default_factory=deque)
    messages: list[Sent] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)
    actions: list[tuple[int, str, float]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    calls: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    refused: list[tuple[str, str]] = field(default_factory=list)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    #: When each update was put in line, by its id.
    arrived: dict[int, float] = field(default_factory=dict)
    #: When each was handed to a poller for the first time.
    fetched: dict[int, float] = field(default_factory=dict)
    poller: object | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _next_update: int = 1000
    _next_message: defaultdict[int, int] = field(
        default_factory=lambda: defaultdict(lambda: 1)
    )
    _next_callback: int = 7_000_000_000

    def message_id(self, chat_id: int) -> int:
        """Return the next id of a message in a chat."""
        number = self._next_message[chat_id]
        self._next_message[chat_id] += 1
        return number

    def callback_id(self) -> str:
        """Return the id of a press of a button."""
        self._next_callback += 1
        return str(self._next_callback)

    async def push(self, **update: Any) -> int:
        """Put an update in line and return its id."""
        self._next_update += 1
        number = self._next_update
        self.updates.append({"update_id": number, **update})
        self.arrived[number] = time.perf_counter()
        await self.notify()
        return number

    async def again(self, update: dict[str, Any]) -> None:
        """Deliver something under a new update id: it happens with cut connections."""
        body = {key: value for key, value in update.items() if key != "update_id"}
        await self.push(**body)

    async def notify(self) -> None:
        """Wake who waits for a change."""
        async with self.changed:
            self.changed.notify_all()

    def confirm(self, offset: int) -> None:
        """Forget the updates below an offset, as fetching with it does."""
        while self.updates and self.updates[0]["update_id"] < offset:
            self.updates.popleft()

    def take_fault(self, method: str) -> Fault | None:
        """Return what is to go wrong with this call."""
        for fault in self.faults:
            if fault.method in {method, "*"} and fault.times > 0:
                fault.times -= 1
                if not fault.times:
                    self.faults.remove(fault)
                return fault
        return None

    def in_chat(self, chat_id: int) -> Iterator[Sent]:
        """Give the bot's messages of one chat that are still there."""
        return (
            one for one in self.messages if one.chat_id == chat_id and not one.deleted
        )
