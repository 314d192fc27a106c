"""Which skills came from elsewhere. The mark stands outside the file, where no model writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .errors import WorkspaceError
from .names import Parts

if TYPE_CHECKING:
    from .locks import FileLocks
    from .tree import Tree

MARKS: Parts = ("skills", ".imported.json")
_MARKS_BYTES = 256 * 1024


def imported(tree: Tree) -> dict[str, str]:
    """Return path below /skills and origin of each skill that was imported."""
    try:
        raw: Any = json.loads(tree.read(MARKS, _MARKS_BYTES)[0])
    except WorkspaceError, ValueError, RecursionError:
        return {}
    if not isinstance(raw, dict):
        return {}
    return {str(path): str(origin) for path, origin in raw.items()}


def mark(tree: Tree, locks: FileLocks, parts: Parts, origin: str | None) -> None:
    """Note where a skill came from, or that it is the household's own (None).

    Marks of files that are gone are dropped. Raises WorkspaceError.
    """
    with locks.hold(MARKS):
        before = imported(tree)
        after = {
            path: known
            for path, known in before.items()
            if tree.stamp(("skills", *path.split("/"))) is not None
        }
        relative = "/".join(parts[1:])
        if origin is None:
            after.pop(relative, None)
        else:
            after[relative] = origin
        if after != before:
            text = json.dumps(after, ensure_ascii=False, indent=1, sort_keys=True)
            tree.write(MARKS, text.encode() + b"\n")
