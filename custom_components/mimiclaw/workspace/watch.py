"""What changed in the tree since it was last asked, told by the kernel where it can tell.

A folder on a network disk, or a system without inotify, tells nothing; then every answer is
"anything may have changed" and who asks has to look for himself.
"""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass, field
import errno
import os
from pathlib import Path
import struct
import sys
import threading
import time
import weakref

from .names import Parts
from .tree import TEMP_PREFIX

_MODIFY, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_OVERFLOW, _IGNORED, _ISDIR = 0x4000, 0x8000, 0x40000000
_ONLYDIR, _DONT_FOLLOW = 0x01000000, 0x02000000
_MASK = (
    _MODIFY
    | _CLOSE_WRITE
    | _MOVED_FROM
    | _MOVED_TO
    | _CREATE
    | _DELETE
    | _DELETE_SELF
    | _MOVE_SELF
    | _ONLYDIR
    | _DONT_FOLLOW
)
_HEADER = struct.Struct("iIII")
# The kernel may have been out of watches only for now.
_TRY_AGAIN_S = 60.0
_BUFFER = 256 * 1024
# Kinds of disk whose changes by other machines this kernel never hears of.
_DEAF = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "fuse",
    "virtiofs",
    "ceph",
    "gluster",
    "afs",
    "vboxsf",
)


@dataclass(slots=True)
class Changes:
    """Files and folders that may have changed; ``everything`` when that is not known."""

    files: set[Parts] = field(default_factory=set)
    folders: set[Parts] = field(default_factory=set)
    everything: bool = False

    def __bool__(self) -> bool:
        """Say whether anything may have changed."""
        return self.everything or bool(self.files) or bool(self.folders)

    def below(self, top: str) -> bool:
        """Say whether anything under a top folder may have changed."""
        return self.everything or any(
            not parts or parts[0] == top for parts in (*self.files, *self.folders)
        )


class Feed:
    """One listener's changes; the first answer is always "everything"."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.pending = Changes(everything=True)

    def take(self) -> Changes:
        """Return what changed since the last call."""
        return self._watch.take(self)

    def peek(self) -> Changes:
        """Return what changed since the last ``take``, which will return it again."""
        return self._watch.take(self, keep=True)


class Watch:
    """Watches the folders of a tree. Safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._feeds: list[Feed] = []
        self._fd: int | None = None
        self._folders: dict[int, Parts] = {}
        self._root_inode = 0
        self._try_at = 0.0
        # The kernel gives a user few of these; one that is forgotten is given back.
        self._given_back: weakref.finalize[[int], Watch] | None = None

    @property
    def reliable(self) -> bool:
        """Say whether changes are told, not guessed."""
        return self._fd is not None

    def subscribe(self) -> Feed:
        """Return a new listener."""
        feed = Feed(self)
        with self._lock:
            self._feeds.append(feed)
        return feed

    def take(self, feed: Feed, *, keep: bool = False) -> Changes:
        """Return, and forget unless ``keep``, what a listener has not heard yet."""
        with self._lock:
            if self._fd is None and time.monotonic() >= self._try_at:
                self._try_at = time.monotonic() + _TRY_AGAIN_S
                self._start()
                # What changed before is not known.
                self._tell_everything()
            self._drain()
            found = feed.pending
            if self._fd is None:
                found.everything = True
            if not keep:
                feed.pending = Changes()
            return found

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._stop()
            self._try_at = 0.0
            self._tell_everything()

    def _start(self) -> None:
        """Watch every folder; leave it when the kernel, or the disk, cannot tell."""
        if not sys.platform.startswith("linux") or _is_deaf(self._root):
            return
        fd = _libc_call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        if fd < 0:
            return
        self._fd = fd
        self._given_back = weakref.finalize(self, os.close, fd)
        self._root_inode = _inode(self._root)
        if not self._add(()):
            self._stop()

    def _stop(self) -> None:
        if self._given_back is not None:
            with contextlib.suppress(OSError):
                self._given_back()
        self._given_back = None
        self._fd = None
        self._folders.clear()

    def _add(self, folder: Parts) -> bool:
        """Watch a folder and those in it. False when the kernel allows no more."""
        if self._fd is None:
            return False
        real = os.path.join(self._root, *folder)  # noqa: PTH118
        number = _libc_call("inotify_add_watch", self._fd, os.fsencode(real), _MASK)
        if number < 0:
            return ctypes.get_errno() not in (errno.ENOSPC, errno.ENOMEM)
        self._folders[number] = folder
        try:
            entries = [
                entry.name
                for entry in os.scandir(real)
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
            ]
        except OSError:
            return True
        return all(self._add((*folder, name)) for name in entries)

    def _drain(self) -> None:
        """Take all events from the kernel and hand them to every listener."""
        if self._fd is None:
            return
        if _inode(self._root) != self._root_inode:
            # The whole folder was exchanged, by a restored backup for example.
            self._stop()
            self._start()
            self._tell_everything()
            return
        while True:
            try:
                data = os.read(self._fd, _BUFFER)
            except BlockingIOError:
                return
            except OSError:
                self._stop()
                self._tell_everything()
                return
            self._handle(data)
            if len(data) < _BUFFER // 2:
                return

    def _handle(self, data: bytes) -> None:
        at = 0
        while at + _HEADER.size <= len(data):
            number, mask, _, length = _HEADER.unpack_from(data, at)
            at += _HEADER.size
            raw = data[at : at + length].rstrip(b"\0")
            at += length
            if mask & _OVERFLOW:
                self._stop()
                self._start()
                self._tell_everything()
                return
            folder = self._folders.get(number)
            if folder is None:
                continue
            if mask & _IGNORED:
                self._folders.pop(number, None)
                continue
            name = os.fsdecode(raw)
            hidden_folder = mask & _ISDIR and name.startswith(".")
            if name.startswith(TEMP_PREFIX) or hidden_folder:
                continue
            if not name:
                self._tell(folder, is_folder=True)
                continue
            place = (*folder, name)
            if mask & _ISDIR:
                if mask & (_CREATE | _MOVED_TO) and not self._add(place):
                    self._stop()
                    self._tell_everything()
                    return
                self._tell(place, is_folder=True)
            else:
                self._tell(place, is_folder=False)

    def _tell(self, place: Parts, *, is_folder: bool) -> None:
        for feed in self._feeds:
            if is_folder:
                feed.pending.folders.add(place)
            else:
                feed.pending.files.add(place)

    def _tell_everything(self) -> None:
        for feed in self._feeds:
            feed.pending.everything = True


_LIBC: list[ctypes.CDLL] = []


def _libc_call(name: str, *args: object) -> int:
    """Call a function of the C library; -1 when it fails or is not there."""
    try:
        if not _LIBC:
            _LIBC.append(ctypes.CDLL(None, use_errno=True))
        return int(getattr(_LIBC[0], name)(*args))
    except OSError, AttributeError:
        return -1


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _is_deaf(root: Path) -> bool:
    """Say whether the tree stands on a kind of disk that tells no changes."""
    try:
        real = os.path.realpath(root)
        mounts = Path("/proc/self/mountinfo").read_text(
            encoding="utf-8", errors="replace"
        )
    except OSError:
        return False
    kind = ""
    longest = -1
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = fields[4].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:
            longest = len(point)
            kind = right.split(" ", 1)[0]
    return kind.startswith(_DEAF)
