"""A scheduler with a clock of its own: days pass in milliseconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, tzinfo
import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from custom_components.mimiclaw.line_log import LineLog
from custom_components.mimiclaw.schedule.job import Job
from custom_components.mimiclaw.schedule.job_file import JobFile, Problem
from custom_components.mimiclaw.schedule.run_journal import RunJournal, Unfinished
from custom_components.mimiclaw.schedule.runner import Result, Run
from custom_components.mimiclaw.schedule.scheduler import Scheduler

BERLIN = ZoneInfo("Europe/Berlin")


class Missing(Exception):
    """No file."""


class Changed(Exception):
    """Another file than expected."""


class Files:
    """A workspace with one file, on disk or in memory."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.writes = 0
        #: Called before each write, to write first.
        self.rival: Callable[[], None] | None = None

    def read_raw(self, path: str) -> tuple[str, str]:
        if self.text is None:
            raise Missing
        return self.text, str(hash(self.text))

    def replace(self, path: str, text: str, expected_version: str | None) -> str:
        if self.rival is not None:
            rival, self.rival = self.rival, None
            rival()
        current = None if self.text is None else str(hash(self.text))
        if current != expected_version:
            raise Changed
        self.text = text
        self.writes += 1
        return str(hash(text))

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """Return the entries as they stand."""
        found: list[dict[str, Any]] = json.loads(self.text or '{"jobs":[]}')["jobs"]
        return found


class MemoryLog(LineLog):
    """A log without a disk, for a year of runs."""

    def __init__(self) -> None:
        super().__init__(Path("/nowhere"))
        self.lines: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        return list(self.lines)

    def append(self, lines: Any, *, sync: bool = True) -> None:
        self.lines.extend(dict(line) for line in lines)

    def rewrite(self, lines: Any) -> None:
        self.lines = [dict(line) for line in lines]


class Told:
    """What the owner was told."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.bad: tuple[Problem, ...] = ()
        self.pauses: dict[str, str] = {}

    def broken(self, error: str | None) -> None:
        self.error = error

    def problems(self, problems: tuple[Problem, ...]) -> None:
        self.bad = problems

    def paused(self, job: Job, error: str) -> None:
        self.pauses[job.id] = error

    def resumed(self, job_id: str) -> None:
        self.pauses.pop(job_id, None)


class Worker:
    """Performs by noting; may fail, or hang until it is let go."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, float]] = []
        self.settled: list[Unfinished] = []
        self.error = ""
        self.hold: asyncio.Event | None = None
        self.again = True

    async def perform(self, run: Run) -> Result:
        self.runs.append((run.job.name, run.slot))
        if self.hold is not None:
            await self.hold.wait()
        return Result(not self.error, self.error)

    async def resume(self, job: Job, unfinished: Unfinished) -> Result | None:
        self.settled.append(unfinished)
        return None if self.again else Result(True)


class Simulation:
    """One household's schedule in its own time."""

    def __init__(
        self,
        start: datetime,
        jobs: list[dict[str, Any]] | str | None = None,
        *,
        log: LineLog | None = None,
        zone: tzinfo = BERLIN,
    ) -> None:
        self.now = start.timestamp()
        self.zone = zone
        text = json.dumps({"jobs": jobs}) if isinstance(jobs, list) else jobs
        self.files = Files(text)
        self.log = log or MemoryLog()
        self.good = ""
        self.boot()

    def boot(self) -> None:
        """Begin anew with what is on disk, as after a restart."""
        self.alarm: tuple[float, Callable[[], None]] | None = None
        self.worker = Worker()
        self.told = Told()
        self.scheduler = Scheduler(
            JobFile(self.files, "/cron.json", Missing, Changed, self._keep),
            RunJournal(self.log),
            self.worker,
            self.told,
            home_zone=lambda: self.zone,
            clock=lambda: self.now,
            alarm=self._set,
            last_good=lambda: self.good,
        )

    def _keep(self, text: str) -> None:
        self.good = text

    def _set(self, when: float, ring: Callable[[], None]) -> Callable[[], None]:
        self.alarm = (when, ring)

        def cancel() -> None:
            self.alarm = None

        return cancel

    async def until(self, when: datetime) -> None:
        """Let the time pass, ringing every alarm at its moment."""
        end = when.timestamp()
        while self.alarm is not None and self.alarm[0] <= end:
            at, ring = self.alarm
            self.alarm = None
            self.now = max(self.now, at)
            ring()
            await self.scheduler.idle()
        self.now = end

    async def sleep_until(self, when: datetime) -> None:
        """Let the time pass with Home Assistant down, then start it."""
        await self.scheduler.stop()
        self.now = when.timestamp()
        self.boot()
        await self.scheduler.start()
        await self.scheduler.idle()

    def times(self, name: str) -> list[datetime]:
        """Return when a job ran, in the household's zone."""
        return [
            datetime.fromtimestamp(slot, self.zone)
            for job, slot in self.worker.runs
            if job == name
        ]


def cron(expr: str, **more: Any) -> dict[str, Any]:
    """Return the record of a job with an expression."""
    return {
        "id": "c",
        "name": "cron",
        "kind": "cron",
        "expr": expr,
        "message": "m",
    } | more


def every(seconds: float, **more: Any) -> dict[str, Any]:
    """Return the record of a repeating job."""
    return {
        "id": "e",
        "name": "every",
        "kind": "every",
        "interval_s": seconds,
        "message": "m",
    } | more


def at(when: datetime, **more: Any) -> dict[str, Any]:
    """Return the record of a job for one time."""
    return {
        "id": "a",
        "name": "at",
        "kind": "at",
        "at_epoch": when.timestamp(),
        "message": "m",
    } | more
