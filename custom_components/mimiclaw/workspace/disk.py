"""Single steps on the disk, each relative to an open folder and never through a link."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import errno
import fcntl
import os
import stat
from typing import NamedTuple
import unicodedata

from .errors import (
    NotFound,
    NotText,
    PathRefused,
    TreeFull,
    Unavailable,
)
from .names import Parts, text_of

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Stamp(NamedTuple):
    """What tells a changed file from an unchanged one without reading it."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int


def stamp_of(info: os.stat_result) -> Stamp:
    """Return the stamp of a stat result."""
    return Stamp(info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)


@contextmanager
def as_sentence(parts: Parts) -> Iterator[None]:
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


def open_folder(parent: int, name: str, parts: Parts, *, create: bool) -> int:
    """Open one folder within another; never through a link."""
    try:
        return os.open(name, _DIR, dir_fd=parent)
    except FileNotFoundError:
        other = name_on_disk(parent, name)
        if other is not None and other != name:
            return os.open(other, _DIR, dir_fd=parent)
        if not create:
            raise NotFound(f"There is no folder {text_of(parts)}.") from None
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=parent)
            sync_folder(parent)
        return os.open(name, _DIR, dir_fd=parent)
    except OSError as err:
        raise open_error(err, parent, parts, folder_wanted=True) from err


def open_file(folder: int, parts: Parts) -> int:
    """Open one file for reading; never through a link."""
    try:
        return os.open(parts[-1], _FILE, dir_fd=folder)
    except FileNotFoundError:
        other = name_on_disk(folder, parts[-1])
        if other is None or other == parts[-1]:
            raise
        return os.open(other, _FILE, dir_fd=folder)
    except OSError as err:
        raise open_error(err, folder, parts) from err


def open_error(
    err: OSError, folder: int, parts: Parts, *, folder_wanted: bool = False
) -> Exception:
    """Say why a name could not be opened: a link, a thing of another kind, or the disk."""
    info = stat_or_none(folder, parts[-1])
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


def name_on_disk(folder: int, name: str) -> str | None:
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


def check_file(info: os.stat_result, parts: Parts) -> None:
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


def stat_or_none(folder: int, name: str) -> os.stat_result | None:
    """Return what is known of a name without following it, None when it is not there."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def replace(
    folder: int, temp: str, name: str, data: bytes, old: os.stat_result | None
) -> Stamp:
    """Write a temporary file beside the target and put it in the target's place."""
    fd = os.open(temp, _NEW, 0o644, dir_fd=folder)
    try:
        # The lock tells a clean-up that the writer lives; the system drops it with the process.
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            write_all(fd, data)
            if old is not None:
                keep_access(fd, old)
            os.fsync(fd)
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temp, dir_fd=folder)
            raise
        sync_folder(folder)
        return stamp_of(os.fstat(fd))
    finally:
        os.close(fd)


def keep_access(fd: int, old: os.stat_result) -> None:
    """Keep who may open the file, so that its owner's editor still can."""
    with suppress(OSError):
        os.fchmod(fd, stat.S_IMODE(old.st_mode))
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.fchown(fd, old.st_uid, old.st_gid)


def abandoned(folder: int, name: str) -> bool:
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


def read_all(fd: int, limit: int) -> bytes:
    """Return at most ``limit`` bytes of an open file."""
    chunks: list[bytes] = []
    left = limit
    while left > 0:
        chunk = os.read(fd, min(left, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def sync_folder(fd: int) -> None:
    """Bring the names in a folder to the disk; some network disks know no such thing."""
    try:
        os.fsync(fd)
    except OSError as err:
        if err.errno not in _NO_SYNC:
            raise


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes, in as many steps as the system wants."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def too_large(parts: Parts, size: int, limit: int) -> str:
    """Return the sentence for a file over its limit."""
    return (
        f"{text_of(parts)} is {size // 1024} KB, over the limit of {limit // 1024} KB for one file; "
        "ask the owner to split it."
    )
