"""What the fast path answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

type Action = Literal[
    "turn_on", "turn_off", "toggle", "pulse", "query", "all_on", "all_off", "multi"
]


@dataclass(frozen=True, slots=True)
class Command:
    """One action on one channel.

    `channel` is a channel's key, or None for all_on and all_off. `duration_s` is in
    seconds and set for a pulse of stated length alone; a pulse without one takes the
    channel's own.
    """

    action: Action
    channel: str | None
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence understood: one command, or several under the action multi."""

    action: Action
    commands: tuple[Command, ...]
    language: str
