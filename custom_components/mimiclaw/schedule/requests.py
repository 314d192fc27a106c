"""From what was asked for to a job: one way for the tool and for the action."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from .errors import BadJob
from .job import Job, parse
from .times import parse_local, zone

#: What a request may say, beside where its answer goes: that comes from code.
FIELDS = (
    "name",
    "schedule_type",
    "interval_s",
    "at",
    "at_epoch",
    "expr",
    "timezone",
    "message",
    "relay",
    "state",
    "duration_s",
    "missed",
    "grace_s",
)


def job_from(
    asked: Mapping[str, Any],
    now: datetime,
    *,
    channel: str,
    chat_id: str,
    person: str | None,
    language: str,
) -> Job:
    """Return the job, without an id. Raises BadJob with a sentence."""
    tz_name = str(asked.get("timezone") or "")
    tz: tzinfo | None = zone(tz_name) if tz_name else now.tzinfo
    raw: dict[str, Any] = {
        "name": asked.get("name"),
        "message": asked.get("message"),
        "channel": channel,
        "chat_id": chat_id,
        "person": person,
        "language": language,
        "tz": tz_name,
        "missed": asked.get("missed"),
        "grace_s": asked.get("grace_s"),
    }
    raw |= _when(asked, now.astimezone(tz))
    if relay := asked.get("relay"):
        raw["action"] = {
            "relay": relay,
            "state": asked.get("state") or "on",
            "duration_s": asked.get("duration_s"),
        }
    return parse(raw)


def _when(asked: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the fields of the time. Raises BadJob."""
    kind = str(asked.get("schedule_type") or "")
    if not kind:
        given = [
            name for name in ("expr", "at", "at_epoch", "interval_s") if asked.get(name)
        ]
        if len(given) != 1:
            raise BadJob("Say when: one of interval_s, at or expr.")
        kind = {"expr": "cron", "interval_s": "every"}.get(given[0], "at")
    if kind == "cron":
        return {"kind": kind, "expr": asked.get("expr")}
    if kind == "every":
        return {"kind": kind, "interval_s": asked.get("interval_s")}
    if kind != "at":
        raise BadJob("schedule_type must be every, at or cron.")
    if text := asked.get("at"):
        epoch = parse_local(str(text), now).timestamp()
    else:
        epoch = float(asked.get("at_epoch") or 0)
    if 0 < epoch <= now.timestamp():
        raise BadJob(
            f"That time is over: it is {now:%Y-%m-%d %H:%M} {now.tzname()} now."
        )
    return {"kind": kind, "at_epoch": epoch}
