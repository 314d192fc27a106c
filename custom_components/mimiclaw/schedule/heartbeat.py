"""Every half hour the assistant looks whether there is something to do by itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, time, timedelta
import logging
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.event import async_track_time_interval
from homeassistant.util import dt as dt_util

from ..message import Message
from ..workspace import paths
from ..workspace.errors import Changed, NotFound, WorkspaceError
from ..workspace.speaker import HOUSEHOLD
from . import system_turns
from .heartbeat_file import done_items, tick, to_do
from .limits import HEARTBEAT_MINUTES, WRITE_TRIES
from .targets import Deliverer, Undeliverable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homeassistant.core import CALLBACK_TYPE

    from ..workspace.workspace import Workspace
    from .system_turns import Assistant

_LOGGER = logging.getLogger(__name__)

CHANNEL: Final = "heartbeat"
CONF_MINUTES: Final = "heartbeat_minutes"
CONF_QUIET_FROM: Final = "quiet_from"
CONF_QUIET_UNTIL: Final = "quiet_until"

_PROMPT: Final = (
    "[Heartbeat, {now}. Nobody is speaking, and nothing can be scheduled in this turn. "
    "These lines stand in /HEARTBEAT.md. Do what is to be done now. For each line with "
    "a box that is done for good, put the line '- [x] …' with its words at the end of "
    "the answer; it is ticked in the file. Answer with what the household needs to "
    "know, and with HEARTBEAT_OK alone if that is nothing.]\n\n{lines}"
)


class Heartbeat:
    """Owns the timer and the turn."""

    def __init__(
        self,
        hass: HomeAssistant,
        options: Mapping[str, Any],
        assistant: Assistant,
        workspace: Workspace,
        delivery: Deliverer,
    ) -> None:
        """Take the options, who answers, the files, and who delivers."""
        self._hass = hass
        self._assistant = assistant
        self._workspace = workspace
        self._delivery = delivery
        self._minutes = float(options.get(CONF_MINUTES, HEARTBEAT_MINUTES))
        self._quiet = (
            dt_util.parse_time(str(options.get(CONF_QUIET_FROM) or "")),
            dt_util.parse_time(str(options.get(CONF_QUIET_UNTIL) or "")),
        )
        self._cancel: CALLBACK_TYPE | None = None
        self._task: asyncio.Task[None] | None = None
        #: When it last looked, and when it last asked.
        self.last_beat: datetime | None = None
        self.last_turn: datetime | None = None

    @callback
    def async_start(self) -> None:
        """Begin to beat; zero minutes means never."""
        if self._minutes > 0:
            self._cancel = async_track_time_interval(
                self._hass, self._beat, timedelta(minutes=self._minutes)
            )

    async def async_stop(self) -> None:
        """End the timer and a turn under way."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @callback
    def _beat(self, _now: datetime) -> None:
        if self._task is None or self._task.done():
            self._task = self._hass.async_create_background_task(
                self._guarded(), "mimiclaw heartbeat"
            )

    async def _guarded(self) -> None:
        try:
            await self.async_beat()
        except Exception:
            _LOGGER.exception("The heartbeat failed")

    def quiet(self, now: datetime) -> bool:
        """Tell whether this is a time to be left alone; the span may cross midnight."""
        begin, end = self._quiet
        if begin is None or end is None or begin == end:
            return False
        clock: time = now.time()
        if begin < end:
            return begin <= clock < end
        return clock >= begin or clock < end

    def _warm(self) -> None:
        """Read what the next turn begins with, so that it comes from memory. Blocking."""
        with suppress(WorkspaceError):
            view = self._workspace.view(HOUSEHOLD)
            view.prompt_text(paths.MEMORY)
            view.recent_notes(days=1)

    async def async_beat(self) -> bool:
        """Look once; return whether a turn was needed."""
        now = dt_util.now()
        self.last_beat = now
        await asyncio.to_thread(self._warm)
        if self.quiet(now):
            return False
        lines = to_do(await self._read())
        if not lines:
            return False
        self.last_turn = now
        message = Message(
            text=_PROMPT.format(
                now=f"{now:%A, %Y-%m-%d %H:%M} {now.tzname()}", lines="\n".join(lines)
            ),
            channel=CHANNEL,
            conversation_id="household",
            language=self._hass.config.language,
            system_turn=True,
        )
        answer = await system_turns.run(self._assistant, message)
        if answer.error:
            # Nobody asked: the next beat tries again, and the repairs tell of the provider.
            _LOGGER.warning("The heartbeat got no answer: %s", answer.error)
            return True
        text, done = done_items(answer.text)
        if done:
            await self._tick(done)
        if text and not system_turns.is_nothing(text):
            try:
                await self._delivery.deliver(self._delivery.target_of(None), text)
            except Undeliverable as err:
                _LOGGER.warning(
                    "The heartbeat's answer went to a notification: %s", err
                )
        return True

    async def _read(self) -> str:
        try:
            text, _ = await asyncio.to_thread(self._workspace.read_raw, paths.HEARTBEAT)
        except NotFound:
            return ""
        except WorkspaceError as err:
            _LOGGER.warning("The heartbeat's file cannot be read: %s", err)
            return ""
        return text

    async def _tick(self, done: set[str]) -> None:
        try:
            await asyncio.to_thread(self._write_ticks, done)
        except WorkspaceError as err:
            _LOGGER.warning("What was done was not ticked: %s", err)

    def _write_ticks(self, done: set[str]) -> None:
        """Tick in what is on disk now. Blocking. Raises WorkspaceError."""
        for _ in range(WRITE_TRIES):
            text, version = self._workspace.read_raw(paths.HEARTBEAT)
            ticked = tick(text, done)
            if ticked == text:
                return
            try:
                self._workspace.replace(paths.HEARTBEAT, ticked, version)
            except Changed:
                continue
            return
