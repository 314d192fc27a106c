"""A workspace in a temporary folder, with a clock that tests set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD, Speaker
from custom_components.mimiclaw.workspace.workspace import Notice, View, Workspace

ZONE = ZoneInfo("Europe/Berlin")
ALICE = Speaker("alice", "Alice")
BOB = Speaker("bob", "Bob")


@dataclass
class House:
    """One workspace, its folder, its clock and what its owner was told."""

    root: Path
    now: datetime = datetime(2026, 12, 1, 14, 30, tzinfo=ZONE)
    notices: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.space = Workspace(
            self.root, clock=lambda: self.now, on_notice=self.notices.append
        )

    def view(self, speaker: Speaker = HOUSEHOLD, session: str | None = None) -> View:
        return self.space.view(speaker, session=session)

    def put(self, path: str, content: str | bytes) -> Path:
        """Write as the owner's editor does: past everything of ours."""
        real = self.root / path.strip("/")
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(content if isinstance(content, bytes) else content.encode())
        return real

    def text(self, path: str) -> str:
        return (self.root / path.strip("/")).read_text(encoding="utf-8")

    def text_bytes(self, path: str) -> bytes:
        return (self.root / path.strip("/")).read_bytes()

    def trash(self) -> list[str]:
        folder = self.root / ".trash"
        return [
            file.read_text(encoding="utf-8")
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        ]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "mimiclaw")
    made.space.seed()
    yield made
    made.space.close()
