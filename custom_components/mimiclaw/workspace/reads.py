"""Files that every turn reads, kept in memory for as long as they do not change on disk."""

from __future__ import annotations

import os
import threading
import time
from typing import NamedTuple

from .disk import Stamp, stamp_of
from .errors import NotFound, WorkspaceError
from .names import Parts, text_of
from .paths import Limits
from .text import decode, version_of
from .tree import Tree

# Some disks keep times in steps of two seconds; a file that young may have changed twice
# within one stamp and is read again.
_STEP_NS = 2_000_000_000
_KEPT = 256


class PromptRead(NamedTuple):
    """Text and version of a file; the error instead when it cannot be read."""

    text: str
    version: str | None
    error: WorkspaceError | None


class _Kept(NamedTuple):
    stamp: Stamp
    read_ns: int
    read: PromptRead


class PromptReads:
    """A cache of whole files, checked against the disk at every use."""

    def __init__(self, tree: Tree, limits: Limits) -> None:
        self._tree = tree
        self._limits = limits
        self._kept: dict[Parts, _Kept] = {}
        self._real: dict[Parts, str] = {}
        self._lock = threading.Lock()

    def get(self, parts: Parts) -> PromptRead:
        """Return a file's text as it is on disk now; empty when it is missing or broken."""
        kept = self._kept.get(parts)
        if kept is not None:
            try:
                info = os.stat(self._real_path(parts), follow_symlinks=False)  # noqa: PTH116  hot path
            except OSError:
                self.forget(parts)
                return PromptRead("", None, None)
            if (
                stamp_of(info) == kept.stamp
                and kept.read_ns - kept.stamp.mtime_ns > _STEP_NS
            ):
                return kept.read
        return self._load(parts)

    def names(self, folder: Parts) -> list[str]:
        """Return the names in a folder, in order. Raises OSError."""
        return sorted(os.listdir(self._real_path(folder)))  # noqa: PTH208  hot path

    def forget(self, parts: Parts) -> None:
        """Drop a file that was changed."""
        with self._lock:
            self._kept.pop(parts, None)

    def _load(self, parts: Parts) -> PromptRead:
        now = time.time_ns()
        try:
            data, stamp = self._tree.read(parts, self._limits.file_bytes)
            read = PromptRead(decode(data, text_of(parts)), version_of(data), None)
        except NotFound:
            self.forget(parts)
            return PromptRead("", None, None)
        except WorkspaceError as err:
            self.forget(parts)
            return PromptRead("", None, err)
        with self._lock:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[parts] = _Kept(stamp, now, read)
        return read

    def _real_path(self, parts: Parts) -> str:
        path = self._real.get(parts)
        if path is None:
            if len(self._real) >= 4 * _KEPT:
                self._real.clear()
            path = self._real[parts] = os.path.join(self._tree.root, *parts)  # noqa: PTH118  hot path
        return path
