"""The scheduler: exactly once, over restarts, crashes, edits and daylight saving."""

from __future__ import annotations

import asyncio
from datetime import date, datetime, timedelta
import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from custom_components.mimiclaw.schedule.errors import BadJob, NoSuchJob, ScheduleError
from custom_components.mimiclaw.schedule.job import parse
from custom_components.mimiclaw.schedule.limits import JOBS

from .simulation import BERLIN, Simulation, at, cron, every

START = datetime(2026, 12, 1, 12, 0, tzinfo=BERLIN)
HOUR = timedelta(hours=1)


async def started(*args: Any, **more: Any) -> Simulation:
    simulation = Simulation(*args, **more)
    await simulation.scheduler.start()
    return simulation


async def test_a_year_runs_the_exact_number_of_times() -> None:
    zone = BERLIN
    start = datetime(2026, 1, 1, tzinfo=zone)
    end = datetime(2027, 1, 1, tzinfo=zone) - timedelta(seconds=1)
    sim = await started(
        start - timedelta(seconds=1),
        [
            cron("30 2 * * *", id="1", name="night"),
            cron("0 7 * * 1-5", id="2", name="workdays"),
            cron("0 0 1 * *", id="3", name="monthly"),
            every(2 * 86400, id="5", name="other days"),
            at(datetime(2026, 6, 1, 9, tzinfo=zone), id="6", name="once"),
            cron("0 12 * * *", id="7", name="off", enabled=False),
        ],
    )
    await sim.until(end)
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(365)]
    counts = {
        name: len(sim.times(name))
        for name in (
            "night",
            "workdays",
            "monthly",
            "other days",
            "once",
            "off",
        )
    }
    assert counts == {
        "night": 365,
        "workdays": sum(day.weekday() < 5 for day in days),
        "monthly": 12,
        "other days": 182,
        "once": 1,
        "off": 0,
    }
    assert len(sim.worker.runs) == len(set(sim.worker.runs))
    assert {one.date() for one in sim.times("night")} == set(days)
    assert sim.scheduler.counts["skipped"] == 0


async def test_it_runs_at_its_local_time_on_both_sides_of_the_change() -> None:
    sim = await started(datetime(2026, 3, 27, tzinfo=BERLIN), [cron("0 7 * * *")])
    await sim.until(datetime(2026, 3, 31, tzinfo=BERLIN))
    assert [f"{one:%d %H:%M %Z}" for one in sim.times("cron")] == [
        "27 07:00 CET",
        "28 07:00 CET",
        "29 07:00 CEST",
        "30 07:00 CEST",
    ]


async def test_a_job_has_its_own_zone() -> None:
    sim = await started(START, [cron("0 7 * * *", tz="America/New_York")])
    await sim.until(START + 24 * HOUR)
    assert [f"{one:%H:%M}" for one in sim.times("cron")] == ["13:00"]


async def test_the_household_moves() -> None:
    sim = await started(START, [cron("0 7 * * *")])
    sim.zone = ZoneInfo("America/New_York")
    await sim.scheduler.rezone()
    await sim.until(START + 24 * HOUR)
    assert [f"{one.astimezone(BERLIN):%H:%M}" for one in sim.times("cron")] == ["13:00"]
    assert sim.files.jobs[0]["next_run"] == sim.scheduler.next_run("c")


async def test_a_restart_between_two_runs_changes_nothing() -> None:
    sim = await started(START, [every(3600), cron("0 18 * * *")])
    await sim.until(START + 1.5 * HOUR)
    assert sim.times("every") == [START + HOUR]
    await sim.sleep_until(START + 1.6 * HOUR)
    await sim.until(START + 7 * HOUR)
    assert sim.times("every") == [START + n * HOUR for n in range(2, 8)]
    assert len(sim.times("cron")) == 1


async def test_missed_while_down_it_runs_once_and_goes_on_in_step() -> None:
    sim = await started(START, [every(600), cron("0 13 * * *")])
    await sim.sleep_until(START + timedelta(hours=1, minutes=35))
    assert sim.times("every") == [START + timedelta(minutes=90)]
    assert sim.times("cron") == [START + HOUR]
    await sim.until(START + 2 * HOUR)
    assert sim.times("every")[1:] == [
        START + timedelta(minutes=n) for n in (100, 110, 120)
    ]


async def test_missed_beyond_its_grace_it_is_left_out_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sim = await started(START, [cron("0 13 * * *", grace_s=600)])
    await sim.sleep_until(START + 2 * HOUR)
    assert sim.worker.runs == []
    assert "left out" in caplog.text
    assert sim.scheduler.counts["skipped"] == 1
    await sim.until(START + 26 * HOUR)
    assert sim.times("cron") == [START + 25 * HOUR]


@pytest.mark.parametrize("missed", ["skip", "run_once"])
async def test_a_missed_reminder_does_as_it_says(missed: str) -> None:
    sim = await started(START, [at(START + HOUR, missed=missed)])
    await sim.sleep_until(START + 3 * HOUR)
    assert len(sim.worker.runs) == (missed == "run_once")
    assert [one["enabled"] for one in sim.files.jobs] == (
        [False] if missed == "skip" else []
    )
    await sim.sleep_until(START + 4 * HOUR)
    assert sim.worker.runs == []


async def test_a_relay_is_not_made_up_for() -> None:
    action = {"relay": "pump", "state": "on", "duration_s": 600}
    sim = await started(START, [at(START + HOUR, action=action)])
    await sim.sleep_until(START + HOUR + timedelta(minutes=2))
    assert sim.worker.runs == []


async def test_a_job_for_one_time_is_taken_out_when_it_is_done() -> None:
    sim = await started(
        START,
        [
            at(START + HOUR),
            at(START + HOUR, id="b", name="kept", delete_after_run=False),
        ],
    )
    await sim.until(START + 2 * HOUR)
    assert len(sim.worker.runs) == 2
    [left] = sim.files.jobs
    assert (left["id"], left["enabled"]) == ("b", False)
    await sim.sleep_until(START + 3 * HOUR)
    assert sim.worker.runs == []


async def test_nothing_is_lost_of_what_the_owner_wrote() -> None:
    text = json.dumps(
        {
            "comment": "mine",
            "jobs": [every(600, note="keep me", nested={"a": [1]}), {"odd": 1}, "text"],
        }
    )
    sim = await started(START, text)
    await sim.until(START + HOUR)
    assert len(sim.worker.runs) == 6
    document = json.loads(sim.files.text or "")
    assert document["comment"] == "mine"
    assert document["jobs"][0]["note"] == "keep me"
    assert document["jobs"][0]["nested"] == {"a": [1]}
    assert document["jobs"][0]["last_run"] == (START + HOUR).timestamp()
    assert document["jobs"][2] == "text"
    assert len(sim.told.bad) == 2


async def test_an_edit_by_hand_is_seen_and_is_no_missed_run() -> None:
    sim = await started(START, [cron("0 20 * * *")])
    await sim.until(START + 9 * HOUR)
    assert len(sim.worker.runs) == 1
    entries = sim.files.jobs
    entries[0]["expr"] = "30 20 * * *"
    sim.files.text = json.dumps({"jobs": entries})
    await sim.scheduler.wake()
    await sim.scheduler.idle()
    assert len(sim.worker.runs) == 1
    await sim.until(START + 40 * HOUR)
    assert [f"{one:%d %H:%M}" for one in sim.times("cron")] == ["01 20:00", "02 20:30"]


async def test_an_edit_while_down_is_no_missed_run_either() -> None:
    sim = await started(START, [cron("0 20 * * *")])
    await sim.until(START + 9 * HOUR)
    entries = sim.files.jobs
    entries[0]["expr"] = "30 20 * * *"
    sim.files.text = json.dumps({"jobs": entries})
    await sim.sleep_until(START + 9.1 * HOUR)
    assert sim.worker.runs == []


async def test_an_edit_at_the_moment_of_a_write_is_kept() -> None:
    sim = await started(START, [every(600)])

    def edit() -> None:
        sim.files.text = json.dumps(
            {"jobs": [*sim.files.jobs, every(900, id="n", name="new")]}
        )

    sim.files.rival = edit
    await sim.until(START + HOUR)
    assert {one["id"] for one in sim.files.jobs} == {"e", "n"}
    assert sim.times("new")


async def test_a_broken_file_is_left_alone_and_the_jobs_go_on() -> None:
    sim = await started(START, [every(600)])
    sim.files.text = '{"jobs": [ {"id": '
    await sim.until(START + HOUR)
    assert sim.files.text == '{"jobs": [ {"id": '
    assert len(sim.worker.runs) == 6
    assert sim.told.error is not None
    await sim.sleep_until(START + HOUR)
    await sim.until(START + 2 * HOUR)
    assert len(sim.worker.runs) == 6
    sim.files.text = json.dumps({"jobs": [every(1200)]})
    await sim.scheduler.wake()
    assert sim.told.error is None


async def test_a_bad_entry_does_not_stop_the_others() -> None:
    sim = await started(
        START, [cron("never", id="x", name="bad"), every(600), every(700)]
    )
    await sim.until(START + HOUR)
    assert len(sim.times("every")) == 6
    assert [one.name for one in sim.told.bad] == ["bad", "every"]


async def test_entries_without_an_id_get_one() -> None:
    sim = await started(START, [{"message": "hello", "interval_s": 600}])
    assert len(sim.files.jobs[0]["id"]) == 8
    await sim.until(START + HOUR)
    assert len(sim.worker.runs) == 6


async def test_three_failures_pause_and_switching_on_goes_on() -> None:
    sim = await started(START, [every(600)])
    sim.worker.error = "The provider is away."
    await sim.until(START + 2 * HOUR)
    assert len(sim.worker.runs) == 3
    assert sim.told.pauses == {"e": "The provider is away."}
    assert sim.files.jobs[0]["paused"] is True
    assert sim.scheduler.next_run("e") is None
    sim.worker.error = ""
    await sim.scheduler.enable("e", on=True)
    assert sim.told.pauses == {}
    await sim.until(START + 3 * HOUR)
    assert len(sim.worker.runs) == 9
    assert "failures" not in sim.files.jobs[0]


async def test_a_success_forgets_failures() -> None:
    sim = await started(START, [every(600)])
    for error in ("a", "b", "", "c", "d", ""):
        sim.worker.error = error
        await sim.until(datetime.fromtimestamp(sim.now, BERLIN) + timedelta(minutes=10))
    assert len(sim.worker.runs) == 6
    assert sim.told.pauses == {}


async def test_a_job_never_runs_beside_itself() -> None:
    sim = await started(START, [every(600)])
    sim.worker.hold = asyncio.Event()
    for minutes in (10, 20, 30):
        sim.now = (START + timedelta(minutes=minutes)).timestamp()
        await sim.scheduler.wake()
        await asyncio.sleep(0)
    assert len(sim.worker.runs) == 1
    assert sim.scheduler.counts["skipped"] == 2
    sim.worker.hold.set()
    await sim.scheduler.idle()
    await sim.until(START + timedelta(minutes=40))
    assert len(sim.worker.runs) == 2


async def test_adding_and_removing() -> None:
    sim = await started(START)
    job = await sim.scheduler.add(parse(every(600)))
    assert sim.files.jobs[0]["id"] == job.id
    assert sim.scheduler.next_run(job.id) == (START + timedelta(minutes=10)).timestamp()
    await sim.until(START + HOUR)
    assert len(sim.worker.runs) == 6
    await sim.scheduler.remove(job.id)
    await sim.until(START + 2 * HOUR)
    assert len(sim.worker.runs) == 6
    with pytest.raises(NoSuchJob):
        await sim.scheduler.remove(job.id)


async def test_a_time_that_is_over_is_refused() -> None:
    sim = await started(START)
    with pytest.raises(ScheduleError, match="over"):
        await sim.scheduler.add(parse(at(START - HOUR)))
    assert sim.files.text is None


async def test_the_number_of_jobs_has_an_end_and_all_are_read() -> None:
    sim = await started(
        START,
        [every(86400, id=str(number), name=str(number)) for number in range(JOBS)],
    )
    assert len(sim.scheduler.jobs) == JOBS
    with pytest.raises(BadJob, match=str(JOBS)):
        await sim.scheduler.add(parse(every(600)))


async def test_run_now_leaves_the_times_as_they_are() -> None:
    sim = await started(START, [every(3600)])
    sim.now += 600
    await sim.scheduler.run_now("e")
    await sim.scheduler.idle()
    assert len(sim.worker.runs) == 1
    await sim.sleep_until(START + timedelta(minutes=11))
    assert sim.scheduler.next_run("e") == (START + HOUR).timestamp()
