"""get_current_time: the clock of the household."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..providers.protocol import ToolSpec
from .base import Tool, ToolContext, schema


async def _get_current_time(arguments: Mapping[str, Any], context: ToolContext) -> str:
    """Return weekday, date, time and zone of the household."""
    now = context.now()
    return f"{now:%A, %Y-%m-%d %H:%M:%S} {now.tzname()} (UTC{now:%z})"


def tools() -> tuple[Tool, ...]:
    """Return this family's tools."""
    return (
        Tool(
            ToolSpec(
                "get_current_time",
                "Get the date, weekday, time and time zone of the household.",
                schema({}),
            ),
            _get_current_time,
            # Asked twice it gives another answer, but the first still serves the turn.
            reads_only=True,
        ),
    )
