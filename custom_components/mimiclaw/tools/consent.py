"""What a person's yes allows: one thing, said in full, and nothing beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
import json
from typing import Any, Final, Literal

#: What of a planned job the yes was given to; its name and message are words only.
_PLAN: Final = (
    "schedule_type",
    "interval_s",
    "at",
    "at_epoch",
    "expr",
    "timezone",
    "state",
    "duration_s",
)


@dataclass(frozen=True, slots=True)
class Consent:
    """One thing that a tool asks the person about.

    kind: what would be done: a channel driven now, one planned, a skill kept. key: the
    channel's key, or the skill's path. detail: all that the yes must not be stretched
    beyond: state and time, the plan, the text. order and duration_s are those of a
    channel that would be driven now, for the question.
    """

    kind: Literal["gpio", "cron", "skill"]
    key: str
    detail: str = ""
    order: str = ""
    duration_s: float | None = None


def drive(key: str, order: str, duration_s: float | None) -> Consent:
    """Return the consent to drive a channel now."""
    return Consent("gpio", key, order=order, duration_s=duration_s)


def plan(key: str, arguments: Mapping[str, Any]) -> Consent:
    """Return the consent to plan a channel's command."""
    asked = {name: arguments[name] for name in _PLAN if arguments.get(name) is not None}
    return Consent("cron", key, json.dumps(asked, sort_keys=True, default=str))


def keep(path: str, text: str) -> Consent:
    """Return the consent to keep a text as a skill."""
    return Consent("skill", path, sha256(text.encode("utf-8", "replace")).hexdigest())
