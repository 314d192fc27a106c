"""The trash: what a text was before it was replaced. Only kept and pruned, never searched."""

from __future__ import annotations

from datetime import datetime, timedelta

from .access import owner_of
from .errors import WorkspaceError
from .names import Parts, text_of
from .paths import TRASH_DIR, Limits
from .tree import Tree


class Trash:
    """Previous texts under /.trash; private ones below their person's folder there."""

    def __init__(self, tree: Tree, limits: Limits) -> None:
        self._tree = tree
        self._limits = limits

    def keep(self, parts: Parts, data: bytes, now: datetime) -> str:
        """Keep ``data`` as the previous text of a path; return where. Raises WorkspaceError."""
        owner = owner_of(parts)
        folder: Parts = (TRASH_DIR,) if owner is None else (TRASH_DIR, "users", owner)
        rest = parts if owner is None else parts[3:]
        stem = f"{now:%Y%m%d-%H%M%S}_{'_'.join(rest)[-120:]}"
        place = (*folder, stem)
        count = 1
        while self._tree.stamp(place) is not None:
            count += 1
            place = (*folder, f"{now:%Y%m%d-%H%M%S}-{count}_{stem.split('_', 1)[1]}")
        self._tree.write(place, data)
        self.prune(folder, now)
        return text_of(place)

    def prune(self, folder: Parts, now: datetime) -> None:
        """Remove what is older than the limit, and the oldest of what is too much."""
        try:
            items = [item for item in self._tree.items(folder) if item.is_file]
        except WorkspaceError:
            return
        items.sort(key=lambda item: item.stamp.mtime_ns, reverse=True)
        oldest = (now - timedelta(days=self._limits.trash_days)).timestamp() * 1e9
        total = 0
        for place, item in enumerate(items):
            total += item.stamp.size
            too_much = total > self._limits.trash_bytes and place > 0
            if item.stamp.mtime_ns < oldest or too_much:
                self._tree.remove((*folder, item.name))
