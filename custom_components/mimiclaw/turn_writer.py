"""Writes a turn down, beside what comes next: its session and its trace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from homeassistant.util import dt as dt_util

from .agent.trace import Trace
from .const import LOGGER

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .message import Message
    from .open_conversations import Conversation
    from .trace_files import TraceFiles
    from .workspace.sessions import Sessions

#: Ways a message is answered that stand in the session.
_RECORDED: Final = frozenset({"agent", "fast_path", "local_intents"})


@dataclass(slots=True, eq=False)
class Turn:
    """One message on its way to an answer."""

    message: Message
    conversation: Conversation
    #: When the message was there (time.monotonic), before it waited for its turn.
    arrived: float
    trace: Trace = field(default_factory=Trace)
    spoken: list[str] = field(default_factory=list)
    #: The person's words on their way to the session, once they are.
    recording: asyncio.Task[None] | None = None
    #: The wait for the next part, which a stop ends, and who waits.
    patience: asyncio.Timeout | None = None
    task: asyncio.Task[Any] | None = None


class TurnWriter:
    """Owns the tasks that write; a stop waits for them."""

    def __init__(
        self, hass: HomeAssistant, sessions: Sessions, traces: TraceFiles
    ) -> None:
        """Take where things are written."""
        self._hass = hass
        self._sessions = sessions
        self._traces = traces
        self._tasks: set[asyncio.Task[None]] = set()

    async def async_settled(self) -> None:
        """Wait until the lines of all turns that have ended are on the disk."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let work go on beside a turn; a stop waits for it."""
        task = self._hass.async_create_task(work, "mimiclaw beside a turn")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def begin(self, turn: Turn) -> asyncio.Task[None]:
        """Write down what the person said, before the answer is there."""
        words = self._record(turn.message, "user", turn.message.text)
        turn.recording = self.own(words)
        return turn.recording

    def finish(self, turn: Turn, then: Callable[[], None]) -> asyncio.Task[None]:
        """Write the rest of the turn down, however it ended; `then` is called after."""
        task = self._hass.async_create_task(
            self._write_down(turn), "mimiclaw session", eager_start=False
        )
        self._tasks.add(task)

        def done(ended: asyncio.Task[None]) -> None:
            self._tasks.discard(ended)
            then()

        task.add_done_callback(done)
        return task

    async def _write_down(self, turn: Turn) -> None:
        message, spoken = turn.message, "".join(turn.spoken)
        if turn.trace.path in _RECORDED:
            if turn.recording is not None:
                await turn.recording
            else:
                await self._record(message, "user", message.text)
            if spoken:
                await self._record(message, "assistant", spoken)
        await asyncio.to_thread(
            self._traces.write, message, turn.trace, spoken, dt_util.now()
        )

    async def _record(self, message: Message, role: str, text: str) -> None:
        """Add one line to the session; a full disk must not end the turn."""
        if message.aside:
            return
        try:
            await asyncio.to_thread(
                self._sessions.append,
                message.channel,
                message.conversation_id,
                role,
                text,
                person=message.speaker.person,
            )
        except Exception:  # noqa: BLE001  the answer matters more than its record
            LOGGER.exception("The session of %s was not written", message.channel)
