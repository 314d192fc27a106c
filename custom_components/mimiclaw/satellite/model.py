"""What a satellite has and what it answers: plain values, no Home Assistant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

type Command = Literal["on", "off", "toggle", "pulse"]
type Actor = Literal["fast_path", "agent", "automation"]


class ChannelKind(StrEnum):
    """What hangs on a channel."""

    RELAY = "relay"
    OUTPUT = "output"
    INPUT = "input"
    ANALOG = "analog"


#: Kinds that can be written to.
DRIVEN = frozenset({ChannelKind.RELAY, ChannelKind.OUTPUT})


class Code(StrEnum):
    """Why a command was or was not carried out.

    The first block is the firmware's; the last three are ours: the device could not
    be reached, it did not answer in time, or a person has to say yes first.
    """

    OK = "ok"
    UNKNOWN_CHANNEL = "unknown_channel"
    WRONG_KIND = "wrong_kind"
    BAD_DURATION = "bad_duration"
    BAD_STATE = "bad_state"
    ACTOR_DENIED = "actor_denied"
    MIN_ON = "min_on"
    MIN_OFF = "min_off"
    INTERLOCK = "interlock"
    OVER_MAX = "over_max"
    QUEUE_FULL = "queue_full"
    NOT_READY = "not_ready"
    STALLED = "stalled"
    LINK_LOST = "link_lost"
    SHUTTING_DOWN = "shutting_down"
    NOT_MOVED = "not_moved"
    FAILED = "failed"

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel with its policy, as its device describes it.

    `key` is "<subentry id>/<channel id>" and unique over all satellites; `satellite`
    is the subentry id. `names` maps a language code to names; the code "" holds names
    for any language. Times are in milliseconds, 0 for none. A momentary channel
    (`momentary_ms`) is opened by a pulse of its own length. `area` is the name of the
    area the owner gave the entity or its device.
    """

    key: str
    satellite: str
    satellite_name: str
    id: str
    name: str
    kind: ChannelKind
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    momentary_ms: int = 0
    max_on_ms: int = 0
    min_on_ms: int = 0
    min_off_ms: int = 0
    interlock: str = ""
    actors: frozenset[str] = frozenset({"fast_path", "agent", "automation"})
    confirm: bool = False
    safe: bool = False
    restore: bool = False
    unit: str | None = None
    device_class: str | None = None
    pin: int | None = None
    #: The native API's key of the entity that stands for it.
    entity_key: int | None = None
    area: str | None = None

    @property
    def driven(self) -> bool:
        """Tell whether it can be written to."""
        return self.kind in DRIVEN

    @property
    def momentary(self) -> bool:
        """Tell whether it is pushed rather than switched."""
        return self.momentary_ms > 0


@dataclass(frozen=True, slots=True)
class Description:
    """What a device says of itself; times in milliseconds.

    `channels` have neither key nor satellite yet: the device does not know those.
    """

    node: str
    friendly_name: str
    project: str
    version: str
    mac: str
    link_timeout_ms: int
    channels: tuple[Channel, ...]
    #: Without any client the relays stay as they are instead of going safe.
    link_keep: bool = False


@dataclass(frozen=True, slots=True)
class ChannelState:
    """What a channel was last known to be; None for what is not known."""

    state: bool | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a command or a question.

    `channel` and `other` are channel keys. `state` and `value` are what the device
    read back, None where it said nothing. `wait_ms` is how long to wait before it can
    be done, `limit_ms` the limit that was met, `deadline_ms` when it ends by itself.
    """

    ok: bool
    code: Code
    channel: str
    state: bool | None = None
    value: float | None = None
    wait_ms: int = 0
    limit_ms: int = 0
    other: str = ""
    deadline_ms: int = 0


@dataclass(frozen=True, slots=True)
class PolicyEvent:
    """Something the device did or refused by its own policy.

    `channel` and `other` are channel ids, `detail` is a Code or what made everything
    go safe, `ms` the wait or the limit that goes with it. `age_ms` is how long ago it
    happened: while nobody listens, the device keeps its events.
    """

    type: str
    channel: str = ""
    detail: str = ""
    other: str = ""
    actor: str = ""
    ms: int = 0
    age_ms: int = 0


#: What a PolicyEvent's `type` may be.
EVENT_TYPES = (
    "max_on",
    "interlock",
    "refused",
    "fail_safe",
    "link_lost",
    "link_back",
    "stalled",
)
