"""The file tools: reading, listing, writing, editing, splitting."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..providers.protocol import ToolSpec
from ..workspace.documents import short_list
from ..workspace.paths import FOLDER_INDEX, RESULT_BYTES, SEARCH_BYTES, SECTIONS_BYTES
from ..workspace.text import TEXT_BYTES, Text, clip
from .base import Tool, ToolContext, ToolError, schema

if TYPE_CHECKING:
    from ..workspace.view import View

_PATH = {"type": "string", "description": "Path from /, e.g. /memory/MEMORY.md"}
# What names the file and how to go on, beside the text itself.
_SECTIONS_SHOWN = RESULT_BYTES - TEXT_BYTES - 350


async def _read_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    offset = _line(arguments.get("offset"), 1)
    limit = arguments.get("limit")
    column = max(0, int(arguments.get("column") or 0))
    wanted = None if limit is None else _line(limit, 1)
    return await asyncio.to_thread(
        _read, context.view, arguments["path"], offset, wanted, column
    )


def _read(view: View, path: str, offset: int, limit: int | None, column: int) -> str:
    part = view.read(path, offset, limit, column)
    if part.total_lines == 0:
        return f"{part.path} is empty."
    if part.start_line > part.total_lines:
        raise ToolError(
            f"{part.path} has {part.total_lines} lines; give an offset up to that."
        )
    note = _go_on(part)
    if part.truncated and part.start_line == 1 and part.total_bytes > SECTIONS_BYTES:
        note += _sections_note(view, part)
    return f"{part.text}\n\n[{note}]" if note else part.text


def _go_on(part: Text) -> str:
    """Say what part of the file this is and what to call for the rest."""
    if not part.truncated:
        whole = part.start_line == 1
        return (
            ""
            if whole
            else f"Lines {part.start_line}-{part.end_line} of {part.total_lines}, the end of {part.path}."
        )
    call = f"path={part.path}, offset={part.next_offset}"
    if part.next_column:
        call += f", column={part.next_column}"
    return (
        f"Lines {part.start_line}-{part.end_line} of {part.total_lines} "
        f"({part.total_bytes // 1024} KB). Go on with read_file({call})."
    )


def _sections_note(view: View, part: Text) -> str:
    """Offer the sections of a long file, and searching in a very long one."""
    sections = view.sections(part.path)
    if len(sections) < 2:
        return ""
    note = f" Or read_file_section; sections: {short_list(sections, _SECTIONS_SHOWN)}."
    if part.total_bytes > SEARCH_BYTES:
        note = f" Better: search_files(query, path={part.path})." + note
    return note


async def _read_file_section(arguments: Mapping[str, Any], context: ToolContext) -> str:
    part = await asyncio.to_thread(
        context.view.read_section, arguments["path"], str(arguments["section"])
    )
    note = f"Lines {part.start_line}-{part.end_line} of {part.path}."
    if part.truncated:
        call = f"path={part.path}, offset={part.next_offset}"
        if part.next_column:
            call += f", column={part.next_column}"
        note += f" The section goes on: read_file({call})."
    return f"{part.text}\n\n[{note}]"


async def _list_dir(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await asyncio.to_thread(_list, context.view, arguments.get("path") or "/")


def _list(view: View, path: str) -> str:
    entries = view.list(path)
    if not entries:
        return f"{path} is empty."
    rows: list[str] = []
    used = 0
    for place, entry in enumerate(entries):
        if entry.is_dir:
            row = f"{entry.path}/"
        else:
            title = f" - {clip(entry.title, 160)}" if entry.title else ""
            row = f"{entry.path} ({entry.bytes} bytes){title}"
        used += len(row.encode()) + 1
        if used > TEXT_BYTES:
            left = len(entries) - place
            has_index = any(entry.name == FOLDER_INDEX for entry in entries)
            index = f"read {path.rstrip('/')}/{FOLDER_INDEX} or " if has_index else ""
            rows.append(f"[{left} more; {index}use search_files to find one.]")
            break
        rows.append(row)
    return "\n".join(rows)


async def _write_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await asyncio.to_thread(
        context.view.write, arguments["path"], arguments["content"]
    )


async def _edit_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await asyncio.to_thread(
        context.view.edit,
        arguments["path"],
        arguments["old_string"],
        arguments["new_string"],
    )


async def _split_document(arguments: Mapping[str, Any], context: ToolContext) -> str:
    made = await asyncio.to_thread(context.view.split, arguments["path"])
    listing = clip("\n".join(made), TEXT_BYTES)
    return f"Made {len(made)} files; the document itself is still there.\n{listing}"


def _line(value: Any, least: int) -> int:
    """Return a count of lines; models sometimes send it as text, or as 0."""
    try:
        return max(least, int(value)) if value is not None else least
    except TypeError, ValueError:
        raise ToolError(
            "offset and limit are numbers of lines; the first is 1."
        ) from None


def tools() -> tuple[Tool, ...]:
    """Return this family's tools."""
    number = {"type": "integer"}
    return (
        Tool(
            ToolSpec(
                "read_file",
                "Read a file. Long files come in parts; the answer says how to go on.",
                schema(
                    {
                        "path": _PATH,
                        "offset": number | {"description": "First line, from 1"},
                        "limit": number | {"description": "How many lines"},
                        "column": number
                        | {"description": "Characters to skip in the first line"},
                    },
                    ("path",),
                ),
            ),
            _read_file,
            reads_only=True,
        ),
        Tool(
            ToolSpec(
                "read_file_section",
                "Read one section of a long file by heading, section number or line range.",
                schema(
                    {
                        "path": _PATH,
                        "section": {
                            "type": "string",
                            "description": "Heading, number, or lines like 120-180",
                        },
                    },
                    ("path", "section"),
                ),
            ),
            _read_file_section,
            reads_only=True,
        ),
        Tool(
            ToolSpec(
                "list_dir",
                "List a folder: names, sizes, titles. Use search_files to find something.",
                schema({"path": _PATH | {"description": "Folder, / when left out"}}),
            ),
            _list_dir,
            reads_only=True,
            aliases={"prefix": "path"},
        ),
        Tool(
            ToolSpec(
                "write_file",
                "Write a whole file, new or read before in this turn. To change a part use edit_file, "
                "to remember something append_note.",
                schema(
                    {"path": _PATH, "content": {"type": "string"}}, ("path", "content")
                ),
            ),
            _write_file,
        ),
        Tool(
            ToolSpec(
                "edit_file",
                "Replace one passage of a file. old_string must stand in it exactly once.",
                schema(
                    {
                        "path": _PATH,
                        "old_string": {"type": "string"},
                        "new_string": {"type": "string"},
                    },
                    ("path", "old_string", "new_string"),
                ),
            ),
            _edit_file,
        ),
        Tool(
            ToolSpec(
                "split_document",
                "Cut a long document of /docs into one file a section. Only when the owner asks for it.",
                schema({"path": _PATH}, ("path",)),
            ),
            _split_document,
        ),
    )
