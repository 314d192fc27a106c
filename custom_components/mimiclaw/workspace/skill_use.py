"""When each skill was last used, so that those in use stand first in the prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
import json
import threading
from typing import TYPE_CHECKING, Any

from .errors import WorkspaceError
from .names import Parts
from .paths import INDEX_DIR
from .tree import Tree

if TYPE_CHECKING:
    from .skills import Skill

_PLACE: Parts = (INDEX_DIR, "skill-use.json")
# Two dates a skill; far more skills than any household has.
_KEPT_BYTES = 256 * 1024
_ENTRIES = 500


@dataclass(frozen=True, slots=True)
class Use:
    """The last day of use, and the last day of use before that one."""

    last: date
    before: date | None = None

    def until(self, today: date) -> date | None:
        """Return the last day of use before today.

        What is used today moves in the list tomorrow: within a day the prompt must stay
        the same to the byte, or the provider's cache is lost.
        """
        return self.last if self.last < today else self.before


class SkillUse:
    """Days of use, by path. A lost or broken record costs the order alone."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lock = threading.Lock()
        self._uses: dict[str, Use] | None = None

    def used(self, path: str, day: date) -> None:
        """Note that a skill was used; writes at its first use of a day."""
        with self._lock:
            uses = self._load()
            known = uses.get(path)
            if known is not None and known.last == day:
                return
            uses[path] = Use(day, known.last if known else None)
            newest = sorted(uses.items(), key=lambda item: item[1].last, reverse=True)
            self._uses = dict(newest[:_ENTRIES])
            text = json.dumps(
                {
                    name: [str(one) for one in (use.last, use.before) if one]
                    for name, use in self._uses.items()
                },
                ensure_ascii=False,
            )
            try:
                self._tree.write(_PLACE, text.encode())
            except WorkspaceError:
                # Only the order of a list is at stake.
                return

    def last(self, path: str, today: date) -> date | None:
        """Return the last day of use before today, None when there is none."""
        with self._lock:
            use = self._load().get(path)
        return None if use is None else use.until(today)

    def newest_first(self, skills: Iterable[Skill], today: date) -> list[Skill]:
        """Return skills by their last use before today; those without keep their order."""
        never = date.min.toordinal()

        def age(skill: Skill) -> int:
            day = self.last(skill.path, today)
            return never if day is None else -day.toordinal()

        return sorted(skills, key=age)

    def _load(self) -> dict[str, Use]:
        if self._uses is None:
            try:
                raw = json.loads(self._tree.read(_PLACE, _KEPT_BYTES)[0])
            except WorkspaceError, ValueError, RecursionError:
                raw = {}
            self._uses = _parse(raw)
        return self._uses


def _parse(raw: Any) -> dict[str, Use]:
    found: dict[str, Use] = {}
    if not isinstance(raw, dict):
        return found
    for path, days in raw.items():
        try:
            last, *before = [date.fromisoformat(day) for day in days]
        except TypeError, ValueError:
            continue
        found[str(path)] = Use(last, before[0] if before else None)
    return found
