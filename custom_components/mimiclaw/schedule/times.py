"""When: cron expressions, local times, and how to say them back."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import cache
import re
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from .errors import BadJob

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


@cache
def zone(name: str) -> tzinfo:
    """Return a time zone by its name; reads a file the first time. Raises BadJob."""
    try:
        return ZoneInfo(name)
    except OSError, ValueError, KeyError:
        raise BadJob(f"'{name}' is not a time zone such as Europe/Berlin.") from None


def check_expression(expression: str, shortest_s: float) -> None:
    """Raise BadJob unless a cron expression is valid and not too frequent."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    try:
        simulated = CronSim(expression, start)
        first = next(simulated)
        second = next(simulated, None)
    except CronSimError as err:
        raise BadJob(
            f"'{expression}' is not a cron expression ({err}); five fields are needed, "
            "such as '30 7 * * 1-5'."
        ) from None
    except StopIteration:
        raise BadJob(f"'{expression}' means a date that never comes.") from None
    if second is not None and (second - first).total_seconds() < shortest_s:
        raise BadJob(f"'{expression}' runs more often than every {shortest_s:g} s.")


def next_by_expression(expression: str, after: float, tz: tzinfo) -> float | None:
    """Return the first time after `after`, in seconds since 1970; None if never.

    Daylight saving as in Debian's cron: a fixed time within the skipped hour runs right
    after it, one within the repeated hour runs once; "every hour" runs every real hour.
    """
    # The seconds of an expression are whole, so a fraction must not hide the next one.
    base = datetime.fromtimestamp(int(after), tz)
    try:
        found = next(CronSim(expression, base))
    except StopIteration:
        return None
    while found.timestamp() <= after:
        # Within the repeated hour the local time alone does not tell before from after.
        base += timedelta(minutes=1)
        try:
            found = next(CronSim(expression, base))
        except StopIteration:
            return None
    return found.timestamp()


def parse_local(text: str, now: datetime) -> datetime:
    """Return the time that a text means, in the zone of `now`.

    "2026-12-24T18:00", with or without zone, or "19:00" for the next time it is so.
    Raises BadJob.
    """
    wanted = text.strip()
    if match := _CLOCK.fullmatch(wanted):
        try:
            clock = time(int(match[1]), int(match[2]), int(match[3] or 0))
        except ValueError:
            raise BadJob(f"'{text}' is not a time of day.") from None
        today = datetime.combine(now.date(), clock, tzinfo=now.tzinfo)
        if today > now:
            return today
        return datetime.combine(
            now.date() + timedelta(days=1), clock, tzinfo=now.tzinfo
        )
    try:
        found = datetime.fromisoformat(wanted)
    except ValueError:
        raise BadJob(
            f"'{text}' is not a time; write it as 2026-12-24T18:00 or 18:00."
        ) from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=now.tzinfo)
        if datetime.fromtimestamp(found.timestamp(), now.tzinfo).replace(
            tzinfo=None
        ) != found.replace(tzinfo=None):
            # The hour that daylight saving leaves out: the first time after it.
            found = datetime.fromtimestamp(found.timestamp(), now.tzinfo)
    return found.astimezone(now.tzinfo)


def said(epoch: float, tz: tzinfo) -> str:
    """Return a time as a person says it, with its zone."""
    when = datetime.fromtimestamp(epoch, tz)
    return f"{when:%A, %Y-%m-%d %H:%M:%S} {when.tzname()}".replace(":00 ", " ", 1)


def in_words(seconds: float) -> str:
    """Return a length of time as "2 d 3 h" with at most two parts."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
