"""Which runs were begun and which ended: the one record that decides after a crash.

A run is named by its job and the time it was meant for. It is written down before
anything is done, so no run happens twice; what was not finished is found at the next
start, so none is lost in silence. Blocking; for worker threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from ..line_log import LineLog
from .limits import JOURNAL_LINES
from .planner import Mark

type Stage = Literal["begin", "acting", "reply", "end", "skip"]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that a crash cut short. `reply` is the answer if there was one already."""

    job_id: str
    slot: float
    stage: Stage
    reply: str = ""


class RunJournal:
    """Writes stages of runs down and reads them back."""

    def __init__(self, log: LineLog) -> None:
        """Take the file."""
        self._log = log
        self._lines = 0

    def load(self) -> tuple[dict[str, Mark], list[Unfinished]]:
        """Return the last slot of each job and what was not finished. Raises OSError."""
        marks: dict[str, Mark] = {}
        open_runs: dict[tuple[str, float], Unfinished] = {}
        lines = self._log.read()
        self._lines = len(lines)
        for line in lines:
            job_id, slot, stage = line.get("job"), line.get("slot"), line.get("stage")
            if not isinstance(job_id, str) or not isinstance(slot, (int, float)):
                continue
            key = (job_id, float(slot))
            if stage in {"begin", "skip"} and not line.get("beside"):
                mark = marks.get(job_id)
                if mark is None or mark.slot <= slot:
                    marks[job_id] = Mark(float(slot), str(line.get("sig", "")))
            if stage in {"end", "skip"}:
                open_runs.pop(key, None)
            elif stage in {"begin", "acting", "reply"}:
                open_runs[key] = Unfinished(
                    job_id, float(slot), stage, str(line.get("text", ""))
                )
        unfinished = sorted(open_runs.values(), key=lambda one: one.slot)
        if self._lines > JOURNAL_LINES:
            self._shorten(marks, unfinished)
        return marks, unfinished

    def promise(
        self,
        run: Iterable[tuple[str, float, str]],
        skip: Iterable[tuple[str, float, str]],
        now: float,
    ) -> None:
        """Promise runs, and note slots that are left out: job id, slot, signature.

        Raises OSError; then none of the runs may happen.
        """
        self._append(
            [self._line("begin", *one, now=now) for one in run]
            + [self._line("skip", *one, now=now) for one in skip]
        )

    def begin_beside(self, job_id: str, slot: float) -> None:
        """Promise a run beside the job's own times. Raises OSError."""
        self._append([{"job": job_id, "slot": slot, "stage": "begin", "beside": True}])

    def note(self, job_id: str, slot: float, stage: Stage, **more: Any) -> None:
        """Note how far a run is. Raises OSError."""
        self._append([{"job": job_id, "slot": slot, "stage": stage, **more}])

    @staticmethod
    def _line(
        stage: Stage, job_id: str, slot: float, signature: str, *, now: float
    ) -> dict[str, Any]:
        return {
            "job": job_id,
            "slot": slot,
            "stage": stage,
            "sig": signature,
            "ts": now,
        }

    def _append(self, lines: list[dict[str, Any]]) -> None:
        if lines:
            self._log.append(lines)
            self._lines += len(lines)

    def _shorten(self, marks: dict[str, Mark], unfinished: list[Unfinished]) -> None:
        lines: list[dict[str, Any]] = [
            {"job": job_id, "slot": mark.slot, "stage": "skip", "sig": mark.signature}
            for job_id, mark in marks.items()
        ]
        for one in unfinished:
            mark = marks.get(one.job_id)
            signature = mark.signature if mark else ""
            lines.append(
                {
                    "job": one.job_id,
                    "slot": one.slot,
                    "stage": "begin",
                    "sig": signature,
                }
            )
            lines.append(
                {
                    "job": one.job_id,
                    "slot": one.slot,
                    "stage": one.stage,
                    "text": one.reply,
                }
            )
        self._log.rewrite(lines)
        self._lines = len(lines)
