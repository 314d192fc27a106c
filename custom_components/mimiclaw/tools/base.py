"""What a tool is: a name, a schema, and an answer that is always text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..providers.protocol import ToolSpec

if TYPE_CHECKING:
    from ..workspace.speaker import Speaker
    from ..workspace.workspace import View
    from .consent import Consent


class ToolError(Exception):
    """A tool could not do it; the message is one sentence that the model can act on."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool knows of the turn that calls it.

    It comes from code, never from the model: a model cannot name another
    conversation, person or actor.
    """

    view: View
    speaker: Speaker
    channel: str
    conversation_id: str
    language: str
    now: Callable[[], datetime]
    #: A fired job or a heartbeat: such a turn cannot schedule further ones.
    system_turn: bool = False
    #: What the person has just said yes to.
    confirmed: frozenset[Consent] = field(default_factory=frozenset)
    #: What a tool asks the person about: a yes in the next message confirms it. The
    #: model can add to it by calling, never to `confirmed`.
    asked: set[Consent] = field(default_factory=set)


type Handler = Callable[[Mapping[str, Any], ToolContext], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing the model may call.

    `run` gets arguments that were checked against `parameters` and raises ToolError
    or a room's own error; both become a sentence. `aliases` maps argument names that
    the original firmware's skills use to ours.
    """

    spec: ToolSpec
    run: Handler
    #: Calls that only read may run side by side.
    reads_only: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: Another integration's tool checks its arguments itself, by its own schema.
    checked_by_us: bool = True

    @property
    def name(self) -> str:
        """Return the name the model calls it by."""
        return self.spec.name


def schema(
    properties: Mapping[str, Mapping[str, Any]], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a JSON Schema object for a tool's arguments."""
    return {
        "type": "object",
        "properties": {name: dict(rule) for name, rule in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }
