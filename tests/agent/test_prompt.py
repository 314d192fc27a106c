"""The system prompt: order, caps, cuts, and nothing that changes by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from custom_components.mimiclaw.agent.profile import FRONTIER
from custom_components.mimiclaw.agent.prompt import Prompt
from custom_components.mimiclaw.agent.rules import RULES
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD, Speaker
from custom_components.mimiclaw.workspace.workspace import Workspace

ANNA = Speaker("anna", "Anna")


def put(workspace: Workspace, path: str, text: str) -> None:
    file = Path(workspace.root) / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def whole(workspace: Workspace, speaker: Speaker = HOUSEHOLD, extra: str = "") -> str:
    parts = Prompt(workspace, FRONTIER).assemble(workspace.view(speaker), "en", extra)
    return "\n\n".join(part.text for part in parts)


def test_rules_fit_their_share() -> None:
    assert len(RULES.encode()) <= FRONTIER.caps.static


def test_order_of_the_layers(workspace: Workspace) -> None:
    put(workspace, "/config/SOUL.md", "# Soul\nsoul-mark\n")
    put(workspace, "/config/USER.md", "# User\nuser-mark\n")
    put(workspace, "/memory/MEMORY.md", "# Memory\nhouse-mark\n")
    put(workspace, "/memory/users/anna/MEMORY.md", "# Anna\nanna-mark\n")
    put(workspace, "/memory/2026-12-01.md", "# Notes\nnote-mark\n")
    put(workspace, "/skills/tea.md", "# Tea\n\nskill-mark\n")
    text = whole(workspace, ANNA, "extra-mark")
    marks = ["You are MimiClaw", "soul", "user", "house", "anna", "note", "skill"]
    places = [text.index(m if " " in m else f"{m}-mark") for m in marks]
    assert places == sorted(places)
    assert text.endswith("extra-mark")


def test_household_sees_nobodys_own_memory(workspace: Workspace) -> None:
    put(workspace, "/memory/users/anna/MEMORY.md", "# Anna\nanna-secret\n")
    assert "anna-secret" not in whole(workspace)
    assert "anna-secret" not in whole(workspace, Speaker("ben", "Ben"))
    assert "anna-secret" in whole(workspace, ANNA)


def test_notes_of_three_days_newest_first(workspace: Workspace) -> None:
    for day in ("2026-11-28", "2026-11-29", "2026-11-30", "2026-12-01"):
        put(workspace, f"/memory/{day}.md", f"# Notes\nof-{day}\n")
    text = whole(workspace)
    assert "of-2026-11-28" not in text
    assert text.index("of-2026-12-01") < text.index("of-2026-11-30")
    assert text.index("of-2026-11-30") < text.index("of-2026-11-29")


@pytest.mark.parametrize("letter", ["a", "水", "👍"])
def test_every_layer_is_capped_on_a_line(workspace: Workspace, letter: str) -> None:
    long = "# Title\n" + f"{letter * 30}\n" * 2000
    for path in (
        "/config/SOUL.md",
        "/config/USER.md",
        "/memory/MEMORY.md",
        "/memory/users/anna/MEMORY.md",
        "/memory/2026-12-01.md",
    ):
        put(workspace, path, long)
    for number in range(60):
        put(workspace, f"/skills/s{number}.md", f"# Skill {number}\n\n{letter * 200}\n")
    text = whole(workspace, ANNA, "extra " * 5000)
    assert len(text.encode()) <= FRONTIER.caps.whole
    sections = text.split("\n\n# ")[-4:]
    for section, cap in zip(
        sections,
        (FRONTIER.caps.personality, FRONTIER.caps.memory, FRONTIER.caps.notes),
        strict=False,
    ):
        assert len(section.encode()) <= cap
    assert "read_file /memory/MEMORY.md" in text
    assert "read_file /memory/users/anna/MEMORY.md" in text
    body = [line for line in text.splitlines() if line.startswith(letter * 5)]
    assert body
    assert set(body) == {letter * 30}


def test_same_files_same_prompt(workspace: Workspace) -> None:
    assert whole(workspace) == whole(workspace)


def test_an_edit_is_seen_at_the_next_turn(workspace: Workspace) -> None:
    put(workspace, "/memory/MEMORY.md", "# Memory\nfirst\n")
    assert "first" in whole(workspace)
    put(workspace, "/memory/MEMORY.md", "# Memory\nother\n")
    assert "other" in whole(workspace)
