"""Files that cannot be used as they are; they are left alone and named to the owner."""

from __future__ import annotations

from dataclasses import dataclass
import json
from typing import TYPE_CHECKING

from .errors import NotFound, WorkspaceError
from .names import text_of
from .paths import CRON, SESSIONS

if TYPE_CHECKING:
    from .sessions import Sessions
    from .tree import Tree


@dataclass(frozen=True, slots=True)
class Problem:
    """One file that was skipped.

    kind: not_text, too_large, not_a_file, link, broken_lines, broken_json, no_title,
    broken_front_matter, empty, duplicate, unreadable. detail: one sentence.
    """

    path: str
    kind: str
    detail: str


def broken_records(tree: Tree, sessions: Sessions) -> list[Problem]:
    """Return what is wrong with conversations and the schedule, and with files that must be files."""
    found: list[Problem] = []
    for name in (
        "config/SOUL.md",
        "config/USER.md",
        "memory/MEMORY.md",
        "HEARTBEAT.md",
        "cron.json",
    ):
        parts = tuple(name.split("/"))
        if tree.is_folder(parts):
            found.append(
                Problem(
                    text_of(parts),
                    "not_a_file",
                    f"{text_of(parts)} is a folder; it must be a file.",
                )
            )
    try:
        json.loads(tree.read(("cron.json",), 16 * 1024 * 1024)[0])
    except NotFound:
        pass
    except WorkspaceError, ValueError, RecursionError:
        if not tree.is_folder(("cron.json",)):
            found.append(
                Problem(
                    CRON,
                    "broken_json",
                    f"{CRON} is not JSON; no job in it can run until it is.",
                )
            )
    try:
        items = tree.items(("sessions",))
    except WorkspaceError:
        return found
    for item in items:
        path = f"{SESSIONS}/{item.name}"
        if item.is_dir and item.name.endswith(".jsonl"):
            found.append(
                Problem(path, "not_a_file", f"{path} is a folder; it must be a file.")
            )
        elif item.is_file and item.name.endswith(".jsonl"):
            broken = sessions.broken_lines(("sessions", item.name))
            if broken:
                found.append(
                    Problem(
                        path,
                        "broken_lines",
                        f"{path} has {broken} lines that are no messages; they are skipped.",
                    )
                )
    return found
