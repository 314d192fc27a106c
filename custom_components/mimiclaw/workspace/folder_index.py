"""INDEX.md: what a folder of many files holds, kept by the assistant."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .errors import NotFound, WorkspaceError
from .names import Parts, text_of
from .paths import FOLDER_INDEX, FOLDER_INDEX_FILES, NOTE_NAME, TOC_SUFFIX
from .text import clip

if TYPE_CHECKING:
    from .workspace import Workspace

_MARK = "<!-- kept by the assistant -->"
# An index longer than this is no help; the newest files are listed then.
_LISTED = 1000


def refresh_index(workspace: Workspace, folder: Parts) -> bool:
    """Make, renew or drop the INDEX.md of a folder; say whether there is one.

    One that the owner wrote (without our mark) is left alone. Raises WorkspaceError.
    """
    place = (*folder, FOLDER_INDEX)
    items = [
        item
        for item in workspace.tree.items(folder)
        if item.is_file and not item.name.startswith(".") and item.name != FOLDER_INDEX
    ]
    old = _read(workspace, place)
    if old is not None and _MARK not in old:
        return True
    if len(items) <= FOLDER_INDEX_FILES or folder[:1] == ("sessions",):
        if old is not None:
            workspace.tree.remove(place)
        return False
    workspace.index.refresh(1.0)
    titles = workspace.index.titles(folder)
    rows = [f"# Index of {text_of(folder)}", _MARK, ""]
    named = [
        item
        for item in items
        if not NOTE_NAME.fullmatch(item.name) and not item.name.endswith(TOC_SUFFIX)
    ]
    if len(named) > _LISTED:
        named.sort(key=lambda item: -item.stamp.mtime_ns)
        rows.append(
            f"The {_LISTED} newest of {len(named)} files; search_files finds the others."
        )
        named = sorted(named[:_LISTED], key=lambda item: item.name)
    for item in named:
        title = titles.get(text_of((*folder, item.name)), "")
        rows.append(f"- {item.name}" + (f" — {clip(title, 120)}" if title else ""))
    months = Counter(item.name[:7] for item in items if NOTE_NAME.fullmatch(item.name))
    if months:
        rows += ["", "## Daily notes"]
        rows += [
            f"- {month}: {count} days (YYYY-MM-DD.md)"
            for month, count in sorted(months.items(), reverse=True)
        ]
    text = "\n".join(rows) + "\n"
    if text != old:
        with workspace.locks.hold(place):
            workspace.tree.write(place, text.encode())
    return True


def _read(workspace: Workspace, place: Parts) -> str | None:
    try:
        return workspace.tree.read(place, workspace.limits.file_bytes)[0].decode(
            "utf-8", "replace"
        )
    except NotFound:
        return None
    except WorkspaceError:
        return ""
