"""The workspace: one folder of plain files, and the doors through which it is used.

All methods are synchronous and safe to call from several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
import threading

from . import names, paths
from .access import is_rules
from .census import Census
from .documents import Documents
from .errors import Changed, NotFound, TooLarge, WorkspaceError
from .folder_index import refresh_index
from .index import SearchIndex
from .locks import FileLocks
from .names import Parts, text_of
from .paths import Limits
from .problems import Problem, broken_records
from .reads import PromptReads
from .seeding import SeedReport, seed
from .sessions import Sessions
from .skills import Skills
from .speaker import Speaker
from .text import decode, encode, version_of
from .trash import Trash
from .tree import Tree
from .view import View as View  # noqa: PLC0414  re-exported: one import for the rooms above
from .watch import Watch


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the owner is told.

    kind: "rules_changed". path: the file. person: who asked, None for the household.
    trash: where the previous text is kept.
    """

    kind: str
    path: str
    person: str | None
    trash: str | None


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of what the prompt takes a memory file uses, in bytes."""

    path: str
    used: int
    limit: int

    @property
    def full(self) -> bool:
        """Say whether the file should be consolidated."""
        return self.used > self.limit


def local_now() -> datetime:
    """Return the time in the zone of the machine."""
    return datetime.now().astimezone()


class Workspace:
    """The tree under ``root`` (made by ``seed``).

    clock: aware time in the household's zone. on_notice: told what the owner should know,
    called in the thread of the write.
    """

    def __init__(
        self,
        root: Path,
        limits: Limits | None = None,
        clock: Callable[[], datetime] = local_now,
        on_notice: Callable[[Notice], None] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.clock = clock
        self.on_notice = on_notice
        self.tree = Tree(Path(root))
        self.locks = FileLocks(Path(root) / paths.LOCK_DIR)
        self.trash = Trash(self.tree, self.limits)
        self.census = Census(self.tree, self.limits)
        self.prompt_reads = PromptReads(self.tree, self.limits)
        self.sessions = Sessions(self)
        self.watch = Watch(self.tree.root)
        self.skills = Skills(self.tree, self.watch)
        self.index = SearchIndex(self.tree, self.limits, self.watch)
        self.documents = Documents(self)
        self._seeding = threading.Lock()

    @property
    def root(self) -> Path:
        """Return the real folder."""
        return self.tree.root

    def seed(self, skills_dir: Path | None = None) -> SeedReport:
        """Make the tree and its first files where missing; bring the shipped skills up to date.

        Never writes over anything the owner made or changed. Cleans up after killed writers.
        """
        with self._seeding:
            return seed(self.tree, self.locks, skills_dir)

    def view(
        self,
        speaker: Speaker,
        *,
        session: str | None = None,
        on_touch: Callable[[str, str], None] | None = None,
        own_only: bool = False,
    ) -> View:
        """Return what one turn uses.

        session: path of the turn's own session file (``Sessions.session_name``).
        on_touch: called with "read" or "write" and the path at each use.
        own_only: a person's turn writes to that person's own files alone.
        """
        return View(
            self, speaker, session=session, on_touch=on_touch, own_only=own_only
        )

    def read_raw(self, path: str) -> tuple[str, str]:
        """Return text and version of any file of the tree, for the rooms of the house.

        Raises WorkspaceError; NotFound when it is missing.
        """
        parts = names.parse(path, self.limits)
        data, _ = self.tree.read(parts, self.limits.document_bytes)
        return decode(data, text_of(parts)), version_of(data)

    def replace(self, path: str, text: str, expected_version: str | None) -> str:
        """Write any file of the tree for the rooms of the house; return its new version.

        expected_version: what ``read_raw`` gave, None when there must be no file yet.
        Raises Changed when the file on disk is another one.
        """
        parts = names.parse(path, self.limits)
        data = encode(text, text_of(parts))
        with self.locks.hold(parts):
            current = self.version(parts)
            if current != expected_version:
                raise Changed(
                    f"{text_of(parts)} changed since it was read; read it again."
                )
            self.put(parts, data)
        return version_of(data)

    def keep_in_trash(self, path: str) -> str | None:
        """Keep a file's present text in the trash; return where, None when there is none.

        Raises WorkspaceError.
        """
        parts = names.parse(path, self.limits)
        try:
            data, _ = self.tree.read(parts, self.limits.document_bytes)
        except NotFound:
            return None
        return self.trash.keep(parts, data, self.clock())

    def version(self, parts: Parts) -> str | None:
        """Return the version of a file, None when there is none. Raises WorkspaceError."""
        try:
            return version_of(self.tree.read(parts, self.limits.document_bytes)[0])
        except NotFound:
            return None

    def put(self, parts: Parts, data: bytes) -> None:
        """Write a file within the limits; the caller holds its lock. Raises WorkspaceError."""
        limit = self.limits.file_bytes
        if len(data) > limit:
            raise TooLarge(
                f"{text_of(parts)} would be {len(data) // 1024} KB, over the limit of {limit // 1024} KB for one file: "
                "nothing was written. Put a part of it into another file."
            )
        old = self.tree.stamp(parts)
        new_bytes = len(data) - (old.size if old else 0)
        self.census.check(0 if old else 1, new_bytes)
        self.tree.write(parts, data)
        self.census.add(0 if old else 1, new_bytes)
        self.changed(parts)

    def changed(self, parts: Parts) -> None:
        """Note that a file was written or removed by us."""
        self.prompt_reads.forget(parts)
        self.index.wrote(parts)

    def tell(self, parts: Parts, person: str | None, trash: str | None) -> None:
        """Tell the owner of a change to the rules."""
        if self.on_notice is not None and is_rules(parts):
            self.on_notice(Notice("rules_changed", text_of(parts), person, trash))

    def build_index(self, stop: threading.Event | None = None) -> int:
        """Index everything that is not yet indexed; for a background thread at start.

        Searches go on meanwhile. Returns how many files are left when ``stop`` was set.
        """
        left = self.index.refresh(stop=stop.is_set if stop else None)
        if not left:
            self.tidy()
        return left

    def tidy(self) -> None:
        """Bring section lists and folder indexes up to date; what a turn needs is, anyway."""
        self.documents.refresh()
        for folder in self.tree.folders():
            if folder:
                with suppress(WorkspaceError):
                    refresh_index(self, folder)

    def problems(self) -> list[Problem]:
        """Return the files that were skipped because they are broken; they are left untouched."""
        self.index.refresh(2.0)
        found = {problem.path: problem for problem in self.skills.catalogue().problems}
        found |= {problem.path: problem for problem in self.index.problems()}
        found |= {
            problem.path: problem
            for problem in broken_records(self.tree, self.sessions)
        }
        return [found[path] for path in sorted(found)]

    def budget(self, speaker: Speaker) -> list[Budget]:
        """Return how full the memory files of a speaker are, the household's first."""
        wanted = [paths.MEMORY]
        if speaker.person is not None:
            wanted.append(paths.user_memory(speaker.person))
        found: list[Budget] = []
        for path in wanted:
            stamp = self.tree.stamp(names.parse(path, self.limits))
            found.append(
                Budget(path, stamp.size if stamp else 0, paths.MEMORY_PROMPT_BYTES)
            )
        return found

    def notes(self, speaker: Speaker) -> list[str]:
        """Return the paths of all daily notes a speaker may see, oldest first."""
        folders: list[Parts] = [("memory",)]
        if speaker.person is not None:
            folders.append(("memory", "users", speaker.person))
        found: list[tuple[str, str]] = []
        for folder in folders:
            try:
                items = self.tree.items(folder)
            except WorkspaceError:
                continue
            found += [
                (item.name, text_of((*folder, item.name)))
                for item in items
                if item.is_file and paths.NOTE_NAME.fullmatch(item.name)
            ]
        return [path for _, path in sorted(found)]

    def close(self) -> None:
        """Give back what the workspace holds open; it opens again when used."""
        self.index.close()
        self.watch.close()
