"""The files on disk: opened step by step without following links, replaced whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
import os
from pathlib import Path
import secrets
import stat

from .disk import (
    Stamp,
    abandoned,
    as_sentence,
    check_file,
    name_on_disk,
    open_error,
    open_file,
    open_folder,
    read_all,
    replace,
    stamp_of,
    stat_or_none,
    sync_folder,
    too_large,
    write_all,
)
from .errors import (
    NotText,
    TooLarge,
    Unavailable,
    WorkspaceError,
)
from .names import Parts, text_of

TEMP_PREFIX = ".mimiclaw-"
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One name in a folder."""

    name: str
    is_dir: bool
    is_file: bool
    stamp: Stamp


class Tree:
    """A folder of the disk as a tree whose paths cannot lead out of it.

    Every call starts at the root again, so a folder that was exchanged (a restored backup)
    is seen at the next call. All methods raise WorkspaceError only.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def folder(self, parts: Parts, *, create: bool = False) -> Iterator[int]:
        """Open a folder component by component; give its descriptor."""
        with as_sentence(parts):
            fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for place, name in enumerate(parts):
                    child = open_folder(fd, name, parts[: place + 1], create=create)
                    os.close(fd)
                    fd = child
                yield fd
            finally:
                os.close(fd)

    def read(self, parts: Parts, limit: int) -> tuple[bytes, Stamp]:
        """Return the bytes of a file of at most ``limit`` bytes, and its stamp."""
        if not parts:
            raise NotText("'/' is a folder; use list_dir to see what is in it.")
        with self.folder(parts[:-1]) as folder, as_sentence(parts):
            fd = open_file(folder, parts)
            try:
                info = os.fstat(fd)
                check_file(info, parts)
                if info.st_size > limit:
                    raise TooLarge(too_large(parts, info.st_size, limit))
                data = read_all(fd, limit + 1)
                if len(data) > limit:
                    raise TooLarge(too_large(parts, len(data), limit))
                return data, stamp_of(info)
            finally:
                os.close(fd)

    def read_from(self, parts: Parts, start: int, count: int) -> tuple[bytes, Stamp]:
        """Return ``count`` bytes from ``start`` (negative: from the end) on, and the file's stamp."""
        with self.folder(parts[:-1]) as folder, as_sentence(parts):
            fd = open_file(folder, parts)
            try:
                info = os.fstat(fd)
                check_file(info, parts)
                offset = max(0, info.st_size + start) if start < 0 else start
                os.lseek(fd, offset, os.SEEK_SET)
                return read_all(fd, count), stamp_of(info)
            finally:
                os.close(fd)

    def stamp(self, parts: Parts) -> Stamp | None:
        """Return the stamp of a regular file, None when there is none."""
        try:
            with self.folder(parts[:-1]) as folder:
                info = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except OSError, WorkspaceError:
            return None
        return stamp_of(info) if stat.S_ISREG(info.st_mode) else None

    def is_folder(self, parts: Parts) -> bool:
        """Say whether the path is a folder of the tree."""
        try:
            with self.folder(parts):
                return True
        except WorkspaceError:
            return False

    def items(self, parts: Parts) -> list[Item]:
        """Return what is in a folder, by name; links and devices with neither flag set."""
        found: list[Item] = []
        with self.folder(parts) as folder, os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    found.append(
                        Item(
                            entry.name,
                            stat.S_ISDIR(info.st_mode),
                            stat.S_ISREG(info.st_mode),
                            stamp_of(info),
                        )
                    )
        found.sort(key=lambda item: item.name)
        return found

    def folders(self) -> list[Parts]:
        """Return every folder that is not hidden, the root first; links are not followed."""
        found: list[Parts] = []
        for folder, inside, _ in os.walk(self.root, followlinks=False):
            inside[:] = [name for name in inside if not name.startswith(".")]
            found.append(Path(folder).relative_to(self.root).parts)
        return found

    def write(self, parts: Parts, data: bytes) -> Stamp:
        """Replace or create a file: whole and on the disk, or not at all."""
        with self.folder(parts[:-1], create=True) as folder, as_sentence(parts):
            name = name_on_disk(folder, parts[-1]) or parts[-1]
            old = stat_or_none(folder, name)
            if old is not None:
                check_file(old, parts)
            for attempt in range(_ATTEMPTS):
                temp = f"{TEMP_PREFIX}{os.getpid():x}-{secrets.token_hex(6)}"
                try:
                    return replace(folder, temp, name, data, old)
                except FileNotFoundError:
                    # A clean-up took the temporary file before it was locked; write it again.
                    if attempt == _ATTEMPTS - 1:
                        raise
            raise Unavailable(f"{text_of(parts)} could not be written; try again.")

    def append(self, parts: Parts, line: bytes) -> None:
        """Add one whole line to the end of a file; a torn last line is closed first."""
        with self.folder(parts[:-1], create=True) as folder, as_sentence(parts):
            flags = (
                os.O_RDWR
                | os.O_APPEND
                | os.O_CREAT
                | os.O_NOFOLLOW
                | os.O_CLOEXEC
                | os.O_NONBLOCK
            )
            try:
                fd = os.open(parts[-1], flags, 0o644, dir_fd=folder)
            except OSError as err:
                raise open_error(err, folder, parts) from err
            try:
                info = os.fstat(fd)
                check_file(info, parts)
                if info.st_size and os.pread(fd, 1, info.st_size - 1) != b"\n":
                    line = b"\n" + line
                try:
                    write_all(fd, line)
                except OSError:
                    # A full disk may have taken half the line; take that back.
                    with suppress(OSError):
                        os.ftruncate(fd, info.st_size)
                    raise
                os.fsync(fd)
                if not info.st_size:
                    sync_folder(folder)
            finally:
                os.close(fd)

    def remove(self, parts: Parts) -> None:
        """Remove one file; nothing happens when there is none."""
        with (
            self.folder(parts[:-1]) as folder,
            as_sentence(parts),
            suppress(FileNotFoundError),
        ):
            os.unlink(parts[-1], dir_fd=folder)

    def sweep(self, parts: Parts) -> int:
        """Remove what a killed writer left in a folder; returns how many files."""
        swept = 0
        with self.folder(parts) as folder, as_sentence(parts):
            for name in os.listdir(folder):  # noqa: PTH208  a descriptor
                if name.startswith(TEMP_PREFIX) and abandoned(folder, name):
                    with suppress(OSError):
                        os.unlink(name, dir_fd=folder)
                        swept += 1
        return swept
