"""What one turn sees and changes of the workspace, in the name of its speaker."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING

from . import access, names, paths
from .ahead import ReadAhead
from .documents import split
from .errors import NotFound, PathRefused, WorkspaceError
from .folder_index import refresh_index
from .names import Parts, text_of
from .notes import DayNotes
from .search import Hits, search
from .sections import Section, find_section, sections_of, title_of, with_children
from .text import Text, clip, decode, lines_of, part_of, version_of
from .writing import Seen, Writer

if TYPE_CHECKING:
    from .speaker import Speaker
    from .workspace import Workspace

_TITLE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; title is empty for folders and for files without one."""

    name: str
    path: str
    is_dir: bool
    bytes: int
    title: str


# Within the class, `list` is the method.
type Entries = list[Entry]
type Paths = list[str]
type Notes = list[DayNotes]
type Sections = list[Section]


class View:
    """The tree as one turn sees it. Every method raises WorkspaceError only.

    Remembers which text of a file the turn has read, so that a write over a newer one is refused.
    """

    def __init__(
        self,
        workspace: Workspace,
        speaker: Speaker,
        *,
        session: str | None = None,
        on_touch: Callable[[str, str], None] | None = None,
        own_only: bool = False,
    ) -> None:
        self.speaker = speaker
        self.own_only = own_only and speaker.person is not None
        self.session = session
        self._workspace = workspace
        self._on_touch = on_touch
        self._seen: dict[Parts, Seen] = {}
        self._ahead = ReadAhead(workspace.tree)
        self._writer = Writer(workspace, speaker, self._seen, self._touch)

    def read(
        self, path: str, offset: int = 1, limit: int | None = None, column: int = 0
    ) -> Text:
        """Return lines of a file, at most what fits one tool result of 8 KB.

        offset: first line, from 1. limit: how many lines. column: characters of the first line
        to leave out, for a line longer than a result.
        """
        parts = self._parts(path)
        if parts[:1] == ("docs",):
            self._workspace.documents.refresh()
        if parts[-1:] == (paths.FOLDER_INDEX,):
            with suppress(WorkspaceError):
                refresh_index(self._workspace, parts[:-1])
        text, version = self._text(parts)
        part = part_of(text_of(parts), text, offset, limit, column)
        if parts[0] == "skills":
            self._workspace.skills.used(part.path, self._workspace.clock().date())
        self._remember(parts, version, part)
        self._touch("read", parts)
        return part

    def read_section(self, path: str, section: str) -> Text:
        """Return one section with its sub-sections, at most what fits one tool result.

        section: a heading or a part of one, a number from the section list, or a range of
        lines such as "120-180".
        """
        parts = self._parts(path)
        text, version = self._text(parts)
        first, sep, last = section.replace("–", "-").partition("-")
        if sep and first.strip().isdecimal() and last.strip().isdecimal():
            start, end = int(first), int(last)
        else:
            found = self._find_section(text_of(parts), text, section)
            start, end = found.start, found.end
        part = part_of(text_of(parts), text, start, max(1, end - start + 1))
        more = (
            part.truncated and part.next_offset is not None and part.next_offset <= end
        )
        part = Text(
            part.path,
            part.text,
            part.start_line,
            part.end_line,
            part.total_lines,
            part.total_bytes,
            more,
            part.next_offset if more else None,
            part.next_column if more else 0,
        )
        self._remember(parts, version, part)
        self._touch("read", parts)
        return part

    def sections(self, path: str) -> Sections:
        """Return the sections of a file, in order."""
        parts = self._parts(path)
        return sections_of(self._text(parts)[0])

    def list(self, path: str = "/") -> Entries:
        """Return what the speaker may see of a folder, folders first."""
        parts = self._parts(path)
        if parts[:1] == ("docs",):
            self._workspace.documents.refresh()
        items = self._workspace.tree.items(parts)
        titles: dict[str, str] | None = None
        many = sum(item.is_file for item in items) > paths.FOLDER_INDEX_FILES
        if many or any(item.name == paths.FOLDER_INDEX for item in items):
            refresh_index(self._workspace, parts)
            items = self._workspace.tree.items(parts)
        if many:
            # Opening every file for its title takes too long here; the index knows them.
            titles = self._workspace.index.titles(parts)
        entries: Entries = []
        for item in items:
            place = (*parts, item.name)
            if (
                item.name.startswith(".")
                or not (item.is_dir or item.is_file)
                or not self._visible(place)
            ):
                continue
            title = ""
            if not item.is_dir:
                if titles is None:
                    title = self._title(place)
                else:
                    title = titles.get(text_of(place), "")
            size = 0 if item.is_dir else item.stamp.size
            entries.append(Entry(item.name, text_of(place), item.is_dir, size, title))
        entries.sort(key=lambda entry: (not entry.is_dir, entry.name))
        self._touch("read", parts)
        return entries

    def split(self, path: str) -> Paths:
        """Cut a document of /docs into files of one section each; return their paths.

        The document stays where it is.
        """
        parts = self._parts(path, write=True)
        made = split(self._workspace, parts)
        self._touch("write", parts)
        return made

    def search(self, query: str, path: str | None = None, limit: int = 8) -> Hits:
        """Return the places that fit a question best, within a folder or file when one is given.

        Conversations are searched only when the path is /sessions or in it.
        """
        parts = self._parts(path) if path else ()
        hits = search(self._workspace, self.speaker, query, parts, limit, self.session)
        self._touch("read", parts)
        return hits

    def read_ahead(self, query: str, limit: int = 3) -> None:
        """Read the files that a question is most likely about, for the read that may follow."""
        places = search(self._workspace, self.speaker, query, (), limit, self.session)
        for path in dict.fromkeys(hit.path for hit in places):
            with suppress(WorkspaceError):
                self._ahead.keep(self._parts(path), self._workspace.limits.file_bytes)

    def write(self, path: str, content: str) -> str:
        """Write a whole file; return a sentence with what to do better next time.

        A file under /memory or /config must have been read whole in this turn.
        """
        return self._writer.write(self._parts(path, write=True), content)

    def edit(self, path: str, old: str, new: str) -> str:
        """Replace the only place where ``old`` stands in the file as it is on disk now."""
        return self._writer.edit(self._parts(path, write=True), old, new)

    def append_note(self, text: str, source: str = "", *, private: bool = False) -> str:
        """Add one dated line to today's notes: the household's, or the speaker's own.

        A private note of the household goes to the household's notes: it has no other.
        """
        private = private or self.own_only
        return self._writer.append_note(text, source, private=private)

    def append_under(self, path: str, section: str, line: str) -> str:
        """Add one line at the end of a section, which is made when missing."""
        return self._writer.append_under(self._parts(path, write=True), section, line)

    def place(self, path: str) -> Parts:
        """Return the components of a path that this turn may read."""
        return self._parts(path)

    def prompt_text(self, path: str, cap: int = paths.MEMORY_PROMPT_BYTES) -> str:
        """Return a whole file for the prompt, "" when it is missing or broken; cheap to repeat.

        cap: how many bytes of it the prompt will show. A file within it counts as read in this turn.
        """
        parts = self._parts(path)
        if access.is_session(parts):
            # A conversation is never part of the prompt.
            return ""
        read = self._workspace.prompt_reads.get(parts)
        if read.version is not None:
            seen = self._seen.get(parts)
            if seen is None or seen.version != read.version:
                shown = clip(read.text, cap)
                total = len(lines_of(read.text)) if len(shown) < len(read.text) else 0
                lines = len(lines_of(shown)) - 1 if total else 0
                self._seen[parts] = Seen(read.version, lines, total)
        return read.text

    def recent_notes(self, days: int = 3) -> Notes:
        """Return the notes of the last days that have any, newest first, private ones after the household's."""
        today = self._workspace.clock().date()
        found: Notes = []
        for back in range(days):
            day = today - timedelta(days=back)
            # The original firmware told its model to write to the second of these.
            wanted = [
                (paths.daily_note(day), False),
                (f"{paths.MEMORY_DIR}/daily/{day.isoformat()}.md", False),
            ]
            if self.speaker.person is not None:
                wanted.append((paths.daily_note(day, self.speaker.person), True))
            for path, private in wanted:
                text = self.prompt_text(path)
                if text.strip():
                    found.append(DayNotes(path, day, text, private))
        return found

    def soul_aspects(self) -> Entries:
        """Return the further layers of the personality: /config/SOUL_<aspect>.md."""
        folder = names.parse(paths.CONFIG, self._workspace.limits)
        reads = self._workspace.prompt_reads
        try:
            found = reads.names(folder)
        except OSError:
            return []
        entries: Entries = []
        for name in found:
            if name.startswith("SOUL_") and name.endswith(".md"):
                place = (*folder, name)
                text = reads.get(place).text
                size = len(text.encode())
                entries.append(
                    Entry(name, text_of(place), False, size, title_of(text, name))
                )
        return entries

    def _parts(self, path: str, *, write: bool = False) -> Parts:
        """Return the components of a path that this turn may read, or write."""
        parts = names.parse(path, self._workspace.limits)
        if write:
            top = parts[:1]
            exists = bool(top) and self._workspace.tree.is_folder(top)
            access.check_write(parts, self.speaker, top_exists=exists)
            if self.own_only:
                access.check_own(parts, self.speaker)
        else:
            access.check_read(parts, self.speaker)
        return parts

    def _visible(self, parts: Parts) -> bool:
        """Say whether a listing shows a name."""
        if (
            len(parts) == 3
            and parts[:2] == ("memory", "users")
            and parts[2] != self.speaker.person
        ):
            return False
        if access.is_session(parts) and len(parts) > 1:
            return bool(
                self._workspace.sessions.visible_text(
                    parts, self.speaker, self.session, probe=True
                )
            )
        try:
            access.check_read(parts, self.speaker)
        except PathRefused:
            return parts == ("cron.json",)
        return True

    def _text(self, parts: Parts) -> tuple[str, str]:
        """Return text and version of a file; of a session only what the speaker may see."""
        if access.is_session(parts) and len(parts) > 1:
            text = self._workspace.sessions.visible_text(
                parts, self.speaker, self.session
            )
            if not text:
                raise PathRefused(
                    f"{text_of(parts)} is not a conversation of this speaker."
                )
            return text, version_of(text.encode("utf-8", "replace"))
        limits = self._workspace.limits
        limit = limits.document_bytes if parts[:1] == ("docs",) else limits.file_bytes
        data = self._ahead.get(parts)
        if data is None:
            try:
                data, _ = self._workspace.tree.read(parts, limit)
            except NotFound:
                raise NotFound(self._missing(parts)) from None
        return decode(data, text_of(parts)), version_of(data)

    def _missing(self, parts: Parts) -> str:
        """Say that a file is missing and which one may have been meant."""
        shown = text_of(parts)
        try:
            here = [entry.name for entry in self.list(text_of(parts[:-1]))]
        except WorkspaceError:
            return f"There is no {shown}; use list_dir on / to see what is there."
        near = get_close_matches(parts[-1], here, n=3, cutoff=0.5)
        folder = text_of(parts[:-1])
        if near:
            guesses = ", ".join(text_of((*parts[:-1], name)) for name in near)
            return f"There is no {shown}. Like it: {guesses}."
        return (
            f"There is no {shown}; use list_dir on {folder} or search_files to find it."
        )

    def _title(self, parts: Parts) -> str:
        if not parts[-1].endswith((".md", ".txt")):
            return ""
        try:
            data, _ = self._workspace.tree.read_from(parts, 0, _TITLE_BYTES)
            text = data.decode("utf-8", "ignore").removeprefix("\ufeff")
        except WorkspaceError:
            return ""
        return title_of(text, parts[-1])

    def _find_section(self, shown: str, text: str, wanted: str) -> Section:
        parts = sections_of(text)
        found = find_section(parts, wanted)
        if len(found) == 1 or (found and wanted.strip().isdecimal()):
            return with_children(parts, found[0])
        names_of = [f"{part.number}. {part.heading}" for part in (found or parts)]
        near = get_close_matches(
            wanted, [part.heading for part in parts], n=3, cutoff=0.4
        )
        listing = "; ".join(names_of[:20]) + ("; …" if len(names_of) > 20 else "")
        if found:
            raise NotFound(
                f"More than one section of {shown} is called that; give its number: {listing}"
            )
        nearest = f" Like it: {'; '.join(near)}." if near else ""
        raise NotFound(
            f"{shown} has no section {wanted[:80]!r}.{nearest} Its sections: {listing}"
        )

    def _remember(self, parts: Parts, version: str, part: Text) -> None:
        """Note which lines of which text the turn has read, from the first on."""
        seen = self._seen.get(parts)
        lines = (
            seen.lines
            if seen is not None and seen.version == version and seen.total
            else 0
        )
        if seen is not None and seen.version == version and not seen.total:
            return
        if part.next_column == 0 and part.start_line <= lines + 1:
            lines = max(lines, part.end_line)
        total = part.total_lines
        self._seen[parts] = Seen(version, lines, 0 if lines >= total else total)

    def _touch(self, kind: str, parts: Parts) -> None:
        if self._on_touch is not None:
            self._on_touch(kind, text_of(parts))
