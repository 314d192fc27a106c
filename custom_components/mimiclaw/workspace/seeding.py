"""The first files of a workspace, and shipped skills that follow updates without touching the owner's."""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from . import paths
from .errors import NotFound, Unavailable, WorkspaceError
from .locks import FileLocks
from .names import Parts, text_of
from .text import version_of
from .tree import Tree

MANIFEST: Parts = ("skills", ".shipped.json")
_SKILL_BYTES = 256 * 1024

_SOUL = """# Soul

You are MimiClaw, the assistant of this household: warm, brief and honest.
Say what you did, not what you will do. When you do not know, say so.
"""
_USER = """# The household

Write here who lives here, what they are called, which languages they speak and what they like.
"""
_MEMORY = """# Memory

What lasts about this household stands here, each fact under its heading.
"""
_HEARTBEAT = """# Heartbeat

# Lines below that are neither empty nor a heading nor a ticked box are looked at every half hour.
# Example (remove the first sign): # - [ ] When the cellar is over 70 % humid, tell me.
"""
FIRST_FILES = {
    paths.SOUL: _SOUL,
    paths.USER: _USER,
    paths.MEMORY: _MEMORY,
    paths.HEARTBEAT: _HEARTBEAT,
}


@dataclass(frozen=True, slots=True)
class Conflict:
    """A shipped skill that its owner changed and an update changed too.

    path: the owner's file, kept. new_text: what the update brings.
    """

    path: str
    new_text: str


@dataclass(frozen=True, slots=True)
class SeedReport:
    """What seeding did: paths made, replaced, kept deleted, and in conflict; swept leftovers."""

    created: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    swept: int = 0


def seed(tree: Tree, locks: FileLocks, skills_dir: Path | None) -> SeedReport:
    """Make what is missing. Raises WorkspaceError when the disk refuses."""
    try:
        tree.root.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise Unavailable(
            f"The workspace folder cannot be made ({err.strerror})."
        ) from err
    folders = [*tree.folders(), (paths.TRASH_DIR,)]
    swept = sum(_sweep(tree, folder) for folder in folders)
    created: list[str] = []
    for path, text in FIRST_FILES.items():
        parts = tuple(path.strip("/").split("/"))
        with locks.hold(parts):
            if not _is_there(tree, parts):
                tree.write(parts, text.encode())
                created.append(path)
    for folder in paths.FOLDERS:
        with tree.folder((folder,), create=True):
            pass
    report = SeedReport(created=tuple(created), swept=swept)
    if skills_dir is not None and skills_dir.is_dir():
        report = _seed_skills(tree, locks, skills_dir, report)
    return report


def _seed_skills(
    tree: Tree, locks: FileLocks, source: Path, report: SeedReport
) -> SeedReport:
    """Copy shipped skills by the manifest of what was shipped before."""
    created = list(report.created)
    replaced: list[str] = []
    deleted: list[str] = []
    conflicts: list[Conflict] = []
    with locks.hold(MANIFEST):
        before = _manifest(tree)
        after: dict[str, str] = dict(before)
        for relative, data in _shipped(source):
            parts: Parts = ("skills", *relative.split("/"))
            shipped = version_of(data)
            with locks.hold(parts):
                there = _version(tree, parts)
                if there is None and relative in before:
                    deleted.append(text_of(parts))
                elif there is None:
                    tree.write(parts, data)
                    created.append(text_of(parts))
                elif there != shipped and there == before.get(relative):
                    tree.write(parts, data)
                    replaced.append(text_of(parts))
                elif there != shipped and before.get(relative) != shipped:
                    # Told at every start until it is settled: the manifest stays where it was.
                    conflicts.append(
                        Conflict(text_of(parts), data.decode("utf-8", "replace"))
                    )
                    continue
            after[relative] = shipped
        if after != before:
            tree.write(
                MANIFEST, json.dumps(after, indent=1, sort_keys=True).encode() + b"\n"
            )
    return SeedReport(
        tuple(created), tuple(replaced), tuple(deleted), tuple(conflicts), report.swept
    )


def _shipped(source: Path) -> list[tuple[str, bytes]]:
    """Return relative path and bytes of each shipped file."""
    return [
        (path.relative_to(source).as_posix(), path.read_bytes())
        for path in sorted(source.rglob("*"))
        if path.is_file()
        and not path.name.startswith(".")
        and path.stat().st_size <= _SKILL_BYTES
    ]


def settle_skill(
    tree: Tree, locks: FileLocks, skills_dir: Path, path: str, *, take_new: bool
) -> None:
    """End the conflict over a shipped skill: take what the update brings, or keep the owner's.

    Raises NotFound when the path is no shipped skill.
    """
    for relative, data in _shipped(skills_dir):
        parts: Parts = ("skills", *relative.split("/"))
        if text_of(parts) != path:
            continue
        with locks.hold(MANIFEST), locks.hold(parts):
            if take_new:
                tree.write(parts, data)
            known = _manifest(tree) | {relative: version_of(data)}
            tree.write(
                MANIFEST, json.dumps(known, indent=1, sort_keys=True).encode() + b"\n"
            )
        return
    raise NotFound(f"{path} is not one of the shipped skills.")


def shipped_versions(tree: Tree) -> dict[str, str]:
    """Return path below /skills and version of each shipped skill, as it was shipped."""
    return _manifest(tree)


def _manifest(tree: Tree) -> dict[str, str]:
    try:
        raw: Any = json.loads(tree.read(MANIFEST, _SKILL_BYTES)[0])
    except WorkspaceError, ValueError:
        return {}
    if not isinstance(raw, dict):
        return {}
    return {str(name): str(version) for name, version in raw.items()}


def _version(tree: Tree, parts: Parts) -> str | None:
    """Return the version of a file; a thing that is not a readable file counts as the owner's."""
    try:
        return version_of(tree.read(parts, _SKILL_BYTES)[0])
    except NotFound:
        return None
    except WorkspaceError:
        return ""


def _is_there(tree: Tree, parts: Parts) -> bool:
    return _version(tree, parts) is not None


def _sweep(tree: Tree, folder: Parts) -> int:
    try:
        return tree.sweep(folder)
    except WorkspaceError:
        return 0
