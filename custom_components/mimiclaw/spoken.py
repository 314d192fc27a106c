"""What the fast path says: outcomes as short sentences in the listener's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .satellite.model import Code, Outcome

if TYPE_CHECKING:
    from .fast_path.command import Command
    from .satellite.registry import Satellites


class Spoken:
    """Puts outcomes into words."""

    def __init__(self, satellites: Satellites) -> None:
        """Take the satellites, whose channels are named."""
        self._satellites = satellites

    def load(self, languages: Iterable[str]) -> None:
        """Read the sentences of the languages. Blocking."""

    def left_alone(self, language: str) -> str:
        """Return the answer to a no."""
        return "All right, I leave it."

    def reply(
        self, language: str, action: str, done: Sequence[tuple[Command, Outcome]]
    ) -> str:
        """Return what became of the commands."""
        return " ".join(self._one(command, outcome) for command, outcome in done)

    def _one(self, command: Command, outcome: Outcome) -> str:
        channel = self._satellites.channel(command.channel or "")
        name = channel.name if channel else "?"
        if outcome.code is Code.CONFIRM:
            return f"Shall I switch {name}?"
        if not outcome.ok:
            return f"{name}: {outcome.code}"
        if outcome.value is not None:
            return f"{name}: {outcome.value:g}"
        return f"{name} is {'on' if outcome.state else 'off'}."
