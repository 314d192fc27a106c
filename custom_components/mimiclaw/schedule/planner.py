"""What is due, and when to look again: pure arithmetic on jobs and a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum

from .job import Job
from .limits import COUNT_SLOTS, ON_TIME_S
from .times import next_by_expression, zone


class Verdict(StrEnum):
    """What to do about a slot whose time has come."""

    RUN = "run"
    #: It was missed, and the job wants it made up for.
    MAKE_UP = "make_up"
    #: It was missed, and the job does not want it, or not any more.
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Mark:
    """The last slot of a job that was dealt with, and the times it had then."""

    slot: float
    signature: str


@dataclass(frozen=True, slots=True)
class Due:
    """A slot of a job that is due. `missed` counts the slots before it that were not run."""

    job: Job
    slot: float
    late_s: float
    verdict: Verdict
    missed: int = 0


class Planner:
    """Knows the next slot of every job. All times are seconds since 1970."""

    def __init__(self, home_zone: Callable[[], tzinfo]) -> None:
        """Take what tells the household's time zone."""
        self._home_zone = home_zone
        self._jobs: dict[str, Job] = {}
        self._slots: dict[str, float | None] = {}

    @property
    def jobs(self) -> Mapping[str, Job]:
        """Return every job by its id, in the file's order."""
        return self._jobs

    def zone_of(self, job: Job) -> tzinfo:
        """Return the zone a job's times are meant in."""
        return zone(job.tz) if job.tz else self._home_zone()

    def next_slot(self, job_id: str) -> float | None:
        """Return when a job runs next; None if it does not."""
        job = self._jobs.get(job_id)
        return self._slots.get(job_id) if job and job.active else None

    def next_wake(self) -> float | None:
        """Return the earliest slot of all."""
        return min(
            (
                slot
                for job_id, slot in self._slots.items()
                if slot is not None and self._jobs[job_id].active
            ),
            default=None,
        )

    def take(self, jobs: Iterable[Job], marks: Mapping[str, Mark], now: float) -> None:
        """Plan with these jobs. What was dealt with, `marks`, is not planned again."""
        before, known = self._jobs, self._slots
        self._jobs = {job.id: job for job in jobs}
        self._slots = {}
        for job in self._jobs.values():
            old = before.get(job.id)
            # A job that was switched off has missed nothing when it is switched on.
            if old is not None and old.active == job.active:
                if old.signature == job.signature:
                    self._slots[job.id] = known[job.id]
                else:
                    self._slots[job.id] = self._after(job, now)
            elif old is not None:
                self._slots[job.id] = self._after(job, now, last=self._last(job, marks))
            else:
                self._slots[job.id] = self._first(job, marks.get(job.id), now)

    def rezone(self, now: float) -> None:
        """Plan anew after the household moved to another time zone."""
        for job in self._jobs.values():
            if job.kind == "cron" and not job.tz:
                self._slots[job.id] = self._after(job, now)

    def due(self, now: float) -> list[Due]:
        """Return what is due and move each of these jobs to its next slot."""
        found: list[Due] = []
        for job in self._jobs.values():
            slot = self._slots[job.id]
            if slot is None or slot > now or not job.active:
                continue
            latest, missed = self._latest(job, slot, now)
            late = now - latest
            if late <= ON_TIME_S:
                verdict = Verdict.RUN
            elif job.missed == "run_once" and late <= job.grace:
                verdict = Verdict.MAKE_UP
            else:
                verdict = Verdict.SKIP
            found.append(Due(job, latest, late, verdict, missed))
            self._slots[job.id] = self._following(job, latest)
        found.sort(key=lambda one: one.slot)
        return found

    def put_back(self, due: Iterable[Due]) -> None:
        """Plan slots again that could not be dealt with."""
        for one in due:
            if one.job.id in self._jobs:
                self._slots[one.job.id] = one.slot

    def _last(self, job: Job, marks: Mapping[str, Mark]) -> float:
        mark = marks.get(job.id)
        return max(job.last_run, mark.slot if mark else 0.0)

    def _first(self, job: Job, mark: Mark | None, now: float) -> float | None:
        """Return the first slot of a job that was not planned before in this process."""
        if mark is not None and mark.signature != job.signature:
            return self._after(job, now)
        last = mark.slot if mark is not None else job.last_run
        if job.kind == "at":
            return job.at_epoch if last < job.at_epoch else None
        if mark is None and job.next_run > max(0.0, last):
            return self._written(job, now)
        if last:
            return self._following(job, last)
        return self._after(job, now)

    def _written(self, job: Job, now: float) -> float | None:
        """Return the slot that the file names, unless the job's times were edited since."""
        slot = job.next_run
        if job.kind == "every":
            return min(slot, now + job.interval_s)
        expected = next_by_expression(job.expr, slot - 1, self.zone_of(job))
        return slot if expected == slot else self._after(job, now)

    def _after(self, job: Job, now: float, last: float = 0.0) -> float | None:
        """Return the first slot from now on, nothing being missed."""
        if job.kind == "at":
            return job.at_epoch if job.at_epoch > max(now - ON_TIME_S, last) else None
        if job.kind == "every":
            return now + job.interval_s
        return next_by_expression(job.expr, now, self.zone_of(job))

    def _following(self, job: Job, slot: float) -> float | None:
        if job.kind == "at":
            return None
        if job.kind == "every":
            return slot + job.interval_s
        return next_by_expression(job.expr, slot, self.zone_of(job))

    def _latest(self, job: Job, slot: float, now: float) -> tuple[float, int]:
        """Return the last slot up to now, and how many before it were missed."""
        if job.kind == "at":
            return slot, 0
        if job.kind == "every":
            missed = int((now - slot) // job.interval_s)
            return slot + missed * job.interval_s, missed
        missed = 0
        while True:
            following = self._following(job, slot)
            if following is None or following > now:
                return slot, missed
            slot = following
            missed += 1
            if missed >= COUNT_SLOTS:
                # Every minute over a week and more: jump, the exact count is no news.
                late = next_by_expression(job.expr, now - 7200, self.zone_of(job))
                slot = max(slot, late) if late is not None and late <= now else slot
