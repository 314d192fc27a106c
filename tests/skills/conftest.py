"""A workspace, with or without the shipped library, and a clock that tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from custom_components.mimiclaw.tools import files, notes, search, skills, time
from custom_components.mimiclaw.tools.base import Tool, ToolContext
from custom_components.mimiclaw.tools.consent import Consent
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD, Speaker
from custom_components.mimiclaw.workspace.workspace import Workspace

LIBRARY = Path(__file__).parents[2] / "skills"
NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@dataclass
class Desk:
    """A workspace as its owner has it on the disk."""

    root: Path
    now: datetime = NOON

    def __post_init__(self) -> None:
        self.space = Workspace(self.root, clock=lambda: self.now)

    def put(self, path: str, content: str | bytes) -> Path:
        """Write as the owner's editor does: past everything of ours."""
        real = self.root / path.strip("/")
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(content if isinstance(content, bytes) else content.encode())
        return real

    def text(self, path: str) -> str:
        return (self.root / path.strip("/")).read_text(encoding="utf-8")

    def titles(self) -> list[str]:
        return [one.title for one in self.space.skills.catalogue().skills]

    def tools(self) -> tuple[Tool, ...]:
        """The tools that need no satellite."""
        base = (*files.tools(), *search.tools(), *notes.tools(), *time.tools())
        return (*base, *skills.tools(self.space, base))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A workspace without any skill."""
    made = Desk(tmp_path / "mimiclaw")
    made.space.seed()
    yield made
    made.space.close()


@pytest.fixture
def context_of(desk: Desk) -> Callable[..., ToolContext]:
    """Make the context of a turn."""

    def make(
        speaker: Speaker = HOUSEHOLD,
        confirmed: frozenset[Consent] = frozenset(),
        *,
        system_turn: bool = False,
    ) -> ToolContext:
        return ToolContext(
            view=desk.space.view(speaker),
            speaker=speaker,
            channel="assist",
            conversation_id="c1",
            language="en",
            now=lambda: desk.now,
            confirmed=confirmed,
            system_turn=system_turn,
        )

    return make
