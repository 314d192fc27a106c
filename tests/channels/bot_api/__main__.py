"""Run the server by itself: `python -m tests.channels.bot_api PORT`."""

from __future__ import annotations

import asyncio
import sys

from .server import BotApi


async def main(port: int) -> None:
    """Serve until killed; print the address once it is there."""
    api = BotApi()
    await api.start(port)
    print(api.url, flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await api.stop()


asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
