"""Long documents: the section list beside each, and cutting one into files."""

from __future__ import annotations

from dataclasses import replace
import re
import threading
from typing import TYPE_CHECKING

from .disk import Stamp
from .errors import NotFound, NotText, TooLarge, TreeFull, WorkspaceError
from .names import Parts, text_of
from .paths import DOCS, SECTIONS_BYTES, TOC_SUFFIX
from .sections import Section, first_sentence, sections_of
from .text import clip, decode, lines_of

if TYPE_CHECKING:
    from .workspace import Workspace

_SUFFIXES = (".md", ".markdown", ".txt", ".text", ".rst", ".org")
_MARK = "<!-- kept by the assistant"
_DEPTH = 6
_FILES_OF_ONE = 400
_NOT_A_NAME = re.compile(r"[^\w]+")


class Documents:
    """The section lists of /docs, made and dropped as documents come, change and go."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._feed = workspace.watch.subscribe()
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Bring the section lists up to date; costs nothing when nothing changed in /docs."""
        with self._lock:
            if not self._feed.take().below("docs"):
                return
            self._folder(("docs",))

    def _folder(self, folder: Parts) -> None:
        tree = self._workspace.tree
        try:
            items = {item.name: item for item in tree.items(folder)}
        except WorkspaceError:
            return
        for name, item in items.items():
            if name.startswith("."):
                continue
            if item.is_dir and len(folder) < _DEPTH:
                self._folder((*folder, name))
            elif item.is_file and name.endswith(TOC_SUFFIX):
                stem = name.removesuffix(TOC_SUFFIX)
                if not any(stem + suffix in items for suffix in _SUFFIXES):
                    self._drop((*folder, name))
            elif item.is_file and name.endswith(_SUFFIXES):
                toc = (*folder, name.rsplit(".", 1)[0] + TOC_SUFFIX)
                if item.stamp.size > SECTIONS_BYTES:
                    self._make((*folder, name), toc, item.stamp)
                elif toc[-1] in items:
                    self._drop(toc)

    def _make(self, parts: Parts, toc: Parts, stamp: Stamp) -> None:
        """Write the section list of one document unless it is there already."""
        mark = f"{_MARK} for {parts[-1]}, {stamp.size} bytes of {stamp.mtime_ns} -->"
        workspace = self._workspace
        old = self._head(toc)
        if old is not None and (mark in old or _MARK not in old):
            return
        try:
            data, _ = workspace.tree.read(parts, workspace.limits.document_bytes)
            text = section_list(text_of(parts), decode(data, text_of(parts)), mark)
            with workspace.locks.hold(toc):
                workspace.tree.write(toc, text.encode())
        except WorkspaceError:
            # Broken or too large: named among the problems, and left alone.
            return

    def _drop(self, toc: Parts) -> None:
        """Remove a section list of ours whose document is gone or short."""
        old = self._head(toc)
        if old is not None and _MARK in old:
            self._workspace.tree.remove(toc)

    def _head(self, toc: Parts) -> str | None:
        try:
            return self._workspace.tree.read_from(toc, 0, 1024)[0].decode(
                "utf-8", "replace"
            )
        except WorkspaceError:
            return None


def section_list(path: str, text: str, mark: str) -> str:
    """Return the section list of a document: number, heading, first sentence, lines."""
    lines = lines_of(text)
    parts = sections_of(text)
    top = min((part.level for part in parts if part.level), default=1)
    rows = [
        f"# Sections of {path}",
        mark,
        f'Read one with read_file_section("{path}", "its number or heading"); find words with search_files.',
        "",
    ]
    for part in parts:
        sentence = first_sentence(
            lines[part.start - (0 if part.level else 1) : part.end]
        )
        indent = "  " * max(0, part.level - top)
        told = (
            f" — {sentence}"
            if sentence and not part.heading.startswith(sentence[:20])
            else ""
        )
        rows.append(
            f"{indent}{part.number}. {part.heading}{told} (lines {part.start}-{part.end})"
        )
    return "\n".join(rows) + "\n"


def short_list(parts: list[Section], limit: int) -> str:
    """Return the top sections of a document in at most ``limit`` bytes, for a tool result."""
    tops = sorted({part.level for part in parts})
    shown = parts
    for level in reversed(tops):
        shown = [part for part in parts if part.level <= level]
        text = "; ".join(f"{part.number}. {clip(part.heading, 80)}" for part in shown)
        if len(text.encode()) <= limit:
            return text
    kept: list[str] = []
    used = 0
    for part in shown:
        row = f"{part.number}. {clip(part.heading, 80)}"
        used += len(row.encode()) + 2
        if used > limit - 4:
            kept.append("…")
            break
        kept.append(row)
    return "; ".join(kept)


def split(workspace: Workspace, parts: Parts) -> list[str]:
    """Cut a document into files of one section each, in a folder of its name; return their paths.

    The document stays. Raises WorkspaceError; then nothing was written.
    """
    path = text_of(parts)
    if parts[:1] != ("docs",) or len(parts) < 2:
        raise NotText(f"Only documents under {DOCS} are split.")
    data, _ = workspace.tree.read(parts, workspace.limits.document_bytes)
    text = decode(data, path)
    lines = lines_of(text)
    sections = _leaves(sections_of(text), lines)
    if len(sections) < 2:
        raise NotFound(f"{path} has only one section; there is nothing to split.")
    if len(sections) > _FILES_OF_ONE:
        raise TooLarge(
            f"{path} has {len(sections)} sections, more than {_FILES_OF_ONE} files; "
            "read it by section or search in it instead."
        )
    folder = (*parts[:-1], parts[-1].rsplit(".", 1)[0])
    if workspace.tree.is_folder(folder) and workspace.tree.items(folder):
        raise TreeFull(
            f"{text_of(folder)} is there already; read its files, or ask the owner to remove it."
        )
    workspace.census.check(len(sections), len(data))
    made: list[str] = []
    width = len(str(len(sections)))
    for number, section in enumerate(sections, start=1):
        stem = _NOT_A_NAME.sub("-", section.heading.casefold()).strip("-")
        name = f"{number:0{width}d}-{clip(stem, 80) or 'part'}.md"
        body = "\n".join(lines[section.start - 1 : section.end]).strip("\n")
        if not body.startswith("# "):
            body = f"# {section.heading}\n\n" + (
                "\n".join(body.split("\n")[1:]).lstrip("\n") if section.level else body
            )
        place = (*folder, name)
        with workspace.locks.hold(place):
            workspace.put(place, body.encode() + b"\n")
        made.append(text_of(place))
    return made


def _leaves(sections: list[Section], lines: list[str]) -> list[Section]:
    """Join sections that are headings alone to what follows them, and levels 4 and deeper to theirs."""
    found: list[Section] = []
    for section in sections:
        last = found[-1] if found else None
        if last is not None and (section.level > 3 or _is_bare(last, lines)):
            found[-1] = replace(last, end=section.end)
        else:
            found.append(section)
    return found


def _is_bare(section: Section, lines: list[str]) -> bool:
    """Say whether a section is nothing but its heading."""
    body = lines[section.start : section.end]
    return section.level > 0 and not any(line.strip(" =-\t") for line in body)
