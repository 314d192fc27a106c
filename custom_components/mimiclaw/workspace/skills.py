"""The catalogue of skills: what each is called, what it is for and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
import os
import threading

from .disk import Stamp, stamp_of
from .errors import NotFound, NotText, TooLarge, WorkspaceError
from .names import Parts, text_of
from .problems import Problem
from .seeding import MANIFEST, shipped_versions
from .skill_marks import MARKS, imported
from .skill_page import (
    FOLDER_FILE,
    OWNER,
    BadSkill,
    Skill,
    check_skill,
    parse_skill,
)
from .skill_use import SkillUse
from .text import decode, version_of
from .tree import Tree
from .watch import Watch

__all__ = ["Catalogue", "Skill", "Skills", "check_skill", "parse_skill"]

_SKILL_BYTES = 256 * 1024
_DEPTH = 3
_SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All skills that can be used, those read last first, and the files that cannot."""

    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...]

    def get(self, name: str) -> Skill | None:
        """Return a skill by name, title or path."""
        key = name.strip().casefold()
        for skill in self.skills:
            if key in (
                skill.name.casefold(),
                skill.title.casefold(),
                skill.path.casefold(),
            ):
                return skill
        return None


class Skills:
    """Reads skill files when they change, and answers from memory when they do not."""

    def __init__(self, tree: Tree, watch: Watch) -> None:
        self._tree = tree
        self._feed = watch.subscribe()
        self._use = SkillUse(tree)
        self._lock = threading.Lock()
        self._files: dict[Parts, tuple[Stamp, Skill | Problem, str]] = {}
        self._catalogue: Catalogue | None = None
        self._stamps: dict[Parts, Stamp | None] = {}
        self._ordered: tuple[Catalogue, date, Catalogue] | None = None

    def catalogue(self) -> Catalogue:
        """Return the skills as they are on disk now."""
        with self._lock:
            changed = self._feed.take().below("skills")
            if self._catalogue is not None and not changed:
                return self._catalogue
            files = self._look()
            # What was shipped and what was imported may change while the files do not.
            records = {parts: self._tree.stamp(parts) for parts in (MANIFEST, MARKS)}
            stamps = {**files, **records}
            if self._catalogue is None or stamps != self._stamps:
                self._catalogue = self._build(files)
                self._stamps = stamps
            return self._catalogue

    def used(self, path: str, day: date) -> None:
        """Note that a skill was used on a day. Blocking at the first use of a day."""
        self._use.used(path, day)

    def last_use(self, path: str, today: date) -> date | None:
        """Return the last day before today on which a skill was used."""
        return self._use.last(path, today)

    def newest_first(self, today: date) -> Catalogue:
        """Return the catalogue, skills by their last use before today, then by path.

        The same object until a file or the day changes.
        """
        catalogue = self.catalogue()
        known = self._ordered
        if known is not None and known[0] is catalogue and known[1] == today:
            return known[2]
        skills = tuple(self._use.newest_first(catalogue.skills, today))
        ordered = Catalogue(skills, catalogue.problems)
        self._ordered = (catalogue, today, ordered)
        return ordered

    def _look(self) -> dict[Parts, Stamp]:
        """Return the stamp of every file that may be a skill."""
        found: dict[Parts, Stamp] = {}
        stack: list[Parts] = [("skills",)]
        while stack:
            folder = stack.pop()
            try:
                entries = list(os.scandir(os.path.join(self._tree.root, *folder)))  # noqa: PTH118
            except OSError:
                continue
            files = [entry for entry in entries if not entry.name.startswith(".")]
            own_folder = len(folder) > 1 and any(
                entry.name == FOLDER_FILE for entry in files
            )
            for entry in files:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if not own_folder and len(folder) < _DEPTH:
                            stack.append((*folder, entry.name))
                    elif (
                        entry.name == FOLDER_FILE
                        if own_folder
                        else _is_skill_name(entry.name)
                    ):
                        found[(*folder, entry.name)] = stamp_of(
                            entry.stat(follow_symlinks=False)
                        )
                except OSError:
                    continue
        return found

    def _build(self, stamps: dict[Parts, Stamp]) -> Catalogue:
        """Read what is new or changed, and put the catalogue together."""
        shipped = shipped_versions(self._tree)
        foreign = imported(self._tree)
        files: dict[Parts, tuple[Stamp, Skill | Problem, str]] = {}
        skills: list[Skill] = []
        problems: list[Problem] = []
        names: dict[str, str] = {}
        for parts in sorted(stamps):
            known = self._files.get(parts)
            if known is None or known[0] != stamps[parts]:
                known = (stamps[parts], *self._read(parts))
            files[parts] = known
            one = known[1]
            relative = "/".join(parts[1:])
            if isinstance(one, Problem):
                problems.append(one)
            elif one.name.casefold() in names:
                other = names[one.name.casefold()]
                problems.append(
                    Problem(
                        one.path,
                        "duplicate",
                        f"{one.path} has the name {one.name!r} of {other}; rename one of them.",
                    )
                )
            else:
                names[one.name.casefold()] = one.path
                origin = foreign.get(relative, one.origin)
                if shipped.get(relative) == known[2]:
                    origin = _SHIPPED
                elif origin == _SHIPPED:
                    # A file may say of itself where it comes from, not that it is ours.
                    origin = OWNER
                skills.append(
                    one if one.origin == origin else replace(one, origin=origin)
                )
        self._files = files
        return Catalogue(tuple(skills), tuple(problems))

    def _read(self, parts: Parts) -> tuple[Skill | Problem, str]:
        """Return what a file holds, and its version."""
        path = text_of(parts)
        try:
            data, _ = self._tree.read(parts, _SKILL_BYTES)
            skill = parse_skill(parts, decode(data, path), len(data))
        except TooLarge as err:
            return Problem(path, "too_large", str(err)), ""
        except NotText as err:
            return Problem(path, "not_text", str(err)), ""
        except NotFound as err:
            return Problem(path, "unreadable", str(err)), ""
        except WorkspaceError as err:
            return Problem(path, "link", str(err)), ""
        except BadSkill as err:
            return Problem(path, err.kind, str(err)), ""
        return skill, version_of(data)


def _is_skill_name(name: str) -> bool:
    return (
        name.endswith(".md")
        and name not in ("README.md", "INDEX.md")
        and not name.endswith(".toc.md")
    )
