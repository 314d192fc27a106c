"""Wait for a condition instead of a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import time

# Longer than anything here takes, even under a sanitizer on a busy machine.
PATIENCE_S = 20.0


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Return once the condition holds; fail when it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what or condition}"
        await asyncio.sleep(0.01)
