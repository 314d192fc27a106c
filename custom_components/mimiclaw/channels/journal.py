"""What came in from Telegram and how far its answer is: the record a crash leaves.

Telegram hands a message over once. From then on it is ours: it is written down before
anything is done about it, and every step after that, so that the next start answers
what has no answer yet and repeats nothing that was done.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import logging
from typing import Any, Literal

from ..line_log import LineLog
from .limits import JOURNAL_DONE, JOURNAL_LINES, JOURNAL_SENT
from .update import Chat, Update

_LOGGER = logging.getLogger(__name__)

#: in: came, nothing done. run: its turn began, a relay may have moved. think: the fast
#: path let it pass, a model is asked. act: a tool that changes something was called.
#: out: the answer is there.
type Stage = Literal["in", "run", "think", "act", "out"]


@dataclass(slots=True)
class Open:
    """An update without a finished answer. `sent` counts the pieces that are out."""

    update: Update
    stage: Stage = "in"
    pieces: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0


class Journal:
    """Knows what was seen, and writes each step down in the order it was told."""

    def __init__(self, log: LineLog) -> None:
        """Take the file."""
        self._log = log
        self._done: OrderedDict[str, None] = OrderedDict()
        self._open: dict[str, Open] = {}
        self._ours: dict[int, deque[int]] = {}
        self._waiting: list[tuple[Mapping[str, Any], asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self.existed = False

    def load(self) -> list[Open]:
        """Return what has no finished answer, oldest first. Blocking; raises OSError."""
        lines = self._log.read()
        self.existed = bool(lines)
        for line in lines:
            try:
                self._take(line)
            except TypeError, KeyError, ValueError:
                _LOGGER.debug("A line of the journal is not understood: %s", line)
        if len(lines) > JOURNAL_LINES:
            self._log.rewrite(self._snapshot())
        return list(self._open.values())

    def seen(self, key: str) -> bool:
        """Tell whether an update was received before."""
        return key in self._open or key in self._done

    def is_ours(self, chat_id: int, message_id: int) -> bool:
        """Tell whether a message is one of the bot's own."""
        return message_id in self._ours.get(chat_id, ())

    def received(self, update: Update) -> asyncio.Future[None]:
        """Note an update; from now on it is seen. Await to have it written."""
        self._open[update.key] = Open(update)
        return self._note({"in": update.key, "u": update.as_raw()})

    async def stage(self, key: str, stage: Stage) -> None:
        """Note how far a turn is."""
        if (one := self._open.get(key)) is not None:
            one.stage = stage
        await self._note({"at": key, "s": stage})

    async def answer(self, key: str, pieces: list[dict[str, str]]) -> None:
        """Note the answer before it is sent."""
        if (one := self._open.get(key)) is not None:
            one.stage, one.pieces = "out", pieces
        await self._note({"at": key, "s": "out", "p": pieces})

    async def sent(self, key: str, count: int) -> None:
        """Note how many pieces are out."""
        await self._note({"sent": key, "n": count})

    async def end(self, key: str) -> None:
        """Note that an update is done with."""
        self._close(key)
        await self._note({"end": key})

    async def end_chat(self, chat: Chat) -> None:
        """Note that everything of a chat is done with."""
        keys = [key for key, one in self._open.items() if one.update.chat == chat]
        for key in keys:
            await self.end(key)

    def remember_ours(self, chat_id: int, message_id: int) -> None:
        """Remember a message of the bot, so that a reply to it is known."""
        if not self.is_ours(chat_id, message_id):
            self._add_ours(chat_id, message_id)
            self._note({"ours": [chat_id, message_id]})

    async def flush(self) -> None:
        """Wait until everything is on the disk."""
        if self._writer is not None:
            await self._writer

    def _take(self, line: Mapping[str, Any]) -> None:
        if "in" in line:
            if not self.seen(line["in"]):
                self._open[line["in"]] = Open(Update.from_raw(line["u"]))
        elif "at" in line and (one := self._open.get(line["at"])):
            one.stage = line["s"]
            one.pieces = line.get("p", one.pieces)
        elif "sent" in line and (one := self._open.get(line["sent"])):
            one.sent = int(line["n"])
        elif "end" in line:
            self._close(line["end"])
        elif "ours" in line:
            chat_id, message_id = line["ours"]
            self._add_ours(chat_id, message_id)

    def _close(self, key: str) -> None:
        self._open.pop(key, None)
        self._done[key] = None
        self._done.move_to_end(key)
        while len(self._done) > JOURNAL_DONE:
            self._done.popitem(last=False)

    def _add_ours(self, chat_id: int, message_id: int) -> None:
        ids = self._ours.setdefault(chat_id, deque(maxlen=JOURNAL_SENT))
        ids.append(message_id)

    def _snapshot(self) -> Iterable[Mapping[str, Any]]:
        for key in self._done:
            yield {"end": key}
        for chat_id, ids in self._ours.items():
            for message_id in ids:
                yield {"ours": [chat_id, message_id]}
        for key, one in self._open.items():
            yield {"in": key, "u": one.update.as_raw()}
            yield {"at": key, "s": one.stage, "p": one.pieces}
            yield {"sent": key, "n": one.sent}

    def _note(self, line: Mapping[str, Any]) -> asyncio.Future[None]:
        """Put a line in the queue of the one writer; done once the system has it."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._waiting.append((line, written))
        if self._writer is None or self._writer.done():
            self._writer = loop.create_task(self._write(), name="mimiclaw journal")
        return written

    async def _write(self) -> None:
        """Write what waits, many lines at once; then bring it onto the disk.

        The lines survive this process as soon as the system has them, which costs no
        relay a millisecond; the disk follows within one of its own writes.
        """
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(
                    self._log.append, [line for line, _ in batch], sync=False
                )
            except OSError as err:
                # The answer matters more than its record.
                _LOGGER.warning("Telegram's journal was not written: %s", err)
            for _, written in batch:
                if not written.done():
                    written.set_result(None)
            if not self._waiting:
                try:
                    await asyncio.to_thread(self._log.sync)
                except OSError as err:
                    _LOGGER.debug("Telegram's journal is not on the disk: %s", err)
