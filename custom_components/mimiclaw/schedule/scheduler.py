"""Keeps the time: reads the jobs, finds what is due, promises it, then has it done.

Knows no Home Assistant: clock and alarm come from outside, so a year can be tried out
in seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
import logging
from typing import Any, Protocol

from .errors import BrokenFile, NoSuchJob, ScheduleError
from .job import Job
from .job_file import JobFile, Loaded, Problem
from .limits import FAILURES, LOOK_S
from .planner import Due, Mark, Planner, Verdict
from .run_journal import RunJournal
from .runner import Performer, Result, Runner

_LOGGER = logging.getLogger(__name__)

type Cancel = Callable[[], None]


class Teller(Protocol):
    """Tells the owner."""

    def broken(self, error: str | None) -> None:
        """Tell that the file cannot be read, or with None that it can."""

    def problems(self, problems: tuple[Problem, ...]) -> None:
        """Tell which entries cannot be run."""

    def paused(self, job: Job, error: str) -> None:
        """Tell that a job was paused after failing."""

    def resumed(self, job_id: str) -> None:
        """Tell that a job is no longer paused, or gone."""


class Scheduler:
    """Owns the plan."""

    def __init__(
        self,
        file: JobFile,
        journal: RunJournal,
        performer: Performer,
        teller: Teller,
        *,
        home_zone: Callable[[], tzinfo],
        clock: Callable[[], float],
        alarm: Callable[[float, Callable[[], None]], Cancel],
        last_good: Callable[[], str],
    ) -> None:
        """Take the rooms it works with.

        `clock` gives seconds since 1970, `alarm` calls back at such a time, `last_good`
        gives the text of the file when it could last be read.
        """
        self._file = file
        self._journal = journal
        self._teller = teller
        self._clock = clock
        self._alarm = alarm
        self._last_good = last_good
        self._planner = Planner(home_zone)
        self._runner = Runner(journal, performer, self._ended)
        self._marks: dict[str, Mark] = {}
        self._version: str | None = None
        self._broken = ""
        self._not_before = 0.0
        self._cancel_alarm: Cancel | None = None
        self._turn = asyncio.Lock()
        self._listeners: set[Callable[[], None]] = set()
        self._stopped = False
        self.loaded = False  # until the file was read once
        #: Slots run, made up for, skipped and failed since the start.
        self.counts = {"run": 0, "made_up": 0, "skipped": 0, "failed": 0}

    @property
    def jobs(self) -> list[Job]:
        """Return every job, in the file's order."""
        return list(self._planner.jobs.values())

    @property
    def broken(self) -> str:
        """Return why the file cannot be read, or nothing."""
        return self._broken

    def job(self, job_id: str) -> Job | None:
        """Return one job."""
        return self._planner.jobs.get(job_id)

    def next_run(self, job_id: str) -> float | None:
        """Return when a job runs next, in seconds since 1970."""
        return self._planner.next_slot(job_id)

    def zone_of(self, job: Job) -> tzinfo:
        """Return the zone a job's times are meant in."""
        return self._planner.zone_of(job)

    def add_listener(self, listener: Callable[[], None]) -> Cancel:
        """Call when jobs or their next runs change."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    async def start(self) -> None:
        """Read the file and the journal, settle what a crash left, and keep the time."""
        async with self._turn:
            try:
                self._marks, unfinished = await asyncio.to_thread(self._journal.load)
            except OSError as err:
                _LOGGER.warning("The journal of runs cannot be read: %s", err)
                unfinished = []
            await self._load(force=True)
            if self._stopped:
                return
            for one in unfinished:
                if job := self.job(one.job_id):
                    self._runner.settle(job, one, self._clock() - one.slot)
                else:
                    await self._runner.forget(one)
        await self.wake()

    async def stop(self) -> None:
        """End every run; what was not finished is settled at the next start."""
        self._stopped = True
        self._disarm()
        await self._runner.stop()

    async def wake(self) -> None:
        """Look at the file and the clock, and begin what is due."""
        async with self._turn:
            if self._stopped:
                return
            await self._load()
            await self._begin_due()
            await self._write_next_runs()
            self._arm()

    async def rezone(self) -> None:
        """Follow the household to another time zone."""
        async with self._turn:
            self._planner.rezone(self._clock())
            await self._settle_changes()

    async def idle(self) -> None:
        """Wait until no run is going on."""
        await self._runner.idle()

    async def add(self, job: Job) -> Job:
        """Add a job and return it with its id. Raises ScheduleError."""
        async with self._turn:
            trial = Planner(lambda: self.zone_of(job))
            trial.take([replace(job, id="new")], {}, self._clock())
            slot = trial.next_slot("new")
            if slot is None or slot < self._clock() - LOOK_S:
                raise ScheduleError("That time is over; the job would never run.")
            added = await asyncio.to_thread(self._file.add, replace(job, next_run=slot))
            await self._load(force=True)
            await self._settle_changes()
        return self.job(added.id) or added

    async def remove(self, job_id: str) -> None:
        """Remove a job; one that is running is not ended. Raises ScheduleError."""
        async with self._turn:
            if not await asyncio.to_thread(self._file.remove, job_id):
                raise NoSuchJob(f"There is no job {job_id}.")
            await self._load(force=True)
            await self._settle_changes()

    async def enable(self, job_id: str, *, on: bool) -> None:
        """Switch a job on or off; on ends a pause, too. Raises ScheduleError."""
        async with self._turn:
            self._known(job_id)
            change: dict[str, Any] = {"enabled": on}
            if on:
                change |= {"paused": None, "failures": None, "last_error": None}
            await asyncio.to_thread(self._file.patch, {job_id: change})
            await self._load(force=True)
            await self._settle_changes()

    async def run_now(self, job_id: str) -> None:
        """Run a job at once, beside its times. Raises ScheduleError, OSError."""
        async with self._turn:
            job = self._known(job_id)
            if self._runner.runs(job_id):
                raise ScheduleError(f"'{job.name}' is running already.")
            now = self._clock()
            await asyncio.to_thread(self._journal.begin_beside, job_id, now)
            self.counts["run"] += 1
            self._runner.begin(Due(job, now, 0.0, Verdict.RUN))

    def _known(self, job_id: str) -> Job:
        job = self.job(job_id)
        if job is None:
            raise NoSuchJob(f"There is no job {job_id}.")
        return job

    # Reading and writing the file.

    async def _load(self, *, force: bool = False) -> None:
        """Take the file over if it changed."""
        try:
            loaded = await asyncio.to_thread(self._file.load)
            if loaded.nameless:
                await asyncio.to_thread(self._file.name_the_nameless)
                loaded = await asyncio.to_thread(self._file.load)
        except BrokenFile as err:
            await self._go_on_with_last_good(str(err))
            return
        except Exception as err:  # noqa: BLE001  the jobs known so far go on
            _LOGGER.warning("The schedule cannot be read: %s", err)
            self._teller.broken(str(err))
            return
        self._broken = ""
        self._teller.broken(None)
        if force or loaded.version != self._version:
            self._take(loaded)

    async def _go_on_with_last_good(self, error: str) -> None:
        """Keep the jobs as they were before somebody broke the file."""
        if error == self._broken:
            return
        _LOGGER.warning("The schedule is broken: %s", error)
        first = not self._planner.jobs
        self._broken = error
        self._version = None
        self._teller.broken(error)
        if not first:
            return
        try:
            text = await asyncio.to_thread(self._last_good)
            self._take(JobFile.understand(text, None))
        except OSError, BrokenFile:
            _LOGGER.warning("There is no good copy of the schedule")

    def _take(self, loaded: Loaded) -> None:
        self._version = loaded.version
        self.loaded = True
        gone = set(self._planner.jobs) - {job.id for job in loaded.jobs}
        self._planner.take(loaded.jobs, self._marks, self._clock())
        for job_id in gone | {job.id for job in loaded.jobs if not job.paused}:
            self._teller.resumed(job_id)
        for job in loaded.jobs:
            if job.paused:
                self._teller.paused(job, str(job.raw.get("last_error") or "–"))
        self._teller.problems(loaded.problems)
        self._tell()

    async def _settle_changes(self) -> None:
        """Let file, alarm and listeners follow a change of the plan."""
        await self._write_next_runs()
        self._arm()
        self._tell()

    async def _write_next_runs(self) -> None:
        """Let the file say when each job runs next."""
        changes: dict[str, dict[str, Any]] = {}
        for job in self.jobs:
            slot = self._planner.next_slot(job.id) or 0
            if slot != job.next_run:
                changes[job.id] = {"next_run": _short(slot)}
        await self._patch(changes)

    async def _patch(self, changes: dict[str, dict[str, Any]]) -> None:
        """Write into the file; the journal decides anyhow, so trouble is only logged."""
        if not changes or self._broken:
            return
        try:
            await asyncio.to_thread(self._file.patch, changes)
        except Exception as err:  # noqa: BLE001
            _LOGGER.warning("The schedule was not written: %s", err)
            return
        await self._load()

    # Keeping the time.

    def _arm(self) -> None:
        self._disarm()
        wake = self._planner.next_wake()
        if wake is not None and not self._stopped:
            self._cancel_alarm = self._alarm(max(wake, self._not_before), self._ring)

    def _disarm(self) -> None:
        if self._cancel_alarm is not None:
            self._cancel_alarm()
            self._cancel_alarm = None

    def _ring(self) -> None:
        self._cancel_alarm = None
        self._runner.own(self.wake(), "wake")

    async def _begin_due(self) -> None:
        """Promise what is due, then begin it. Nothing is begun that was not promised."""
        now = self._clock()
        due = self._planner.due(now)
        if not due:
            return
        run = [
            one
            for one in due
            if one.verdict is not Verdict.SKIP and not self._runner.runs(one.job.id)
        ]
        skip = [one for one in due if one not in run]
        try:
            await asyncio.to_thread(
                self._journal.promise, map(_line, run), map(_line, skip), now
            )
        except OSError as err:
            _LOGGER.warning("Nothing is run, for it cannot be written down: %s", err)
            self._planner.put_back(due)
            self._not_before = now + LOOK_S
            return
        changes: dict[str, dict[str, Any]] = {}
        for one in due:
            self._marks[one.job.id] = Mark(one.slot, one.job.signature)
            self._count(one, skipped=one in skip)
            following = self._planner.next_slot(one.job.id) or 0
            changes[one.job.id] = {"next_run": _short(following)}
            if one in run:
                changes[one.job.id]["last_run"] = _short(one.slot)
                self._runner.begin(one)
            elif one.job.kind == "at":
                changes[one.job.id]["enabled"] = False
        await self._patch(changes)
        self._tell()

    def _count(self, due: Due, *, skipped: bool) -> None:
        """Count a slot, and log what was not as planned."""
        name = due.job.name
        self.counts["skipped"] += due.missed
        if due.missed:
            _LOGGER.warning("'%s' was missed %d times before", name, due.missed)
        if skipped:
            self.counts["skipped"] += 1
            why = "missed" if due.verdict is Verdict.SKIP else "still running"
            _LOGGER.warning(
                "'%s' was left out, %.0f s after its time: %s", name, due.late_s, why
            )
        elif due.verdict is Verdict.MAKE_UP:
            self.counts["made_up"] += 1
            _LOGGER.warning("'%s' is made up for, %.0f s late", name, due.late_s)
        else:
            self.counts["run"] += 1

    async def _ended(self, due: Due, result: Result) -> None:
        """Count failures, put a finished job away."""
        if not result.ok:
            self.counts["failed"] += 1
            _LOGGER.warning("'%s' failed: %s", due.job.name, result.error)
        async with self._turn:
            job = self.job(due.job.id)
            if job is None or self._stopped:
                return
            done = job.kind == "at" and due.slot == job.at_epoch
            if done and job.delete_after_run and not self._broken:
                await self._put_away(job)
            else:
                change = _after_run(job, result)
                if done:
                    change["enabled"] = False
                await self._patch({job.id: change} if change else {})
            self._arm()
        self._tell()

    async def _put_away(self, job: Job) -> None:
        try:
            await asyncio.to_thread(self._file.remove, job.id)
        except Exception as err:  # noqa: BLE001  the journal knows that it is done
            _LOGGER.warning("'%s' was not removed: %s", job.name, err)
        await self._load()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()


def _after_run(job: Job, result: Result) -> dict[str, Any]:
    """Return what a run changes in its job's record."""
    if result.ok:
        return {"failures": None, "last_error": None} if job.failures else {}
    failures = job.failures + 1
    change: dict[str, Any] = {"failures": failures, "last_error": result.error}
    if failures >= FAILURES and job.kind != "at":
        change["paused"] = True
    return change


def _line(due: Due) -> tuple[str, float, str]:
    return due.job.id, due.slot, due.job.signature


def _short(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
