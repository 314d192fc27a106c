"""The plan alone, for jobs too frequent to be run through a whole year."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from custom_components.mimiclaw.schedule.job import parse
from custom_components.mimiclaw.schedule.planner import Planner, Verdict

from .simulation import BERLIN, cron, every

START = datetime(2026, 1, 1, tzinfo=BERLIN)
END = datetime(2027, 1, 1, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("raw", "runs"),
    [
        (cron("0 * * * *"), 8760),
        (cron("*/15 * * * *"), 4 * 8760),
        (every(900), 4 * 8760),
        (every(7000), 365 * 86400 // 7000),
        # The hour from two to three is there 364 times; its skipped runs are made at three.
        (cron("0,30 2 * * *"), 2 * 365 - 1),
        (cron("0 0 29 2 *"), 0),
        (cron("0 3 * * 0"), 52),
    ],
)
def test_a_year_has_the_exact_number_of_slots(raw: dict[str, Any], runs: int) -> None:
    planner = Planner(lambda: BERLIN)
    now = START.timestamp() - 1
    planner.take([parse(raw)], {}, now)
    slots: list[float] = []
    while (wake := planner.next_wake()) is not None and wake < END.timestamp():
        due = planner.due(wake)
        assert [one.verdict for one in due] == [Verdict.RUN]
        slots += [one.slot for one in due]
    assert len(slots) == len(set(slots))
    assert slots == sorted(slots)
    assert len(slots) == runs


def test_years_away_it_does_not_count_for_ever() -> None:
    planner = Planner(lambda: BERLIN)
    now = START.timestamp()
    planner.take([parse(cron("* * * * *"))], {}, now)
    late = now + timedelta(days=400).total_seconds()
    [due] = planner.due(late)
    assert late - due.slot < 60
    assert planner.due(late) == []
