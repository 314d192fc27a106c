"""append_note and remember_fact: the safe ways to write something down."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..providers.protocol import ToolSpec
from .base import Tool, ToolContext, schema


async def _append_note(arguments: Mapping[str, Any], context: ToolContext) -> str:
    source = f"{context.speaker.name}, {context.channel}"
    return await asyncio.to_thread(
        context.view.append_note,
        str(arguments["text"]),
        source,
        private=arguments.get("private") is True,
    )


async def _remember_fact(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await asyncio.to_thread(
        context.view.append_under,
        str(arguments["path"]),
        str(arguments["section"]),
        str(arguments["fact"]),
    )


def tools() -> tuple[Tool, ...]:
    """Return this family's tools."""
    return (
        Tool(
            ToolSpec(
                "append_note",
                "Remember something of today: adds one dated line to the daily notes. Never overwrites.",
                schema(
                    {
                        "text": {"type": "string", "description": "One line"},
                        "private": {
                            "type": "boolean",
                            "description": "Only for the person speaking",
                        },
                    },
                    ("text",),
                ),
            ),
            _append_note,
        ),
        Tool(
            ToolSpec(
                "remember_fact",
                "Keep a lasting fact: adds one line under a heading of a memory file; makes the heading when missing.",
                schema(
                    {
                        "path": {
                            "type": "string",
                            "description": "/memory/MEMORY.md, or /memory/users/<person>/MEMORY.md for private facts",
                        },
                        "section": {
                            "type": "string",
                            "description": "Heading, e.g. Garden or Style",
                        },
                        "fact": {"type": "string", "description": "One line"},
                    },
                    ("path", "section", "fact"),
                ),
            ),
            _remember_fact,
        ),
    )
