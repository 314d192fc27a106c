"""A file of JSON lines that only grows: what was promised, and what was kept.

Blocking; to be used from worker threads, any number of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import contextlib
import json
import os
from pathlib import Path
import threading
from typing import Any, Final

#: Folder below the workspace for what we have to remember and nobody has to read. It is
#: hidden, so no model and no listing sees it.
STATE_FOLDER: Final = ".state"

type Line = dict[str, Any]


class LineLog:
    """Appends whole lines and reads them back; a torn last line is left out."""

    def __init__(self, path: Path) -> None:
        """Take the file's path; it and its folder are made when first written."""
        self.path = path
        self._lock = threading.Lock()
        self._torn = False

    def read(self) -> list[Line]:
        """Return every whole line. Raises OSError."""
        with self._lock:
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                return []
            self._torn = bool(data) and not data.endswith(b"\n")
        found: list[Line] = []
        for raw in data.split(b"\n"):
            try:
                line = json.loads(raw)
            except ValueError, RecursionError:
                continue
            if isinstance(line, dict):
                found.append(line)
        return found

    def append(self, lines: Iterable[Mapping[str, Any]], *, sync: bool = True) -> None:
        """Add lines; with `sync` they survive a power cut once this returns.

        Without, they survive the end of this process. Raises OSError.
        """
        data = b"".join(_encode(line) for line in lines)
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            handle = os.open(self.path, flags, 0o600)
            try:
                if self._torn:
                    data = b"\n" + data
                    self._torn = False
                _write_all(handle, data)
                if sync:
                    os.fsync(handle)
            finally:
                os.close(handle)

    def sync(self) -> None:
        """Bring what was appended onto the disk. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def rewrite(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Put other lines in place of all; a crash leaves the old or the new ones."""
        data = b"".join(_encode(line) for line in lines)
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f"{self.path.name}.new")
            handle = os.open(
                beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
            )
            try:
                _write_all(handle, data)
                os.fsync(handle)
            finally:
                os.close(handle)
            beside.replace(self.path)
            self._torn = False


def _encode(line: Mapping[str, Any]) -> bytes:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace") + b"\n"


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
