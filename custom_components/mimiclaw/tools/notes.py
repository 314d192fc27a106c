"""append_note: the safe way to remember. It adds one line and never rewrites a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..providers.protocol import ToolSpec
from ..workspace import paths
from .base import Tool, ToolContext, ToolError, schema


async def _append_note(arguments: Mapping[str, Any], context: ToolContext) -> str:
    """Add a line to today's notes or, with a section, to the long-term memory."""
    text = str(arguments["text"])
    private = arguments.get("private") is True or context.view.own_only
    section = str(arguments.get("section") or "").strip()
    person = context.speaker.person
    if private and person is None:
        raise ToolError(
            "Nothing was saved: it is not known who speaks, so nothing can be kept from "
            "the others. Say so, and ask whether everybody at home may know it."
        )
    if section:
        own = private and person is not None
        path = paths.user_memory(person) if own and person else paths.MEMORY
        return await asyncio.to_thread(context.view.append_under, path, section, text)
    source = f"{context.speaker.name}, {context.channel}"
    return await asyncio.to_thread(
        context.view.append_note, text, source, private=private
    )


def tools() -> tuple[Tool, ...]:
    """Return this family's tools."""
    return (
        Tool(
            ToolSpec(
                "append_note",
                "Remember one line, safely. Without section: dated, into today's notes. "
                "With section: a lasting fact, under that heading of MEMORY.md.",
                schema(
                    {
                        "text": {"type": "string", "description": "One line"},
                        "section": {
                            "type": "string",
                            "description": "Heading for a lasting fact, e.g. Garden, Style",
                        },
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
    )
