"""How long the event loop is kept from what is ready to run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
import time


@asynccontextmanager
async def watched_loop() -> AsyncIterator[list[float]]:
    """Give the longest time the loop did not run what was ready, in milliseconds."""
    worst = [0.0]

    async def watch() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0)
            worst[0] = max(worst[0], (time.perf_counter() - start) * 1000)
            await asyncio.sleep(0.001)

    task = asyncio.create_task(watch())
    try:
        yield worst
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
