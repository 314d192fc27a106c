"""Times: expressions over daylight saving, local times, sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from custom_components.mimiclaw.schedule.errors import BadJob
from custom_components.mimiclaw.schedule.job import parse
from custom_components.mimiclaw.schedule.times import (
    check_expression,
    in_words,
    next_by_expression,
    parse_local,
    said,
)

BERLIN = ZoneInfo("Europe/Berlin")
SYDNEY = ZoneInfo("Australia/Sydney")
SPRING = datetime(2026, 3, 28, 12, tzinfo=BERLIN)
AUTUMN = datetime(2026, 10, 24, 12, tzinfo=BERLIN)


def run_times(expression: str, start: datetime, hours: int) -> list[str]:
    found: list[str] = []
    after = start.timestamp()
    end = after + hours * 3600
    while (slot := next_by_expression(expression, after, start.tzinfo)) is not None:  # type: ignore[arg-type]
        if slot > end:
            break
        found.append(datetime.fromtimestamp(slot, start.tzinfo).strftime("%d %H:%M %Z"))
        assert slot > after
        after = slot
    return found


def test_a_time_in_the_skipped_hour_runs_once_right_after_it() -> None:
    assert run_times("30 2 * * *", SPRING, 36) == ["29 03:00 CEST"]


def test_a_time_in_the_repeated_hour_runs_once() -> None:
    assert run_times("30 2 * * *", AUTUMN, 36) == ["25 02:30 CEST"]


def test_from_within_the_repeated_hour_it_does_not_run_again() -> None:
    first = datetime(2026, 10, 25, 2, 45, tzinfo=BERLIN)
    second = datetime(2026, 10, 25, 2, 10, tzinfo=BERLIN, fold=1)
    assert run_times("30 2 * * *", first, 24) == []
    assert run_times("30 2 * * *", second, 20) == []


def test_every_half_hour_is_every_real_half_hour() -> None:
    spring = run_times("*/30 * * * *", datetime(2026, 3, 29, 0, 59, tzinfo=BERLIN), 3)
    assert spring == [
        "29 01:00 CET",
        "29 01:30 CET",
        "29 03:00 CEST",
        "29 03:30 CEST",
        "29 04:00 CEST",
        "29 04:30 CEST",
    ]
    autumn = run_times("*/30 * * * *", datetime(2026, 10, 25, 1, 59, tzinfo=BERLIN), 2)
    assert autumn == ["25 02:00 CEST", "25 02:30 CEST", "25 02:00 CET", "25 02:30 CET"]


@pytest.mark.parametrize("zone", [BERLIN, SYDNEY, ZoneInfo("America/New_York"), UTC])
def test_a_day_has_one_morning_all_year(zone: ZoneInfo) -> None:
    start = datetime(2026, 1, 1, tzinfo=zone)
    for expression in ("30 2 * * *", "0 7 * * *", "15 0 * * *"):
        found = run_times(expression, start - timedelta(minutes=1), 365 * 24)
        assert len(found) == 365
        assert (
            len({one[:2] + str(number // 28) for number, one in enumerate(found)}) > 300
        )


@pytest.mark.parametrize(
    "expression",
    ["", "nonsense", "61 * * * *", "* * * *", "0 0 31 2 *", "* * * * * *", "@daily x"],
)
def test_what_is_no_expression_is_refused_in_a_sentence(expression: str) -> None:
    with pytest.raises(BadJob, match=r".+"):
        check_expression(expression, 5)


def test_a_clock_time_is_its_next_moment() -> None:
    now = datetime(2026, 12, 1, 18, 0, tzinfo=BERLIN)
    assert parse_local("19:00", now) == datetime(2026, 12, 1, 19, 0, tzinfo=BERLIN)
    assert parse_local("17:30", now) == datetime(2026, 12, 2, 17, 30, tzinfo=BERLIN)
    assert parse_local("2026-12-24T18:00", now) == datetime(
        2026, 12, 24, 18, tzinfo=BERLIN
    )
    assert parse_local("2026-12-24T18:00Z", now) == datetime(
        2026, 12, 24, 18, tzinfo=UTC
    )


def test_a_clock_time_in_the_skipped_hour_is_the_first_after_it() -> None:
    now = datetime(2026, 3, 28, 18, tzinfo=BERLIN)
    found = parse_local("2026-03-29T02:30", now)
    assert (found.hour, found.minute, found.tzname()) == (3, 30, "CEST")


@pytest.mark.parametrize("text", ["soon", "25:00", "2026-13-01", ""])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadJob):
        parse_local(text, datetime(2026, 12, 1, tzinfo=BERLIN))


def test_times_are_said_back_with_their_zone() -> None:
    when = datetime(2026, 12, 1, 19, 0, tzinfo=BERLIN)
    assert said(when.timestamp(), BERLIN) == "Tuesday, 2026-12-01 19:00 CET"
    assert in_words(2 * 86400 + 3 * 3600 + 59) == "2 d 3 h"
    assert in_words(0.2) == "0 s"


def test_the_originals_record_is_read_as_it_is() -> None:
    job = parse(
        {
            "id": "1a2b3c4d",
            "name": "water",
            "enabled": True,
            "kind": "every",
            "interval_s": 3600,
            "message": "Check the plants",
            "channel": "telegram",
            "chat_id": "123456",
            "last_run": 1700000000,
            "next_run": 1700003600,
            "delete_after_run": False,
        }
    )
    assert (job.kind, job.interval_s, job.channel, job.chat_id) == (
        "every",
        3600,
        "telegram",
        "123456",
    )
    assert job.missed == "run_once"


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ({"kind": "every", "interval_s": 1, "message": "m"}, "at least"),
        ({"kind": "every", "interval_s": "soon", "message": "m"}, "number"),
        ({"kind": "every", "interval_s": float("nan"), "message": "m"}, "number"),
        ({"kind": "at", "message": "m"}, "at_epoch"),
        ({"kind": "daily", "message": "m"}, "every, at or cron"),
        ({"kind": "cron", "expr": "0 7 * * *"}, "message"),
        (
            {"kind": "cron", "expr": "0 7 * * *", "message": "m", "tz": "Mars/Base"},
            "zone",
        ),
        (
            {"kind": "cron", "expr": "0 7 * * *", "message": "m", "missed": "maybe"},
            "missed",
        ),
        (
            {"kind": "at", "at_epoch": 1, "action": {"relay": "pump", "state": "up"}},
            "state",
        ),
        ({"kind": "at", "at_epoch": 1, "action": {"state": "on"}}, "relay"),
    ],
)
def test_a_bad_record_says_what_is_wrong(raw: dict[str, object], word: str) -> None:
    with pytest.raises(BadJob, match=word):
        parse(raw)
