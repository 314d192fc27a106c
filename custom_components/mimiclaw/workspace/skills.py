"""The catalogue of skills: what each is called, what it is for and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
import os
import re
import threading
from typing import Any

import yaml

from .disk import Stamp, stamp_of
from .errors import NotFound, NotText, TooLarge, WorkspaceError
from .names import Parts, text_of
from .problems import Problem
from .sections import headings
from .seeding import MANIFEST, shipped_versions
from .skill_marks import MARKS, imported
from .skill_use import SkillUse
from .text import decode, lines_of, version_of
from .tree import Tree
from .watch import Watch

_FOLDER_FILE = "SKILL.md"
_SKILL_BYTES = 256 * 1024
_DESCRIPTION_CHARS = 300
_DEPTH = 3
_SHIPPED = "shipped"
_OWNER = "owner"
_PLAIN = re.compile(
    r"([A-Za-z_][\w-]*):[ \t]+([^\s\[\]{}&*!|>'\"%@`#,?:-][^#:\[\]{}]*)$"
)
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "~"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    path: what to read for the whole of it. category: "" at the top. languages: codes it is for,
    empty for all. needs_satellite, needs_tools: left out of a turn that has them not.
    origin: "shipped", "owner", or what its front matter says it came from (an import).
    meta: the whole front matter.
    """

    name: str
    path: str
    title: str
    description: str
    category: str = ""
    languages: tuple[str, ...] = ()
    needs_satellite: bool = False
    needs_tools: tuple[str, ...] = ()
    origin: str = _OWNER
    bytes: int = 0
    meta: dict[str, Any] = field(default_factory=dict, compare=False)

    def applies(
        self,
        *,
        language: str = "",
        satellite: bool = True,
        tools: Iterable[str] | None = None,
    ) -> bool:
        """Say whether the skill makes sense in a turn of this language, with these tools."""
        if (
            self.languages
            and language
            and not any(_same_language(one, language) for one in self.languages)
        ):
            return False
        if self.needs_satellite and not satellite:
            return False
        return tools is None or set(self.needs_tools) <= set(tools)


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


class _Bad(Exception):
    """A file that is no skill: kind and sentence."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


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
                entry.name == _FOLDER_FILE for entry in files
            )
            for entry in files:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if not own_folder and len(folder) < _DEPTH:
                            stack.append((*folder, entry.name))
                    elif (
                        entry.name == _FOLDER_FILE
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
                    origin = _OWNER
                skills.append(replace(one, origin=origin))
        self._files = files
        return Catalogue(tuple(skills), tuple(problems))

    def _read(self, parts: Parts) -> tuple[Skill | Problem, str]:
        """Return what a file holds, and its version."""
        path = text_of(parts)
        try:
            data, _ = self._tree.read(parts, _SKILL_BYTES)
            skill = parse_skill(parts, decode(data, path))
        except TooLarge as err:
            return Problem(path, "too_large", str(err)), ""
        except NotText as err:
            return Problem(path, "not_text", str(err)), ""
        except NotFound as err:
            return Problem(path, "unreadable", str(err)), ""
        except WorkspaceError as err:
            return Problem(path, "link", str(err)), ""
        except _Bad as err:
            return Problem(path, err.kind, str(err)), ""
        return replace(skill, bytes=len(data)), version_of(data)


def check_skill(path: str, text: str) -> Skill:
    """Return the skill a text would be at a path. Raises NotText with what is wrong with it."""
    try:
        return parse_skill(tuple(path.strip("/").split("/")), text)
    except _Bad as err:
        raise NotText(str(err)) from err


def parse_skill(parts: Parts, text: str) -> Skill:
    """Read a skill's front matter, title and first paragraph."""
    path = text_of(parts)
    if not text.strip():
        raise _Bad(
            "empty", f"{path} is empty; begin it with '# Title' and a first paragraph."
        )
    lines = lines_of(text)
    meta, first = _front_matter(lines, path)
    folder = parts[-1] == _FOLDER_FILE
    fallback = parts[-2] if folder else parts[-1].rsplit(".", 1)[0]
    body = [""] * first + lines[first:]
    marks = headings(body)
    name = str(meta.get("name") or fallback).strip()
    title = str(meta.get("title") or "").strip() or (
        marks[0][2] if marks else str(meta.get("name") or "").strip()
    )
    if not title:
        raise _Bad("no_title", f"{path} has no title; begin it with '# Title'.")
    start = marks[0][0] if marks else first
    description = str(meta.get("description") or "").strip() or _first_paragraph(
        body[start:]
    )
    levels = parts[1:-2] if folder else parts[1:-1]
    needs = meta.get("needs", ())
    needs = (
        (needs,)
        if isinstance(needs, str)
        else tuple(needs)
        if isinstance(needs, (list, tuple))
        else ()
    )
    wanted = {str(one).strip().lower() for one in needs}
    return Skill(
        name=name,
        path=path,
        title=title,
        description=" ".join(description.split())[:_DESCRIPTION_CHARS],
        category="/".join(levels),
        languages=_strings(meta.get("languages", meta.get("language"))),
        needs_satellite="satellite" in wanted or meta.get("needs_satellite") is True,
        needs_tools=tuple(
            sorted({*_strings(meta.get("needs_tools")), *(wanted - {"satellite"})})
        ),
        origin=str(meta.get("origin") or meta.get("source") or _OWNER),
        meta=meta,
    )


def _front_matter(lines: list[str], path: str) -> tuple[dict[str, Any], int]:
    """Return the block between the first two '---' lines, and the line after it."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    end = next(
        (
            place
            for place, line in enumerate(lines[1:], start=1)
            if line.strip() in ("---", "...")
        ),
        None,
    )
    if end is None:
        raise _Bad(
            "broken_front_matter",
            f"The front matter of {path} has no closing '---' line.",
        )
    block = lines[1:end]
    simple = _simple(block)
    if simple is not None:
        return simple, end + 1
    try:
        meta = yaml.load("\n".join(block), Loader=_LOADER)  # noqa: S506  a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        place = getattr(err, "problem_mark", None)
        where = f" near its line {place.line + 2}" if place is not None else ""
        raise _Bad(
            "broken_front_matter", f"The front matter of {path} is not YAML{where}."
        ) from err
    if meta is None:
        return {}, end + 1
    if not isinstance(meta, dict):
        raise _Bad(
            "broken_front_matter",
            f"The front matter of {path} is not a list of 'name: value' lines.",
        )
    return {str(key): value for key, value in meta.items()}, end + 1


def _simple(block: list[str]) -> dict[str, Any] | None:
    """Read a block of plain 'name: words' lines without the cost of a YAML parser."""
    found: dict[str, Any] = {}
    for line in block:
        if not line.strip():
            continue
        match = _PLAIN.match(line.rstrip())
        if match is None or match[1] in found:
            return None
        value = match[2].strip()
        if value.casefold() in _WORDS or not any(char.isalpha() for char in value):
            return None
        found[match[1]] = value
    return found


def _first_paragraph(lines: list[str]) -> str:
    """Return the first block of running text; blank lines and headings before it are skipped."""
    block: list[str] = []
    for line in lines:
        plain = line.strip()
        if not plain or plain.startswith(("#", "```", "~~~", "---")):
            if block:
                break
            continue
        block.append(plain.lstrip("> ").strip())
    return " ".join(block)


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)):
        return tuple(str(part).strip() for part in value if str(part).strip())
    return ()


def _is_skill_name(name: str) -> bool:
    return (
        name.endswith(".md")
        and name not in ("README.md", "INDEX.md")
        and not name.endswith(".toc.md")
    )


def _same_language(one: str, other: str) -> bool:
    return (
        one.casefold().replace("_", "-").split("-")[0]
        == other.casefold().replace("_", "-").split("-")[0]
    )
