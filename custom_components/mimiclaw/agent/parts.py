"""What a turn gives, piece by piece, to whoever listens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..providers.protocol import ToolCall


@dataclass(frozen=True, slots=True)
class RoundStart:
    """The model is asked (again); a new message of the assistant begins."""


@dataclass(frozen=True, slots=True)
class Text:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """The next piece of what the model thinks aloud; shown, never spoken."""

    text: str


@dataclass(frozen=True, slots=True)
class Calling:
    """A tool is about to run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Called:
    """A tool has answered."""

    call: ToolCall
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of ours, by key, to be put into the listener's language.

    The keys stand in strings.json under `exceptions`.
    """

    key: str
    placeholders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Done:
    """The last part: the record of the turn, as the `mimiclaw_turn` event carries it."""

    record: Mapping[str, Any]


type Part = RoundStart | Text | Thinking | Calling | Called | Said | Done
