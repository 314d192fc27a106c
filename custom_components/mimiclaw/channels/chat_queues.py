"""One line a chat: what comes while something is answered waits, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
import logging

_LOGGER = logging.getLogger(__name__)

#: Seconds, one a try, that work is given to end.
STOP_TRIES = 5

type Work = Callable[[], Awaitable[None]]


class ChatQueues:
    """Runs work of one key after another, of different keys side by side."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[Work]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._current: dict[str, asyncio.Task[None]] = {}

    def put(self, key: str, work: Work) -> None:
        """Add work to a line."""
        self._lines.setdefault(key, deque()).append(work)
        if key not in self._workers:
            self._workers[key] = asyncio.get_running_loop().create_task(
                self._serve(key), name=f"mimiclaw chat {key}"
            )

    def waiting(self, key: str) -> int:
        """Return how much waits or is worked on."""
        return len(self._lines.get(key, ())) + (key in self._current)

    def drop_waiting(self, key: str) -> int:
        """Forget what waits; return how much it was."""
        line = self._lines.get(key)
        count = len(line) if line else 0
        if line:
            line.clear()
        return count

    async def cancel_current(self, key: str) -> bool:
        """End what is worked on; tell whether there was something."""
        task = self._current.get(key)
        if task is None:
            return False
        for _ in range(STOP_TRIES):
            task.cancel()
            done, _pending = await asyncio.wait({task}, timeout=1.0)
            if done:
                break
        return True

    async def idle(self) -> None:
        """Wait until every line is empty."""
        while self._workers:
            await asyncio.gather(*self._workers.values(), return_exceptions=True)
            await asyncio.sleep(0)

    async def stop(self) -> None:
        """End everything."""
        self._lines.clear()
        for _ in range(STOP_TRIES):
            tasks = {*self._current.values(), *self._workers.values()}
            if not tasks:
                return
            for task in tasks:
                task.cancel()
            # A library beneath may take a cancellation for its own affair.
            await asyncio.wait(tasks, timeout=1.0)
            await asyncio.sleep(0)

    async def _serve(self, key: str) -> None:
        try:
            while line := self._lines.get(key):
                work = line.popleft()
                task = asyncio.get_running_loop().create_task(
                    self._guarded(work), name=f"mimiclaw message {key}"
                )
                self._current[key] = task
                # A cancelled message ends itself, not the line behind it.
                await asyncio.wait({task})
                self._current.pop(key, None)
        finally:
            self._workers.pop(key, None)
            if not self._lines.get(key):
                self._lines.pop(key, None)

    @staticmethod
    async def _guarded(work: Work) -> None:
        try:
            await work()
        except Exception:
            _LOGGER.exception("A message was not answered")
