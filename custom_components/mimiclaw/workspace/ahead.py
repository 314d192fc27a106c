"""Files read before they are asked for, and given out while they are what is on disk."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from .errors import WorkspaceError
from .names import Parts

if TYPE_CHECKING:
    from .disk import Stamp
    from .tree import Tree


class ReadAhead:
    """What one turn has read on suspicion. It never holds back a change."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._kept: dict[Parts, tuple[Stamp, bytes]] = {}

    def keep(self, parts: Parts, limit: int) -> None:
        """Read a file of at most ``limit`` bytes; one that cannot be read is left out."""
        with suppress(WorkspaceError):
            data, stamp = self._tree.read(parts, limit)
            self._kept[parts] = (stamp, data)

    def get(self, parts: Parts) -> bytes | None:
        """Return the bytes of a file that was read ahead and has not changed since."""
        kept = self._kept.get(parts)
        if kept is None or self._tree.stamp(parts) != kept[0]:
            return None
        return kept[1]
