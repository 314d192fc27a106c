"""A workspace, and the context that a tool of a turn gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from custom_components.mimiclaw.tools.base import ToolContext
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD, Speaker
from custom_components.mimiclaw.workspace.workspace import Workspace

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace as it is after the first start."""
    made = Workspace(tmp_path / "mimiclaw", clock=lambda: NOW)
    made.seed()
    yield made
    made.close()


@pytest.fixture
def context_of(workspace: Workspace) -> Callable[..., ToolContext]:
    """Make the context of a turn for a speaker."""

    def make(speaker: Speaker = HOUSEHOLD) -> ToolContext:
        return ToolContext(
            view=workspace.view(speaker),
            speaker=speaker,
            channel="assist",
            conversation_id="c1",
            language="en",
            now=lambda: NOW,
        )

    return make
