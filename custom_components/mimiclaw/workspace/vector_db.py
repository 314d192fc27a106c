"""Vectors of chunks on disk, and the nearest of them to a question: numpy, no extension."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
import importlib
from pathlib import Path
import sqlite3
import threading
from typing import Any, NamedTuple

from .chunks import Chunk
from .disk import Stamp
from .index_db import Damaged, InUse, sqlite_errors

_VERSION = 1
_BLOCK = 4096
# Vectors up to this stay in memory between searches.
_KEPT_BYTES = 96 * 1024 * 1024
_SCHEMA = """
CREATE TABLE files(path TEXT PRIMARY KEY, owner TEXT NOT NULL, model TEXT NOT NULL,
  mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL);
CREATE TABLE chunks(id INTEGER PRIMARY KEY, path TEXT NOT NULL, owner TEXT NOT NULL, start INTEGER NOT NULL,
  stop INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX chunks_of ON chunks(path);
CREATE INDEX chunks_by ON chunks(owner);
"""


class Near(NamedTuple):
    """A chunk that is near to a question. cosine: -1 to 1."""

    path: str
    start: int
    stop: int
    cosine: float
    mtime_ns: int
    size: int


class VectorDb:
    """Vectors by file. Safe for several threads. Raises Damaged and InUse."""

    def __init__(self, folder: Path, model: str) -> None:
        self._file = folder / "vectors.sqlite"
        self._model = model
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._kept: dict[str, tuple[list[int], Any]] = {}

    def stamps(self) -> dict[str, Stamp]:
        """Return the files that have vectors of this model."""
        with self._lock, sqlite_errors():
            sql = (
                "SELECT path, mtime_ns, ctime_ns, size, inode FROM files WHERE model=?"
            )
            return {
                row[0]: Stamp(*row[1:])
                for row in self._sql().execute(sql, (self._model,))
            }

    def missing(self, paths: Collection[str]) -> set[str]:
        """Return those of some files that have no vectors of this model."""
        with self._lock, sqlite_errors():
            sql = "SELECT 1 FROM files WHERE path=? AND model=?"
            return {
                path
                for path in paths
                if self._sql().execute(sql, (path, self._model)).fetchone() is None
            }

    def put(
        self,
        path: str,
        owner: str | None,
        stamp: Stamp,
        chunks: Sequence[Chunk],
        vectors: Sequence[Sequence[float]],
    ) -> None:
        """Store the vectors of a file in place of those it had."""
        np = _numpy()
        rows = []
        for chunk, vector in zip(chunks, vectors, strict=True):
            one = np.asarray(vector, dtype=np.float32)
            length = float(np.linalg.norm(one))
            if not one.size or not np.isfinite(length) or length == 0.0:
                continue
            rows.append(
                (path, owner or "", chunk.start, chunk.stop, (one / length).tobytes())
            )
        with self._lock, sqlite_errors():
            sql = self._sql()
            sql.execute("BEGIN IMMEDIATE")
            try:
                sql.execute("DELETE FROM chunks WHERE path=?", (path,))
                sql.executemany(
                    "INSERT INTO chunks(path, owner, start, stop, vector) VALUES(?,?,?,?,?)",
                    rows,
                )
                sql.execute(
                    "INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?)",
                    (path, owner or "", self._model, *stamp),
                )
            except BaseException:
                with suppress(sqlite3.Error):
                    sql.execute("ROLLBACK")
                raise
            sql.execute("COMMIT")
            self._kept.pop(owner or "", None)

    def drop(self, paths: Sequence[str]) -> None:
        """Forget files."""
        with self._lock, sqlite_errors():
            sql = self._sql()
            sql.executemany(
                "DELETE FROM chunks WHERE path=?", [(path,) for path in paths]
            )
            sql.executemany(
                "DELETE FROM files WHERE path=?", [(path,) for path in paths]
            )
            self._kept.clear()

    def nearest(
        self, vector: Sequence[float], owners: Sequence[str], place: str, limit: int
    ) -> list[Near]:
        """Return the chunks nearest to a vector, of the given owners ("" is the household).

        place: a folder or file all must be in, "" for anywhere.
        """
        np = _numpy()
        wanted = np.asarray(vector, dtype=np.float32)
        length = float(np.linalg.norm(wanted))
        if not wanted.size or not np.isfinite(length) or length == 0.0:
            return []
        wanted = wanted / length
        best: list[tuple[float, int]] = []
        with self._lock, sqlite_errors():
            for owner in owners:
                for ids, matrix in self._blocks(owner, place, wanted.size):
                    cosines = matrix @ wanted
                    top = np.argsort(-cosines)[:limit]
                    best += [(float(cosines[at]), ids[at]) for at in top]
                    best.sort(reverse=True)
                    del best[limit:]
            found: list[Near] = []
            query = (
                "SELECT c.path, c.start, c.stop, f.mtime_ns, f.size FROM chunks c JOIN files f ON f.path = c.path "
                "WHERE c.id=?"
            )
            for cosine, number in best:
                row = self._sql().execute(query, (number,)).fetchone()
                if row is not None:
                    found.append(Near(row[0], row[1], row[2], cosine, row[3], row[4]))
            return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = None
            self._kept.clear()

    def remove(self) -> None:
        """Close and delete the file, whatever state it is in."""
        with self._lock:
            self.close()
            for suffix in ("", "-wal", "-shm"):
                with suppress(OSError):
                    self._file.with_name(self._file.name + suffix).unlink()

    def _blocks(self, owner: str, place: str, size: int) -> Any:
        """Give the vectors of an owner in blocks, from memory when they fit."""
        np = _numpy()
        if not place and owner in self._kept:
            yield self._kept[owner]
            return
        sql = "SELECT id, vector FROM chunks WHERE owner=?"
        values: list[Any] = [owner]
        if place:
            sql += " AND (path=? OR (path >= ? AND path < ?))"
            values += [place, place + "/", place + "0"]
        cursor = self._sql().execute(sql, values)
        all_ids: list[int] = []
        blocks: list[Any] = []
        while rows := cursor.fetchmany(_BLOCK):
            # A vector of another length was made by another model.
            rows = [row for row in rows if len(row[1]) == 4 * size]
            if not rows:
                continue
            ids = [row[0] for row in rows]
            matrix = np.frombuffer(
                b"".join(row[1] for row in rows), dtype=np.float32
            ).reshape(len(rows), size)
            if not place:
                all_ids += ids
                blocks.append(matrix)
            yield ids, matrix
        if blocks and len(all_ids) * size * 4 <= _KEPT_BYTES:
            self._kept[owner] = (all_ids, np.concatenate(blocks))

    def _sql(self) -> sqlite3.Connection:
        if self._connection is not None and self._file.exists():
            return self._connection
        self.close()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._file, check_same_thread=False, isolation_level=None, timeout=2.0
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != _VERSION:
                if (
                    version
                    or connection.execute(
                        "SELECT count(*) FROM sqlite_master"
                    ).fetchone()[0]
                ):
                    raise Damaged("vectors of another version")
                connection.executescript(
                    f"BEGIN;{_SCHEMA}PRAGMA user_version={_VERSION};COMMIT;"
                )
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection


def _numpy() -> Any:
    """Return numpy; imported when vectors are used and not before, for it is large."""
    return importlib.import_module("numpy")


__all__ = ["Damaged", "InUse", "Near", "VectorDb"]
