"""Has jobs done: owns every run that is going on, and what it notes on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
import logging
from typing import Any, Protocol

from .job import Job
from .limits import RUN_S, SIDE_BY_SIDE
from .planner import Due, Verdict
from .run_journal import RunJournal, Unfinished

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a run; `error` is one sentence when it is not `ok`."""

    ok: bool
    error: str = ""


class Run:
    """One run of a job. `late_s` is how long after its time it began, in seconds."""

    def __init__(
        self, journal: RunJournal, job: Job, slot: float, late_s: float
    ) -> None:
        self.job = job
        self.slot = slot
        self.late_s = late_s
        self._journal = journal

    async def acting(self) -> None:
        """Note that something outside is about to be changed. Raises OSError."""
        await asyncio.to_thread(self._journal.note, self.job.id, self.slot, "acting")

    async def replied(self, text: str) -> None:
        """Note the answer before it is delivered. Raises OSError."""
        await asyncio.to_thread(
            self._journal.note, self.job.id, self.slot, "reply", text=text
        )


class Performer(Protocol):
    """Does what a job says."""

    async def perform(self, run: Run) -> Result:
        """Do it. Whatever is wrong comes back as a result."""

    async def resume(self, job: Job, unfinished: Unfinished) -> Result | None:
        """Bring to an end what a crash cut short; None to run it from the start."""


class Runner:
    """Begins runs, a few at a time, never two of one job."""

    def __init__(
        self,
        journal: RunJournal,
        performer: Performer,
        ended: Callable[[Due, Result], Awaitable[None]],
    ) -> None:
        """Take the journal, who does the work, and who is told of each end."""
        self._journal = journal
        self._performer = performer
        self._ended = ended
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: set[str] = set()
        self._beds = asyncio.Semaphore(SIDE_BY_SIDE)

    def runs(self, job_id: str) -> bool:
        """Tell whether a job is running."""
        return job_id in self._running

    def own(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start a task that ends with the runner."""
        task = asyncio.get_running_loop().create_task(
            work, name=f"mimiclaw schedule {name}"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End every run; what was not finished is settled at the next start."""
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def idle(self) -> None:
        """Wait until no run is going on."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            # A finished task leaves the set only when the loop comes round.
            await asyncio.sleep(0)

    def begin(self, due: Due) -> None:
        """Begin a run that has been promised."""
        self._running.add(due.job.id)
        self.own(self._run(due, None), due.job.id)

    def settle(self, job: Job, unfinished: Unfinished, late_s: float) -> None:
        """Bring to an end what a crash cut short."""
        self._running.add(job.id)
        due = Due(job, unfinished.slot, late_s, Verdict.MAKE_UP)
        self.own(self._run(due, unfinished), f"settle {job.id}")

    async def _run(self, due: Due, unfinished: Unfinished | None) -> None:
        try:
            async with self._beds:
                result = await self._guarded(due, unfinished)
            await self._note_end(due.job.id, due.slot)
        finally:
            self._running.discard(due.job.id)
        await self._ended(due, result)

    async def _guarded(self, due: Due, unfinished: Unfinished | None) -> Result:
        """Do the work; whatever goes wrong is a result."""
        try:
            async with asyncio.timeout(RUN_S):
                result: Result | None = None
                if unfinished is not None:
                    result = await self._performer.resume(due.job, unfinished)
                if result is None:
                    result = await self._performer.perform(
                        Run(self._journal, due.job, due.slot, due.late_s)
                    )
                return result
        except TimeoutError:
            return Result(False, f"It was not done within {RUN_S / 60:.0f} minutes.")
        except Exception as err:
            _LOGGER.exception("'%s' failed", due.job.name)
            return Result(False, str(err) or type(err).__name__)

    async def forget(self, unfinished: Unfinished) -> None:
        """Close a run whose job is gone."""
        await self._note_end(unfinished.job_id, unfinished.slot)

    async def _note_end(self, job_id: str, slot: float) -> None:
        try:
            await asyncio.to_thread(self._journal.note, job_id, slot, "end")
        except OSError as err:
            _LOGGER.warning("The end of a run was not written down: %s", err)
