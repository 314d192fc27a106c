"""The schedule in Home Assistant: its clock, its files, its place in the entry's life."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from datetime import datetime, timedelta
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from homeassistant.const import EVENT_CORE_CONFIG_UPDATE
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers.event import (
    async_track_point_in_utc_time,
    async_track_time_interval,
)
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util

from ..line_log import STATE_FOLDER, LineLog
from ..workspace import paths
from ..workspace.errors import Changed, NotFound
from .job_file import JobFile
from .limits import LOOK_S
from .run_journal import RunJournal
from .runner import Performer
from .scheduler import Scheduler
from .teller import RepairTeller

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry

    from ..workspace.workspace import Workspace

JOURNAL: Final = "runs.jsonl"
LAST_GOOD: Final = "cron.last-good.json"


class HomeSchedule:
    """Owns the scheduler and what wakes it."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        workspace: Workspace,
        performer: Performer,
    ) -> None:
        """Take the workspace and who performs."""
        self._hass = hass
        self._entry = entry
        self._teller = RepairTeller(hass)
        self._state = workspace.root / STATE_FOLDER
        self._unsubscribe: list[CALLBACK_TYPE] = []
        self._stopped = False
        self.scheduler = Scheduler(
            JobFile(workspace, paths.CRON, NotFound, Changed, self._keep),
            RunJournal(LineLog(self._state / JOURNAL)),
            performer,
            self._teller,
            home_zone=dt_util.get_default_time_zone,
            clock=lambda: dt_util.utcnow().timestamp(),
            alarm=self._alarm,
            last_good=self._last_good,
        )

    @callback
    def async_start(self) -> None:
        """Keep the time once Home Assistant has started: before, nobody is reached."""
        self._unsubscribe.append(async_at_started(self._hass, self._begin))

    async def _begin(self, _hass: HomeAssistant) -> None:
        await self.scheduler.start()
        if self._stopped:
            return
        self._unsubscribe += [
            async_track_time_interval(
                self._hass, self._look, timedelta(seconds=LOOK_S)
            ),
            self._hass.bus.async_listen(EVENT_CORE_CONFIG_UPDATE, self._moved),
        ]

    async def async_stop(self) -> None:
        """End every timer and run."""
        self._stopped = True
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        await self.scheduler.stop()
        self._teller.clear()

    async def _look(self, _now: datetime) -> None:
        """See an edit by hand, and a clock that jumped."""
        await self.scheduler.wake()

    async def _moved(self, event: Event[Any]) -> None:
        if "time_zone" in event.data:
            await self.scheduler.rezone()

    @callback
    def _alarm(self, when: float, ring: Callable[[], None]) -> CALLBACK_TYPE:
        @callback
        def rings(_now: datetime) -> None:
            ring()

        return async_track_point_in_utc_time(
            self._hass, rings, dt_util.utc_from_timestamp(when)
        )

    def _keep(self, text: str) -> None:
        """Keep a copy of a file that could be read. Blocking."""
        with contextlib.suppress(OSError):
            path = self._state / LAST_GOOD
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                _write_whole(path, text)

    def _last_good(self) -> str:
        return (self._state / LAST_GOOD).read_text(encoding="utf-8")


def _write_whole(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    handle = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
    )
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
