"""When each skill was last read, so that those in use stand first in the prompt."""

from __future__ import annotations

from datetime import date
import json
import threading

from .errors import WorkspaceError
from .names import Parts
from .paths import INDEX_DIR
from .tree import Tree

_PLACE: Parts = (INDEX_DIR, "skill-use.json")
_KEPT_BYTES = 256 * 1024


class SkillUse:
    """Days of last use, by path. A day is exact enough, and keeps the prompt the same for a day."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lock = threading.Lock()
        self._days: dict[str, str] | None = None

    def used(self, path: str, day: date) -> bool:
        """Note that a skill was read; say whether that changes its place."""
        with self._lock:
            days = self._load()
            if days.get(path) == day.isoformat():
                return False
            days[path] = day.isoformat()
            try:
                self._tree.write(_PLACE, json.dumps(days, ensure_ascii=False).encode())
            except WorkspaceError:
                # Only the order of a list is at stake.
                return True
            return True

    def last(self, path: str) -> str:
        """Return the day of last use as YYYY-MM-DD, "" when never."""
        with self._lock:
            return self._load().get(path, "")

    def _load(self) -> dict[str, str]:
        if self._days is None:
            self._days = {}
            try:
                raw = json.loads(self._tree.read(_PLACE, _KEPT_BYTES)[0])
            except WorkspaceError, ValueError:
                return self._days
            if isinstance(raw, dict):
                self._days = {str(path): str(day) for path, day in raw.items()}
        return self._days
