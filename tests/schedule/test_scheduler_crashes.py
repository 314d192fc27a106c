"""A crash at any moment, a full disk, a torn journal: no run twice, none lost in silence."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from custom_components.mimiclaw.line_log import LineLog

from .simulation import BERLIN, Simulation, at, every

START = datetime(2026, 12, 1, 12, 0, tzinfo=BERLIN)
HOUR = timedelta(hours=1)


async def started(*args: Any, **more: Any) -> Simulation:
    simulation = Simulation(*args, **more)
    await simulation.scheduler.start()
    return simulation


async def test_what_a_crash_cut_short_is_settled_once(tmp_path: Path) -> None:
    sim = await started(START, [at(START + HOUR)], log=LineLog(tmp_path / "runs.jsonl"))
    sim.worker.hold = asyncio.Event()
    sim.now = (START + HOUR).timestamp()
    await sim.scheduler.wake()
    await asyncio.sleep(0)
    assert len(sim.worker.runs) == 1
    # Stopping cancels the run in the middle, as the end of the process would.
    await sim.sleep_until(START + 1.1 * HOUR)
    assert [one.stage for one in sim.worker.settled] == ["begin"]
    assert len(sim.worker.runs) == 1
    assert sim.files.jobs == []
    await sim.sleep_until(START + 1.2 * HOUR)
    assert sim.worker.settled == []
    assert sim.worker.runs == []


async def test_a_crash_before_the_file_was_written_does_not_run_it_again(
    tmp_path: Path,
) -> None:
    sim = await started(START, [every(600)], log=LineLog(tmp_path / "runs.jsonl"))
    before = sim.files.text
    await sim.until(START + timedelta(minutes=10))
    assert len(sim.worker.runs) == 1
    sim.files.text = before
    await sim.sleep_until(START + timedelta(minutes=11))
    assert sim.worker.runs == []
    await sim.until(START + timedelta(minutes=20))
    assert len(sim.worker.runs) == 1


async def test_nothing_runs_that_cannot_be_promised() -> None:
    sim = await started(START, [every(600)])
    good = sim.log.append

    def full(lines: Any, *, sync: bool = True) -> None:
        raise OSError(28, "No space left on device")

    sim.log.append = full  # type: ignore[method-assign]
    sim.now = (START + timedelta(minutes=10)).timestamp()
    await sim.scheduler.wake()
    assert sim.worker.runs == []
    sim.log.append = good  # type: ignore[method-assign]
    await sim.until(START + timedelta(minutes=11))
    assert [slot for _, slot in sim.worker.runs] == [
        (START + timedelta(minutes=10)).timestamp()
    ]


async def test_without_the_journal_the_file_still_knows() -> None:
    sim = await started(START, [every(600)])
    await sim.until(START + timedelta(minutes=10))
    sim.log.rewrite([])
    await sim.sleep_until(START + timedelta(minutes=11))
    assert sim.worker.runs == []


async def test_a_torn_line_in_the_journal_hurts_nobody(tmp_path: Path) -> None:
    log = LineLog(tmp_path / "runs.jsonl")
    sim = await started(START, [every(600)], log=log)
    await sim.until(START + timedelta(minutes=10))
    with log.path.open("ab") as file:
        file.write(b'{"job":"e","slot":17')
    await sim.sleep_until(START + timedelta(minutes=11))
    await sim.until(START + timedelta(minutes=20))
    assert len(sim.worker.runs) == 1
    await sim.sleep_until(START + timedelta(minutes=21))
    assert sim.worker.runs == []
