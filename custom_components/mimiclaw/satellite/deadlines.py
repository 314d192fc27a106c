"""Wait for answers on a connection, never longer than it lives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from .errors import LinkError, Trouble
from .limits import COMMAND_DEADLINE_S


class Deadlines:
    """Everybody who waits for an answer on one connection."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Timeout] = set()
        self._broken = False

    async def within[T](self, answer: Awaitable[T]) -> T:
        """Return the answer.

        Raises LinkError: UNREACHABLE the moment the connection breaks, TIMEOUT after
        COMMAND_DEADLINE_S.
        """
        deadline = asyncio.timeout(COMMAND_DEADLINE_S)
        try:
            async with deadline:
                self._waiting.add(deadline)
                return await answer
        except TimeoutError as err:
            if self._broken:
                raise LinkError(Trouble.UNREACHABLE, "the connection broke") from err
            raise LinkError(Trouble.TIMEOUT, "no answer") from err
        finally:
            self._waiting.discard(deadline)

    def break_off(self) -> None:
        """The connection is gone: whoever waits learns now that no answer will come."""
        self._broken = True
        now = asyncio.get_running_loop().time()
        for deadline in self._waiting:
            if not deadline.expired():
                deadline.reschedule(now)
        self._waiting.clear()
