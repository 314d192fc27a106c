"""How full the tree is, known without counting it at every write."""

from __future__ import annotations

import os
import threading
import time

from .errors import TreeFull
from .paths import Limits
from .tree import Tree

_SKIPPED = frozenset({"sessions"})
# The owner adds and removes files too; count anew this often.
_FRESH_S = 600.0


class Census:
    """Files and bytes of the tree without sessions and hidden folders."""

    def __init__(self, tree: Tree, limits: Limits) -> None:
        self._tree = tree
        self._limits = limits
        self._lock = threading.Lock()
        self._counted_at = -_FRESH_S
        self._files = 0
        self._bytes = 0

    def check(self, new_files: int, new_bytes: int) -> None:
        """Refuse a write that the tree has no room for. Raises TreeFull."""
        with self._lock:
            if time.monotonic() - self._counted_at > _FRESH_S:
                self._count()
            if self._over(new_files, new_bytes):
                # What was counted may be gone by now.
                self._count()
            if not self._over(new_files, new_bytes):
                return
            limits = self._limits
            if self._files + new_files > limits.files:
                raise TreeFull(
                    f"The workspace holds {self._files} files, its limit is {limits.files}; "
                    "add to an existing file, or ask the owner to remove some."
                )
            raise TreeFull(
                f"The workspace holds {self._bytes // 1024} KB, its limit is {limits.tree_bytes // 1024} KB; "
                "shorten a file, or ask the owner to remove some."
            )

    def add(self, files: int, size: int) -> None:
        """Note a write of our own."""
        with self._lock:
            self._files += files
            self._bytes += size

    def _over(self, new_files: int, new_bytes: int) -> bool:
        over_files = new_files > 0 and self._files + new_files > self._limits.files
        return over_files or (
            new_bytes > 0 and self._bytes + new_bytes > self._limits.tree_bytes
        )

    def _count(self) -> None:
        files = 0
        size = 0
        stack = [os.fspath(self._tree.root)]
        while stack:
            folder = stack.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _SKIPPED:
                            stack.append(entry.path)
                    else:
                        files += 1
                        size += entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue
        self._files = files
        self._bytes = size
        self._counted_at = time.monotonic()
