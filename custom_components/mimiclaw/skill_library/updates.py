"""A shipped skill that its owner changed, when an update brings a new text for it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Final

from ..workspace.errors import NotFound, WorkspaceError
from ..workspace.names import Parts, parse
from ..workspace.seeding import Conflict, settle_skill
from .limits import DIFF_LINES

if TYPE_CHECKING:
    from pathlib import Path

    from ..workspace.workspace import Workspace

#: The new text stands beside the owner's under this ending, which no list of skills reads.
BESIDE: Final = ".new"


def lay_beside(workspace: Workspace, conflicts: Sequence[Conflict]) -> None:
    """Write each new text beside the owner's file; remove those that were settled.

    Blocking. A disk that refuses costs the copy alone: the repair can still be settled.
    """
    wanted = {f"{one.path}{BESIDE}": one.new_text for one in conflicts}
    for parts in _beside(workspace, ("skills",)):
        if "/" + "/".join(parts) not in wanted:
            _remove(workspace, parts)
    for path, text in wanted.items():
        try:
            workspace.tree.write(parse(path, workspace.limits), text.encode())
        except WorkspaceError:
            continue


def _beside(workspace: Workspace, folder: Parts) -> list[Parts]:
    """Return all files that were laid beside others."""
    found: list[Parts] = []
    try:
        items = workspace.tree.items(folder)
    except WorkspaceError:
        return found
    for item in items:
        if item.is_dir and not item.name.startswith("."):
            found += _beside(workspace, (*folder, item.name))
        elif item.name.endswith(f".md{BESIDE}"):
            found.append((*folder, item.name))
    return found


def _remove(workspace: Workspace, parts: Parts) -> None:
    try:
        workspace.tree.remove(parts)
    except WorkspaceError:
        return


def difference(workspace: Workspace, conflict: Conflict) -> str:
    """Return what the update would change in the owner's file, as a unified diff.

    Blocking. At most so many lines; what is left out is counted.
    """
    try:
        mine, _ = workspace.read_raw(conflict.path)
    except WorkspaceError:
        mine = ""
    lines = list(
        unified_diff(
            mine.splitlines(),
            conflict.new_text.splitlines(),
            f"{conflict.path} (yours)",
            f"{conflict.path} (update)",
            n=2,
            lineterm="",
        )
    )
    left = len(lines) - DIFF_LINES
    if left > 0:
        lines = [*lines[:DIFF_LINES], f"… {left} more lines"]
    return "\n".join(lines)


def settle(
    workspace: Workspace, skills_dir: Path, path: str, *, take_new: bool
) -> None:
    """End a conflict: take the update, the owner's text going to the trash, or keep the owner's.

    Blocking. Raises WorkspaceError.
    """
    parts = parse(path, workspace.limits)
    if take_new:
        try:
            data, _ = workspace.tree.read(parts, workspace.limits.document_bytes)
        except NotFound:
            data = b""
        if data.strip():
            workspace.trash.keep(parts, data, workspace.clock())
    settle_skill(workspace.tree, workspace.locks, skills_dir, path, take_new=take_new)
    workspace.changed(parts)
    _remove(workspace, (*parts[:-1], parts[-1] + BESIDE))
