"""Keeps the search index equal to the files, whoever changed them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import threading
import time

from .disk import Stamp, stamp_of
from .errors import NotFound, NotText, PathRefused, TooLarge, WorkspaceError
from .index_db import Damaged, IndexDb, InUse, Range, Row
from .names import Parts, text_of
from .paths import CRON, FOLDER_INDEX, INDEX_DIR, TOC_SUFFIX, Limits
from .problems import Problem
from .queries import match_all, match_any, match_title, within
from .text import decode
from .tokens import is_gram, single_grams, useful, words_of
from .tree import Tree
from .watch import Changes, Feed, Watch

_SUFFIXES = (
    ".md",
    ".markdown",
    ".txt",
    ".text",
    ".rst",
    ".org",
    ".csv",
    ".json",
    ".yaml",
    ".yml",
    ".log",
)
_BATCH = 200
# Where the kernel tells nothing, looking through all files may take this share of the time.
_SCAN_SHARE = 0.05
_SHORT_SCAN_S = 0.01
# Ranking more sections than this takes too long; of very common words the newest are ranked.
_RANKED = 4000
_CANDIDATES = 60
# So many new indexes are begun in a row before the disk is taken for unusable.
_PATIENCE = 3


class SearchIndex:
    """Answers which sections of which files fit some words. Safe for several threads.

    Everything in it can be made again from the files: whatever is wrong with it ends in a new one.
    """

    def __init__(self, tree: Tree, limits: Limits, watch: Watch) -> None:
        self._tree = tree
        self._limits = limits
        self._watch = watch
        self._feed: Feed = watch.subscribe()
        self._db = IndexDb(tree.root / INDEX_DIR)
        self._lock = threading.RLock()
        self._queue: deque[Parts] = deque()
        self._queued: set[Parts] = set()
        self._scanned_at = 0.0
        self._scan_took = 0.0
        self._failures = 0

    def refresh(
        self, budget_s: float | None = None, stop: Callable[[], bool] | None = None
    ) -> int:
        """Bring the index up to date; return how many files are left when the time is over.

        The lock is free between batches, so searches go on meanwhile.
        """
        end = None if budget_s is None else time.monotonic() + budget_s
        done = 0
        with self._lock:
            self._look()
        while True:
            with self._lock:
                if not self._queue:
                    if done > 5 * _BATCH:
                        self._guarded(self._db.optimize)
                    return 0
                done += self._work(_BATCH if end is None or done else 20)
                left = len(self._queue)
            if left and (
                (end is not None and time.monotonic() > end)
                or (stop is not None and stop())
            ):
                return left

    def wrote(self, parts: Parts) -> None:
        """Put a file that the assistant wrote first in the queue."""
        with self._lock:
            self._enqueue(parts)

    def find(
        self,
        question: str,
        person: str | None,
        place: Parts,
        limit: int,
        budget_s: float = 1.0,
    ) -> tuple[list[Row], int]:
        """Return the sections that fit best, with some to spare, and how many files are not indexed yet.

        budget_s: how long what changed may be indexed first. Nobody comes between that and
        the search, so what is found is no older than the call.
        """
        words = useful(words_of(question))
        left = 0
        with self._lock:
            for _ in range(_PATIENCE):
                try:
                    left = self.refresh(budget_s)
                    self._db.open()
                    if self._db.made_anew:
                        # It was deleted meanwhile.
                        continue
                    most = max(limit * 3, _CANDIDATES)
                    rows = self._find(words, person, place, most) if words else []
                except InUse:
                    return [], left
                except Damaged:
                    self._start_anew()
                else:
                    return rows, left
        return [], left

    def stamps(self) -> dict[str, Stamp]:
        """Return all indexed files."""
        with self._lock:
            try:
                self._db.open()
                return self._db.files()
            except Damaged, InUse:
                return {}

    def titles(self, folder: Parts) -> dict[str, str]:
        """Return the titles of the indexed files directly in a folder, by path."""
        with self._lock:
            try:
                self._db.open()
                return self._db.titles(folder)
            except Damaged, InUse:
                return {}

    def problems(self) -> list[Problem]:
        """Return the files that are not searched because they are broken."""
        with self._lock:
            try:
                self._db.open()
                return [Problem(*row) for row in self._db.problems()]
            except Damaged, InUse:
                return []

    def close(self) -> None:
        """Close the index file."""
        with self._lock:
            self._db.close()

    def _find(
        self, words: list[str], person: str | None, place: Parts, limit: int
    ) -> list[Row]:
        ranges = self._db.ranges(person, place)
        folder = place if place and not self._is_file(place) else ()
        ranked: dict[tuple[str, int], Row] = {}

        def add(query: str, bonus: float) -> None:
            for rows in ranges:
                newest = (
                    _RANKED
                    if self._db.count(query, rows, _RANKED + 1) > _RANKED
                    else None
                )
                for row in self._db.find(query, rows, limit, newest):
                    key = (row.path, row.start)
                    old = ranked.get(key)
                    score = row.score + bonus
                    if old is None or old.score < score:
                        ranked[key] = row._replace(score=score)

        add(within(match_all(words), folder), 3.0)
        if len(ranked) < limit:
            rare = self._rare(words, ranges, folder)
            if len(words) > 1 and rare:
                add(within(match_any(rare), folder), 0.0)
        elif len(words) <= 3:
            add(within(match_title(words), folder), 3.0)
        if len(ranked) < 3:
            letters = single_grams(words)
            if letters:
                add(within(match_any(letters), folder), -2.0)
            starts = [
                word[: max(4, len(word) - 2)]
                for word in words
                if not is_gram(word) and len(word) >= 4
            ]
            if starts and not ranked:
                add(within(match_any(starts, prefix=True), folder), -2.0)
        return sorted(ranked.values(), key=lambda row: -row.score)

    def _rare(self, words: list[str], ranges: list[Range], folder: Parts) -> list[str]:
        """Return the words to look for one by one: the rarest, as many as can be ranked."""
        counted: list[tuple[int, str]] = []
        for word in words:
            query = within(match_all([word]), folder)
            number = sum(self._db.count(query, rows, _RANKED) for rows in ranges)
            if number:
                counted.append((number, word))
        counted.sort()
        kept: list[str] = []
        total = 0
        for number, word in counted:
            if kept and total + number > _RANKED:
                break
            kept.append(word)
            total += number
        return kept

    def _is_file(self, place: Parts) -> bool:
        return self._db.knows(text_of(place))

    def _look(self) -> None:
        """Queue what changed."""
        if not self._guarded(self._db.open):
            return
        changes = self._feed.take()
        empty = self._db.made_anew
        self._db.made_anew = False
        if changes.everything or empty:
            now = time.monotonic()
            resting = (
                not empty
                and self._scan_took > _SHORT_SCAN_S
                and (now - self._scanned_at) * _SCAN_SHARE < self._scan_took
            )
            if self._watch.reliable or not resting:
                self._guarded(self._scan)
                self._scan_took = time.monotonic() - now
                self._scanned_at = time.monotonic()
            return
        self._queue_changes(changes)

    def _queue_changes(self, changes: Changes) -> None:
        for parts in changes.files:
            self._enqueue(parts)
        for folder in changes.folders:
            for parts, _ in _walk(self._tree.root, folder):
                self._enqueue(parts)
            try:
                for path in self._db.below(folder):
                    self._enqueue(tuple(path.strip("/").split("/")))
            except Damaged, InUse:
                return

    def _scan(self) -> None:
        """Compare every file with what is indexed."""
        known = self._db.stamps()
        for parts, stamp in _walk(self._tree.root, ()):
            if known.pop(text_of(parts), None) != stamp:
                self._enqueue(parts)
        for path in known:
            self._enqueue(tuple(path.strip("/").split("/")))

    def _enqueue(self, parts: Parts) -> None:
        if parts not in self._queued and is_searched(parts):
            self._queued.add(parts)
            self._queue.append(parts)

    def _work(self, most: int) -> int:
        """Index some of the queue; return how many files."""
        batch = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
        self._queued.difference_update(batch)

        def index() -> None:
            with self._db.transaction():
                for parts in batch:
                    self._index(parts)

        if self._guarded(index):
            self._failures = 0
            return len(batch)
        self._failures += 1
        if self._db.made_anew and self._failures < _PATIENCE:
            return 0
        # Another program holds the index, or the disk refuses; tried again at the next call.
        self._failures = 0
        self._queue.clear()
        self._queued.clear()
        self._feed.pending.everything = True
        return len(batch)

    def _index(self, parts: Parts) -> None:
        """Index one file as it is on disk now."""
        path = text_of(parts)
        limits = self._limits
        limit = limits.document_bytes if parts[0] == "docs" else limits.file_bytes
        stamp = self._tree.stamp(parts) or Stamp(0, 0, 0, 0)
        try:
            data, stamp = self._tree.read(parts, limit)
            self._db.put(parts, decode(data, path), stamp)
        except NotFound:
            self._db.drop(path)
        except TooLarge as err:
            self._db.put_problem(path, "too_large", str(err), stamp)
        except NotText as err:
            kind = "not_text" if stamp.inode else "not_a_file"
            self._db.put_problem(path, kind, str(err), stamp)
        except PathRefused as err:
            self._db.put_problem(path, "link", str(err), stamp)
        except WorkspaceError as err:
            self._db.put_problem(path, "unreadable", str(err), stamp)

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Do something with the index; make it anew when it is damaged. False if it was not done."""
        try:
            action()
        except InUse:
            return False
        except Damaged:
            self._start_anew()
            return False
        return True

    def _start_anew(self) -> None:
        """Throw the index away and queue everything."""
        self._db.remove()
        try:
            self._db.open()
        except Damaged, InUse:
            return
        self._feed.pending.everything = True
        self._queue.clear()
        self._queued.clear()
        for parts, _ in _walk(self._tree.root, ()):
            self._enqueue(parts)


def is_searched(parts: Parts) -> bool:
    """Say whether a file belongs into the index."""
    if (
        not parts
        or any(part.startswith(".") for part in parts)
        or parts[0] == "sessions"
    ):
        return False
    name = parts[-1]
    if name == FOLDER_INDEX or name.endswith(TOC_SUFFIX) or text_of(parts) == CRON:
        return False
    return name.endswith(_SUFFIXES)


def _walk(root: Path, top: Parts) -> Iterator[tuple[Parts, Stamp]]:
    """Give the searched files below a folder; links are given, not followed."""
    stack: list[Parts] = [] if any(part.startswith(".") for part in top) else [top]
    while stack:
        folder = stack.pop()
        with _scandir(os.path.join(root, *folder)) as entries:  # noqa: PTH118
            for entry in entries:
                name = entry.name
                if name.startswith(".") or (not folder and name == "sessions"):
                    continue
                place = (*folder, name)
                try:
                    if entry.is_dir(follow_symlinks=False) and not is_searched(place):
                        stack.append(place)
                    elif is_searched(place):
                        if entry.is_dir(follow_symlinks=False):
                            stack.append(place)
                        yield place, stamp_of(entry.stat(follow_symlinks=False))
                except OSError:
                    continue


@contextmanager
def _scandir(path: str) -> Iterator[list[os.DirEntry[str]]]:
    try:
        with os.scandir(path) as entries:
            yield list(entries)
    except OSError:
        yield []
