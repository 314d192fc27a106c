"""Changing files for a turn: whole writes, edits, notes. Nothing that was there is lost unkept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import access, names, paths
from .edits import replace_once
from .errors import Changed, EditMismatch, NotFound
from .hints import hints_for
from .names import Parts, text_of
from .notes import with_fact, with_note
from .text import decode, encode, version_of

if TYPE_CHECKING:
    from .speaker import Speaker
    from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Seen:
    """What a turn has read of a file: its version, and lines 1 to ``lines`` of ``total``.

    total is 0 when the whole was read.
    """

    version: str
    lines: int
    total: int


class Writer:
    """The writes of one turn."""

    def __init__(
        self,
        workspace: Workspace,
        speaker: Speaker,
        seen: dict[Parts, Seen],
        touch: Callable[[str, Parts], None],
    ) -> None:
        self._workspace = workspace
        self._speaker = speaker
        self._seen = seen
        self._touch = touch

    def write(self, parts: Parts, content: str) -> str:
        """Write a whole file. Raises WorkspaceError."""
        shown = text_of(parts)
        data = encode(content, shown)
        with self._workspace.locks.hold(parts):
            old = self._current(parts)
            kept: str | None = None
            if old is None:
                names.check_new_name(parts)
                if self._seen.pop(parts, None) is not None:
                    raise Changed(
                        f"{shown} was deleted since you read it; write it again if it is still wanted."
                    )
            else:
                decode(old, shown)
                blind = self._check_seen(parts, old)
                if blind or _shrinks(old, data) or access.is_rules(parts):
                    kept = self._keep(parts, old, data)
            self._put(parts, data)
        done = f"Wrote {shown} ({len(data)} bytes)."
        if kept is not None:
            done += f" The previous text is kept as {kept}."
        return " ".join([done, *hints_for(parts, content, new=old is None)])

    def edit(self, parts: Parts, old_text: str, new_text: str) -> str:
        """Replace one passage in what is on disk now. Raises WorkspaceError."""
        shown = text_of(parts)
        encode(new_text, shown)
        with self._workspace.locks.hold(parts):
            old = self._current(parts)
            if old is None:
                raise NotFound(f"There is no {shown}; use write_file to make it.")
            text = decode(old, shown)
            if old_text == new_text:
                raise EditMismatch(
                    "old_string and new_string are the same; nothing to change."
                )
            new = replace_once(text, old_text, new_text, shown)
            data = _with_mark(old, new, shown)
            kept = None
            if _shrinks(old, data) or access.is_rules(parts):
                kept = self._keep(parts, old, data)
            self._put(parts, data, old)
        line = new.count("\n", 0, max(0, text.find(old_text))) + 1
        done = f"Edited {shown} at line {line}."
        if kept is not None:
            done += f" The previous text is kept as {kept}."
        return " ".join([done, *hints_for(parts, new, new=False)[-1:]])

    def append_note(self, note: str, source: str, *, private: bool) -> str:
        """Add one line to today's notes. Raises WorkspaceError."""
        now = self._workspace.clock()
        person = self._speaker.person if private else None
        parts = names.parse(
            paths.daily_note(now.date(), person), self._workspace.limits
        )
        shown = text_of(parts)
        with self._workspace.locks.hold(parts):
            old = self._current(parts)
            text = decode(old, shown) if old else None
            new, line = with_note(text, now, note, source)
            self._put(parts, _with_mark(old or b"", new, shown), old)
        return f"Noted in {shown}: {line}"

    def append_under(self, parts: Parts, section: str, fact: str) -> str:
        """Add one line under a heading. Raises WorkspaceError."""
        shown = text_of(parts)
        with self._workspace.locks.hold(parts):
            old = self._current(parts)
            if old is None:
                names.check_new_name(parts)
            stem = parts[-1].rsplit(".", 1)[0].replace("-", " ").replace("_", " ")
            title = "Memory" if stem == "MEMORY" else stem
            text = decode(old, shown) if old else f"# {title}\n"
            new, added = with_fact(text, section, fact)
            if not added:
                return f"{shown} says so already under {section!r}."
            data = _with_mark(old or b"", new, shown)
            if old is not None and access.is_rules(parts):
                self._keep(parts, old, data)
            self._put(parts, data, old)
        hints = [hint for hint in hints_for(parts, new, new=False) if "KB" in hint]
        return " ".join([f"Added to {shown} under {section!r}.", *hints])

    def _current(self, parts: Parts) -> bytes | None:
        """Return what is on disk now, None when there is nothing."""
        try:
            return self._workspace.tree.read(
                parts, self._workspace.limits.document_bytes
            )[0]
        except NotFound:
            return None

    def _check_seen(self, parts: Parts, old: bytes) -> bool:
        """Refuse a write over text this turn does not know; say whether it writes blindly."""
        shown = text_of(parts)
        seen = self._seen.get(parts)
        if seen is None:
            if access.is_memory(parts) and old.strip():
                raise Changed(
                    f"{shown} exists; read it first, or change it with edit_file or append_note."
                )
            return bool(old.strip())
        if seen.version != version_of(old):
            raise Changed(f"{shown} changed since you read it; read it again.")
        if seen.total and access.is_memory(parts):
            raise Changed(
                f"You have read lines 1 to {seen.lines} of {seen.total} of {shown}; "
                "read the rest first, or change it with edit_file."
            )
        return False

    def _keep(self, parts: Parts, old: bytes, data: bytes) -> str | None:
        """Keep the previous text in the trash, and tell the owner of changed rules."""
        if not old.strip() or old == data:
            return None
        kept = self._workspace.trash.keep(parts, old, self._workspace.clock())
        self._workspace.tell(parts, self._speaker.person, kept)
        return kept

    def _put(self, parts: Parts, data: bytes, old: bytes | None = None) -> None:
        """Write, and remember the text as known if what it was made from was known."""
        self._workspace.put(parts, data)
        seen = self._seen.get(parts)
        if old is None:
            self._seen[parts] = Seen(version_of(data), 0, 0)
        elif seen is not None and seen.version == version_of(old):
            # The turn knows its own change; what it had not read it still has not.
            self._seen[parts] = Seen(version_of(data), seen.lines, seen.total)
        self._touch("write", parts)


def _shrinks(old: bytes, new: bytes) -> bool:
    """Say whether more than half of a text goes."""
    return len(new) * 2 < len(old)


def _with_mark(old: bytes, text: str, shown: str) -> bytes:
    """Return the bytes of a changed text, with the byte order mark the file had."""
    mark = b"\xef\xbb\xbf" if old.startswith(b"\xef\xbb\xbf") else b""
    return mark + encode(text, shown)
