"""One job: when it runs, what it does, where its answer goes.

The record is the original firmware's, with fields of ours beside them; what neither
knows is kept when the file is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
import math
from typing import Any, Literal, cast, get_args

from .errors import BadJob
from .limits import GRACE_MAX_S, GRACE_S, MESSAGE_CHARS, NAME_CHARS, SHORTEST_S
from .times import check_expression, zone

type Kind = Literal["every", "at", "cron"]
type Missed = Literal["run_once", "skip"]
type RelayState = Literal["on", "off", "toggle", "pulse"]

KINDS: tuple[str, ...] = get_args(Kind.__value__)
MISSED: tuple[str, ...] = get_args(Missed.__value__)
RELAY_STATES: tuple[str, ...] = get_args(RelayState.__value__)


@dataclass(frozen=True, slots=True)
class RelayAction:
    """A command to a channel. `channel` is its key or name; `duration_s` in seconds."""

    channel: str
    state: RelayState
    duration_s: float | None = None

    def as_raw(self) -> dict[str, Any]:
        """Return it as the file has it."""
        raw: dict[str, Any] = {"relay": self.channel, "state": self.state}
        return (
            raw if self.duration_s is None else {**raw, "duration_s": self.duration_s}
        )


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands in the file. Times are seconds since 1970, 0 for never.

    `channel` and `chat_id` say where the answer goes, and are the conversation it is
    held in. `person` is who asked for it, None for the household.
    """

    id: str
    name: str
    kind: Kind
    message: str = ""
    enabled: bool = True
    interval_s: float = 0.0
    at_epoch: float = 0.0
    expr: str = ""
    channel: str = ""
    chat_id: str = ""
    last_run: float = 0.0
    next_run: float = 0.0
    delete_after_run: bool = False
    tz: str = ""
    missed: Missed = "run_once"
    grace_s: float | None = None
    action: RelayAction | None = None
    person: str | None = None
    language: str = ""
    failures: int = 0
    paused: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def active(self) -> bool:
        """Tell whether it runs when its time comes."""
        return self.enabled and not self.paused

    @property
    def grace(self) -> float:
        """Return how late it may be made up for, in seconds."""
        return GRACE_S[self.kind] if self.grace_s is None else self.grace_s

    @property
    def signature(self) -> str:
        """Return what changes when the owner changes its times."""
        when = (self.kind, self.interval_s, self.at_epoch, self.expr, self.tz)
        return blake2b(repr(when).encode(), digest_size=6).hexdigest()

    def as_raw(self) -> dict[str, Any]:
        """Return a new record for the file, the original's fields first."""
        raw: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "enabled": self.enabled,
            "kind": self.kind,
        }
        if self.kind == "every":
            raw["interval_s"] = _short(self.interval_s)
        elif self.kind == "at":
            raw["at_epoch"] = _short(self.at_epoch)
        else:
            raw["expr"] = self.expr
        raw |= {
            "message": self.message,
            "channel": self.channel,
            "chat_id": self.chat_id,
            "last_run": _short(self.last_run),
            "next_run": _short(self.next_run),
            "delete_after_run": self.delete_after_run,
            "missed": self.missed,
        }
        ours: dict[str, Any] = {
            "tz": self.tz,
            "person": self.person,
            "language": self.language,
        }
        raw |= {key: value for key, value in ours.items() if value}
        if self.grace_s is not None:
            raw["grace_s"] = _short(self.grace_s)
        if self.action is not None:
            raw["action"] = self.action.as_raw()
        return raw


def _short(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def parse(raw: Mapping[str, Any]) -> Job:
    """Return the job a record describes. Raises BadJob with a sentence."""
    name = _text(raw, "name")[:NAME_CHARS] or _text(raw, "message")[:NAME_CHARS]
    label = name or _text(raw, "id") or "a job without a name"
    kind = _kind(raw, label)
    action = _action(raw.get("action"), label)
    message = _text(raw, "message")
    if not message and action is None:
        raise BadJob(f"'{label}' does not say what to do: it needs a message.")
    if len(message) > MESSAGE_CHARS:
        raise BadJob(f"'{label}' is too long: at most {MESSAGE_CHARS} characters.")
    tz = _text(raw, "tz")
    if tz:
        zone(tz)
    missed = _text(raw, "missed") or ("skip" if action else "run_once")
    if missed not in MISSED:
        raise BadJob(f"'{label}': missed must be run_once or skip.")
    grace = raw.get("grace_s")
    return Job(
        id=_text(raw, "id"),
        name=label,
        kind=kind,
        message=message,
        enabled=_flag(raw, "enabled", default=True),
        interval_s=_number(raw, "interval_s") if kind == "every" else 0.0,
        at_epoch=_number(raw, "at_epoch") if kind == "at" else 0.0,
        expr=_expression(raw) if kind == "cron" else "",
        channel=_text(raw, "channel"),
        chat_id=_text(raw, "chat_id"),
        last_run=_number(raw, "last_run", 0.0),
        next_run=_number(raw, "next_run", 0.0),
        delete_after_run=_flag(raw, "delete_after_run", default=kind == "at"),
        tz=tz,
        missed=cast("Missed", missed),
        grace_s=None
        if grace is None
        else min(max(0.0, _number(raw, "grace_s")), GRACE_MAX_S),
        action=action,
        person=_text(raw, "person") or None,
        language=_text(raw, "language"),
        failures=int(_number(raw, "failures", 0.0)),
        paused=_flag(raw, "paused", default=False),
        raw=raw,
    )


def _kind(raw: Mapping[str, Any], label: str) -> Kind:
    kind = _text(raw, "kind") or _text(raw, "schedule_type")
    if not kind:
        kind = "cron" if raw.get("expr") else "at" if raw.get("at_epoch") else "every"
    if kind not in KINDS:
        raise BadJob(f"'{label}': kind must be every, at or cron, not '{kind}'.")
    if kind == "every" and _number(raw, "interval_s", 0.0) < SHORTEST_S:
        raise BadJob(f"'{label}': interval_s must be at least {SHORTEST_S:g} seconds.")
    if kind == "at" and _number(raw, "at_epoch", 0.0) <= 0:
        raise BadJob(f"'{label}': at_epoch must be a time in seconds since 1970.")
    return cast("Kind", kind)


def _expression(raw: Mapping[str, Any]) -> str:
    expression = " ".join(_text(raw, "expr").split())
    check_expression(expression, SHORTEST_S)
    return expression


def _action(raw: Any, label: str) -> RelayAction | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise BadJob(f"'{label}': action must be an object with relay and state.")
    channel = _text(raw, "relay") or _text(raw, "channel")
    state = (_text(raw, "state") or "on").lower()
    if not channel:
        raise BadJob(f"'{label}': action must name a relay.")
    if state not in RELAY_STATES:
        raise BadJob(f"'{label}': state must be on, off, toggle or pulse.")
    duration = raw.get("duration_s")
    return RelayAction(
        channel,
        cast("RelayState", state),
        None if duration is None else _number(raw, "duration_s"),
    )


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    if value is None or isinstance(value, (dict, list, bool)):
        return ""
    return str(value).strip()


def _number(raw: Mapping[str, Any], key: str, default: float | None = None) -> float:
    value = raw.get(key, default)
    if value is None and default is not None:
        return default
    try:
        number = float(value)
    except TypeError, ValueError:
        raise BadJob(f"{key} must be a number.") from None
    if not math.isfinite(number) or abs(number) > 1e11:
        raise BadJob(f"{key} must be a sensible number.")
    return number


def _flag(raw: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = raw.get(key)
    if value is None:
        return default
    if isinstance(value, str):
        return value.strip().lower() in {"true", "yes", "on", "1"}
    return bool(value)
