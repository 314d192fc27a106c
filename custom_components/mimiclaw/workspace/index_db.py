"""The search index on disk: SQLite with FTS5, made anew whenever it is missing or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
from pathlib import Path
import sqlite3
from typing import NamedTuple

from .access import owner_of
from .disk import Stamp
from .names import Parts, text_of
from .queries import mark
from .sections import Section, sections_of, title_of
from .text import lines_of
from .tokens import for_index

_VERSION = 3
# A row of the index is a section of at most this; a hit then names a place, not a book.
_CHUNK_BYTES = 4 * 1024
_WEIGHTS = "8.0, 4.0, 1.0, 0.0"
# Rows of one owner have numbers of their own range; so a search never even looks at another's.
_RANGE = 1 << 40
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL})

_SCHEMA = """
CREATE TABLE files(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
  mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE TABLE owners(slot INTEGER PRIMARY KEY, person TEXT NOT NULL UNIQUE);
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, heading TEXT NOT NULL);
CREATE TABLE problems(path TEXT PRIMARY KEY, kind TEXT NOT NULL, detail TEXT NOT NULL,
  mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL);
"""


class Damaged(Exception):
    """The index file is unusable and has to be made anew."""


class InUse(Exception):
    """Another program holds the index, or the disk is full; what is there can still be read later."""


class Row(NamedTuple):
    """One found section: its file, its lines and how well it fits (more is better)."""

    path: str
    title: str
    start: int
    stop: int
    heading: str
    score: float
    mtime_ns: int
    size: int


class Range(NamedTuple):
    """Row numbers, both ends included."""

    first: int
    last: int


class IndexDb:
    """The tables. Not safe for several threads at once; its owner locks.

    Raises Damaged and InUse.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "search.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self.made_anew = False

    def open(self) -> None:
        """Open the index, or make an empty one (``made_anew``)."""
        if self._connection is not None and self._inode == _inode(self._file):
            return
        self.close()
        with sqlite_errors():
            self._folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._file, check_same_thread=False, isolation_level=None, timeout=2.0
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._inode = _inode(self._file)

    def close(self) -> None:
        """Close the index."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def remove(self) -> None:
        """Close and delete the index, whatever state it is in."""
        self.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            path = self._file.with_name(self._file.name + suffix)
            with suppress(OSError):
                path.unlink()
        if self._file.is_dir():
            with suppress(OSError):
                self._file.rename(self._file.with_name(f"not-ours-{os.getpid()}"))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do several changes at once."""
        with sqlite_errors():
            self.sql.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(sqlite3.Error):
                    self.sql.execute("ROLLBACK")
                raise
            self.sql.execute("COMMIT")

    @property
    def sql(self) -> sqlite3.Connection:
        """Return the open connection."""
        if self._connection is None:
            raise Damaged("the index is closed")
        return self._connection

    def files(self) -> dict[str, Stamp]:
        """Return what is indexed, by path."""
        with sqlite_errors():
            query = "SELECT path, mtime_ns, ctime_ns, size, inode FROM files"
            return {row[0]: Stamp(*row[1:]) for row in self.sql.execute(query)}

    def stamps(self) -> dict[str, Stamp]:
        """Return what is indexed, or known to be unusable, by path."""
        with sqlite_errors():
            rows = self.sql.execute(
                "SELECT path, mtime_ns, ctime_ns, size, inode FROM files"
            ).fetchall()
            rows += self.sql.execute(
                "SELECT path, mtime_ns, ctime_ns, size, inode FROM problems"
            ).fetchall()
            return {row[0]: Stamp(*row[1:]) for row in rows}

    def knows(self, path: str) -> bool:
        """Say whether a path is an indexed file."""
        with sqlite_errors():
            return (
                self.sql.execute("SELECT 1 FROM files WHERE path=?", (path,)).fetchone()
                is not None
            )

    def below(self, folder: Parts) -> list[str]:
        """Return the indexed paths under a folder."""
        start = text_of(folder).rstrip("/") + "/"
        with sqlite_errors():
            query = "SELECT path FROM files WHERE path >= ?1 AND path < ?2 UNION SELECT path FROM problems WHERE path >= ?1 AND path < ?2"
            return [
                row[0] for row in self.sql.execute(query, (start, start[:-1] + "0"))
            ]

    def titles(self, folder: Parts) -> dict[str, str]:
        """Return the titles of the files directly in a folder, by path."""
        start = text_of(folder).rstrip("/") + "/"
        with sqlite_errors():
            query = "SELECT path, title FROM files WHERE path >= ?1 AND path < ?2 AND instr(substr(path, ?3), '/') = 0"
            return dict(
                self.sql.execute(
                    query, (start, start[:-1] + "0", len(start) + 1)
                ).fetchall()
            )

    def put(self, parts: Parts, text: str, stamp: Stamp) -> None:
        """Index a file in place of what was indexed of it."""
        path = text_of(parts)
        self.drop(path)
        title = title_of(text, parts[-1])
        scope = " ".join(
            mark(text_of(parts[:length])) for length in range(1, len(parts))
        )
        name = for_index(_spoken(parts, title))
        lines = lines_of(text)
        sql = self.sql
        low = self._slot(owner_of(parts)) * _RANGE
        query = "SELECT coalesce(max(id), ?1) + 1 FROM chunks WHERE id >= ?1 AND id < ?1 + ?2"
        first = sql.execute(query, (low, _RANGE)).fetchone()[0]
        number = first
        cursor = sql.execute(
            "INSERT INTO files(path, title, mtime_ns, ctime_ns, size, inode, first, last) VALUES(?,?,?,?,?,?,0,0)",
            (path, title, *stamp),
        )
        file = cursor.lastrowid
        rows: list[tuple[int, int | None, int, int, str]] = []
        words: list[tuple[int, str, str, str, str]] = []
        for section in _pieces(lines, sections_of(text)):
            body = "\n".join(lines[section.start - 1 : section.end])
            rows.append((number, file, section.start, section.end, section.heading))
            words.append(
                (number, name, for_index(section.heading), for_index(body), scope)
            )
            number += 1
        if not rows:
            rows.append((number, file, 1, 1, ""))
            words.append((number, name, "", "", scope))
            number += 1
        sql.executemany("INSERT INTO chunks VALUES(?,?,?,?,?)", rows)
        sql.executemany(
            "INSERT INTO words(rowid, name, heading, body, scope) VALUES(?,?,?,?,?)",
            words,
        )
        sql.execute(
            "UPDATE files SET first=?, last=? WHERE id=?", (first, number - 1, file)
        )

    def put_problem(self, path: str, kind: str, detail: str, stamp: Stamp) -> None:
        """Note a file that cannot be indexed."""
        self.drop(path)
        self.sql.execute(
            "INSERT OR REPLACE INTO problems VALUES(?,?,?,?,?,?,?)",
            (path, kind, detail, *stamp),
        )

    def drop(self, path: str) -> None:
        """Forget a file."""
        sql = self.sql
        row = sql.execute(
            "SELECT id, first, last FROM files WHERE path=?", (path,)
        ).fetchone()
        if row is None:
            sql.execute("DELETE FROM problems WHERE path=?", (path,))
            return
        sql.executemany(
            "DELETE FROM words WHERE rowid=?",
            [(number,) for number in range(row[1], row[2] + 1)],
        )
        sql.execute("DELETE FROM chunks WHERE id BETWEEN ? AND ?", row[1:])
        sql.execute("DELETE FROM files WHERE id=?", row[:1])

    def problems(self) -> list[tuple[str, str, str]]:
        """Return path, kind and sentence of the files that cannot be indexed."""
        with sqlite_errors():
            return self.sql.execute(
                "SELECT path, kind, detail FROM problems ORDER BY path"
            ).fetchall()

    def optimize(self) -> None:
        """Bring the index into the form that is fastest to search."""
        with sqlite_errors():
            self.sql.execute("INSERT INTO words(words) VALUES('optimize')")

    def ranges(self, person: str | None, place: Parts) -> list[Range]:
        """Return the row numbers that hold the household's text and one person's.

        place: when it is a file, only its rows.
        """
        with sqlite_errors():
            found = [Range(0, _RANGE - 1)]
            if person is not None:
                row = self.sql.execute(
                    "SELECT slot FROM owners WHERE person=?", (person,)
                ).fetchone()
                if row is not None:
                    found.append(Range(row[0] * _RANGE, (row[0] + 1) * _RANGE - 1))
            if place:
                row = self.sql.execute(
                    "SELECT first, last FROM files WHERE path=?", (text_of(place),)
                ).fetchone()
                if row is not None:
                    return [
                        Range(*row) for one in found if one.first <= row[0] <= one.last
                    ]
            return found

    def count(self, query: str, rows: Range, most: int) -> int:
        """Return how many sections match, counting no further than ``most``."""
        with sqlite_errors():
            sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)"
            return int(self.sql.execute(sql, (query, *rows, most)).fetchone()[0])

    def find(
        self, query: str, rows: Range, limit: int, newest: int | None = None
    ) -> list[Row]:
        """Return the best matches. newest: rank only so many of those indexed last."""
        with sqlite_errors():
            if newest is not None:
                sql = (
                    "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? "
                    "ORDER BY rowid DESC LIMIT 1 OFFSET ?"
                )
                row = self.sql.execute(sql, (query, *rows, newest)).fetchone()
                rows = Range(row[0], rows.last) if row else rows
            found = self.sql.execute(
                f"""SELECT f.path, f.title, c.start, c.stop, c.heading, -w.score, f.mtime_ns, f.size FROM
                (SELECT rowid AS id, bm25(words, {_WEIGHTS}) AS score FROM words
                 WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY score LIMIT ?) w
                JOIN chunks c ON c.id = w.id JOIN files f ON f.id = c.file ORDER BY w.score""",  # noqa: S608  constants
                (query, *rows, limit),
            ).fetchall()
        return [Row(*row) for row in found]

    def _slot(self, person: str | None) -> int:
        """Return the number of an owner's range; the household's is 0."""
        if person is None:
            return 0
        sql = self.sql
        sql.execute("INSERT OR IGNORE INTO owners(person) VALUES(?)", (person,))
        return int(
            sql.execute("SELECT slot FROM owners WHERE person=?", (person,)).fetchone()[
                0
            ]
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA cache_size=-16000")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == _VERSION:
            connection.execute("SELECT count(*) FROM words WHERE rowid = 0").fetchone()
            self.made_anew = False
            return
        if (
            version
            or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ):
            raise Damaged("an index of another version")
        # Without a copy of the text where SQLite can delete without one.
        lean = (
            "content='', contentless_delete=1, "
            if sqlite3.sqlite_version_info >= (3, 43, 0)
            else ""
        )
        connection.executescript(
            f"BEGIN;{_SCHEMA}CREATE VIRTUAL TABLE words USING fts5(name, heading, body, scope, "
            f'{lean}tokenize="porter unicode61 remove_diacritics 2");PRAGMA user_version={_VERSION};COMMIT;'
        )
        self.made_anew = True


def _spoken(parts: Parts, title: str) -> str:
    """Return file and folder names as words, with the title."""
    stem = parts[-1].rsplit(".", 1)[0]
    return " ".join([*parts[1:-1], stem, title]).replace("_", " ").replace("-", " ")


def _pieces(lines: list[str], sections: list[Section]) -> Iterator[Section]:
    """Cut sections that are long into pieces at blank lines or, failing that, anywhere."""
    for section in sections:
        start = section.start
        size = 0
        for number in range(section.start, section.end + 1):
            size += len(lines[number - 1]) + 1
            full = size >= _CHUNK_BYTES and not lines[number - 1].strip()
            if number < section.end and (full or size >= 2 * _CHUNK_BYTES):
                yield Section(
                    section.number, section.level, section.heading, start, number
                )
                start = number + 1
                size = 0
        yield Section(
            section.number, section.level, section.heading, start, section.end
        )


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


@contextmanager
def sqlite_errors() -> Iterator[None]:
    """Sort the errors of SQLite: what passes by itself, and what needs a new index."""
    try:
        yield
    except sqlite3.Error as err:
        code = getattr(err, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            raise InUse(str(err)) from err
        raise Damaged(str(err)) from err
    except OSError as err:
        raise Damaged(str(err)) from err
