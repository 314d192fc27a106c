"""search_files: words in, places out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..providers.protocol import ToolSpec
from ..workspace.search import Hits
from ..workspace.text import TEXT_BYTES
from ..workspace.view import View
from .base import Tool, ToolContext, ToolError, schema

type Finder = Callable[[View, str, str | None], Awaitable[Hits]]


async def find_by_text(view: View, query: str, path: str | None) -> Hits:
    """Search by words."""
    return await asyncio.to_thread(view.search, query, path)


def render(hits: Hits, query: str, path: str | None) -> str:
    """Return hits as text: place, heading and line of each, at most what one result takes."""
    rows: list[str] = [hits.notice] if hits.notice else []
    used = sum(len(row.encode()) + 1 for row in rows)
    for hit in hits:
        heading = (
            f" [{hit.heading}]"
            if hit.heading and hit.heading not in hit.snippet
            else ""
        )
        row = f"{hit.path}:{hit.line}:{heading} {hit.snippet}"
        used += len(row.encode()) + 1
        if used > TEXT_BYTES:
            break
        rows.append(row)
    if not hits:
        where = f" in {path}" if path else ""
        rows.append(
            f"Nothing found for {query[:100]!r}{where}. Try other words, fewer words, or list_dir."
        )
    if hits.pending:
        rows.append(
            f"[{hits.pending} files are not searched yet; try again in a minute.]"
        )
    return "\n".join(rows)


def tools(find: Finder = find_by_text) -> tuple[Tool, ...]:
    """Return this family's tools; ``find`` may search by meaning too."""

    async def search_files(arguments: Mapping[str, Any], context: ToolContext) -> str:
        query = str(arguments["query"]).strip()
        if not query:
            raise ToolError("The query is empty; give the words to look for.")
        path = str(arguments["path"]) if arguments.get("path") else None
        return render(await find(context.view, query, path), query, path)

    return (
        Tool(
            ToolSpec(
                "search_files",
                "Find what is noted: give words that may stand there. Answers path:line and the line; "
                "read_file the best hit.",
                schema(
                    {
                        "query": {
                            "type": "string",
                            "description": "Words, any language",
                        },
                        "path": {
                            "type": "string",
                            "description": "Only this folder or file; /sessions for past conversations",
                        },
                    },
                    ("query",),
                ),
            ),
            search_files,
            reads_only=True,
            aliases={"prefix": "path"},
        ),
    )
