"""One lock a file, for the threads of this process and for other processes alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import errno
import fcntl
import os
from pathlib import Path
import threading
import time
from zlib import crc32

from .errors import Busy
from .names import Parts, key_of

# Files share so many locks; two files on one lock only wait for one another.
_STRIPES = 64
_WAIT_S = 15.0
_POLL_S = 0.002
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


class _Stripe:
    """One lock: a thread lock inside, a file lock outside."""

    __slots__ = ("depth", "fd", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0
        self.fd: int | None = None


class FileLocks:
    """The locks of one tree, kept under ``folder`` (made when first needed)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stripes = [_Stripe() for _ in range(_STRIPES)]

    @contextmanager
    def hold(self, parts: Parts) -> Iterator[None]:
        """Hold the lock of one file; a thread that has it may take it again.

        Raises Busy after 15 seconds.
        """
        number = crc32(key_of(parts).encode("utf-8", "replace")) % _STRIPES
        stripe = self._stripes[number]
        if not stripe.lock.acquire(timeout=_WAIT_S):
            raise Busy(
                "The file is being written by another turn; try again in a moment."
            )
        try:
            if stripe.depth == 0:
                stripe.fd = self._lock_file(number)
            stripe.depth += 1
            try:
                yield
            finally:
                stripe.depth -= 1
                if stripe.depth == 0 and stripe.fd is not None:
                    # Closing gives the lock back.
                    os.close(stripe.fd)
                    stripe.fd = None
        finally:
            stripe.lock.release()

    def _lock_file(self, number: int) -> int | None:
        """Lock out other processes; None where the disk knows no locks."""
        name = self._folder / f"{number:02x}"
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            fd = os.open(name, flags, 0o644)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            fd = os.open(name, flags, 0o644)
        except OSError:
            return None
        deadline = time.monotonic() + _WAIT_S
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(fd)
                    raise Busy(
                        "The file is held by another program; try again in a moment."
                    ) from None
                time.sleep(_POLL_S)
            except OSError as err:
                if err.errno in _NO_LOCKS:
                    with suppress(OSError):
                        os.close(fd)
                    return None
                os.close(fd)
                raise
            else:
                return fd
