"""The files on disk: opened step by step without following links, replaced whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
import errno
import fcntl
import os
from pathlib import Path
import secrets
import stat
from typing import NamedTuple
import unicodedata

from .errors import (
    NotFound,
    NotText,
    PathRefused,
    TooLarge,
    TreeFull,
    Unavailable,
    WorkspaceError,
)
from .names import Parts, text_of

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
TEMP_PREFIX = ".mimiclaw-"
_ATTEMPTS = 5


class Stamp(NamedTuple):
    """What tells a changed file from an unchanged one without reading it."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class Item:
    """One name in a folder."""

    name: str
    is_dir: bool
    is_file: bool
    stamp: Stamp


def stamp_of(info: os.stat_result) -> Stamp:
    """Return the stamp of a stat result."""
    return Stamp(info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)


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
        with _as_sentence(parts):
            fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for place, name in enumerate(parts):
                    child = _open_folder(fd, name, parts[: place + 1], create=create)
                    os.close(fd)
                    fd = child
                yield fd
            finally:
                os.close(fd)

    def read(self, parts: Parts, limit: int) -> tuple[bytes, Stamp]:
        """Return the bytes of a file of at most ``limit`` bytes, and its stamp."""
        if not parts:
            raise NotText("'/' is a folder; use list_dir to see what is in it.")
        with self.folder(parts[:-1]) as folder, _as_sentence(parts):
            fd = _open_file(folder, parts)
            try:
                info = os.fstat(fd)
                _check_file(info, parts)
                if info.st_size > limit:
                    raise TooLarge(_too_large(parts, info.st_size, limit))
                data = _read_all(fd, limit + 1)
                if len(data) > limit:
                    raise TooLarge(_too_large(parts, len(data), limit))
                return data, stamp_of(info)
            finally:
                os.close(fd)

    def read_from(self, parts: Parts, start: int, count: int) -> tuple[bytes, Stamp]:
        """Return ``count`` bytes from ``start`` (negative: from the end) on, and the file's stamp."""
        with self.folder(parts[:-1]) as folder, _as_sentence(parts):
            fd = _open_file(folder, parts)
            try:
                info = os.fstat(fd)
                _check_file(info, parts)
                offset = max(0, info.st_size + start) if start < 0 else start
                os.lseek(fd, offset, os.SEEK_SET)
                return _read_all(fd, count), stamp_of(info)
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

    def write(self, parts: Parts, data: bytes) -> Stamp:
        """Replace or create a file: whole and on the disk, or not at all."""
        with self.folder(parts[:-1], create=True) as folder, _as_sentence(parts):
            name = _name_on_disk(folder, parts[-1]) or parts[-1]
            old = _stat_or_none(folder, name)
            if old is not None:
                _check_file(old, parts)
            for attempt in range(_ATTEMPTS):
                temp = f"{TEMP_PREFIX}{os.getpid():x}-{secrets.token_hex(6)}"
                try:
                    return _replace(folder, temp, name, data, old)
                except FileNotFoundError:
                    # A clean-up took the temporary file before it was locked; write it again.
                    if attempt == _ATTEMPTS - 1:
                        raise
            raise Unavailable(f"{text_of(parts)} could not be written; try again.")

    def append(self, parts: Parts, line: bytes) -> None:
        """Add one whole line to the end of a file; a torn last line is closed first."""
        with self.folder(parts[:-1], create=True) as folder, _as_sentence(parts):
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
                raise _open_error(err, folder, parts) from err
            try:
                info = os.fstat(fd)
                _check_file(info, parts)
                if info.st_size and os.pread(fd, 1, info.st_size - 1) != b"\n":
                    line = b"\n" + line
                try:
                    _write_all(fd, line)
                except OSError:
                    # A full disk may have taken half the line; take that back.
                    with suppress(OSError):
                        os.ftruncate(fd, info.st_size)
                    raise
                os.fsync(fd)
                if not info.st_size:
                    os.fsync(folder)
            finally:
                os.close(fd)

    def remove(self, parts: Parts) -> None:
        """Remove one file; nothing happens when there is none."""
        with (
            self.folder(parts[:-1]) as folder,
            _as_sentence(parts),
            suppress(FileNotFoundError),
        ):
            os.unlink(parts[-1], dir_fd=folder)

    def sweep(self, parts: Parts) -> int:
        """Remove what a killed writer left in a folder; returns how many files."""
        swept = 0
        with self.folder(parts) as folder, _as_sentence(parts):
            for name in os.listdir(folder):  # noqa: PTH208  a descriptor
                if name.startswith(TEMP_PREFIX) and _abandoned(folder, name):
                    with suppress(OSError):
                        os.unlink(name, dir_fd=folder)
                        swept += 1
        return swept


@contextmanager
def _as_sentence(parts: Parts) -> Iterator[None]:
    """Turn an error of the disk into one of ours."""
    try:
        yield
    except FileNotFoundError as err:
        raise NotFound(f"There is no {text_of(parts)}.") from err
    except OSError as err:
        if err.errno in _FULL:
            raise TreeFull(
                "The disk is full: nothing was written and the old text is whole; tell the owner."
            ) from err
        if err.errno == errno.ENAMETOOLONG:
            raise PathRefused(
                f"The name {text_of(parts)[:80]}… is too long; use a shorter one."
            ) from err
        reason = os.strerror(err.errno) if err.errno else "an error"
        raise Unavailable(
            f"The disk refused {text_of(parts)} ({reason}); nothing was changed."
        ) from err


def _open_folder(parent: int, name: str, parts: Parts, *, create: bool) -> int:
    """Open one folder within another; never through a link."""
    try:
        return os.open(name, _DIR, dir_fd=parent)
    except FileNotFoundError:
        other = _name_on_disk(parent, name)
        if other is not None and other != name:
            return os.open(other, _DIR, dir_fd=parent)
        if not create:
            raise NotFound(f"There is no folder {text_of(parts)}.") from None
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=parent)
            os.fsync(parent)
        return os.open(name, _DIR, dir_fd=parent)
    except OSError as err:
        raise _open_error(err, parent, parts, folder_wanted=True) from err


def _open_file(folder: int, parts: Parts) -> int:
    """Open one file for reading; never through a link."""
    try:
        return os.open(parts[-1], _FILE, dir_fd=folder)
    except FileNotFoundError:
        other = _name_on_disk(folder, parts[-1])
        if other is None or other == parts[-1]:
            raise
        return os.open(other, _FILE, dir_fd=folder)
    except OSError as err:
        raise _open_error(err, folder, parts) from err


def _open_error(
    err: OSError, folder: int, parts: Parts, *, folder_wanted: bool = False
) -> Exception:
    """Say why a name could not be opened: a link, a thing of another kind, or the disk."""
    info = _stat_or_none(folder, parts[-1])
    shown = text_of(parts)
    if info is not None and stat.S_ISLNK(info.st_mode):
        return PathRefused(
            f"{shown} is a link; links are not followed. Use a real file in the tree."
        )
    if info is not None and folder_wanted and not stat.S_ISDIR(info.st_mode):
        return NotFound(f"{shown} is a file, not a folder.")
    if info is not None and stat.S_ISDIR(info.st_mode):
        return NotText(f"{shown} is a folder; use list_dir to see what is in it.")
    if info is not None and not stat.S_ISREG(info.st_mode):
        return NotText(f"{shown} is not a text file.")
    return err


def _name_on_disk(folder: int, name: str) -> str | None:
    """Find a name that another system wrote in the other form of its accents."""
    if name.isascii():
        return None
    wanted = unicodedata.normalize("NFC", name)
    for found in os.listdir(folder):
        if found == name:
            return found
    for found in os.listdir(folder):
        if unicodedata.normalize("NFC", found) == wanted:
            return found
    return None


def _check_file(info: os.stat_result, parts: Parts) -> None:
    """Refuse everything but a regular file."""
    if stat.S_ISLNK(info.st_mode):
        raise PathRefused(
            f"{text_of(parts)} is a link; links are not followed. Use a real file in the tree."
        )
    if stat.S_ISDIR(info.st_mode):
        raise NotText(
            f"{text_of(parts)} is a folder; use list_dir to see what is in it."
        )
    if not stat.S_ISREG(info.st_mode):
        raise NotText(f"{text_of(parts)} is not a text file.")


def _stat_or_none(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _replace(
    folder: int, temp: str, name: str, data: bytes, old: os.stat_result | None
) -> Stamp:
    """Write a temporary file beside the target and put it in the target's place."""
    fd = os.open(temp, _NEW, 0o644, dir_fd=folder)
    try:
        # The lock tells a clean-up that the writer lives; the system drops it with the process.
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            _write_all(fd, data)
            if old is not None:
                _keep_access(fd, old)
            os.fsync(fd)
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temp, dir_fd=folder)
            raise
        os.fsync(folder)
        return stamp_of(os.fstat(fd))
    finally:
        os.close(fd)


def _keep_access(fd: int, old: os.stat_result) -> None:
    """Keep who may open the file, so that its owner's editor still can."""
    with suppress(OSError):
        os.fchmod(fd, stat.S_IMODE(old.st_mode))
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.fchown(fd, old.st_uid, old.st_gid)


def _abandoned(folder: int, name: str) -> bool:
    """Say whether no living writer holds a temporary file."""
    try:
        fd = os.open(
            name,
            os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK,
            dir_fd=folder,
        )
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(fd)


def _read_all(fd: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    left = limit
    while left > 0:
        chunk = os.read(fd, min(left, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _too_large(parts: Parts, size: int, limit: int) -> str:
    return (
        f"{text_of(parts)} is {size // 1024} KB, over the limit of {limit // 1024} KB for one file; "
        "ask the owner to split it."
    )
