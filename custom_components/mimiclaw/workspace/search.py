"""Searching for a speaker: the index names places, the files themselves give the text shown."""

from __future__ import annotations

from dataclasses import dataclass
import json
from typing import TYPE_CHECKING

from . import access
from .errors import PathRefused, WorkspaceError
from .index_db import Row
from .names import Parts, text_of
from .text import clip, decode, lines_of
from .tokens import is_gram, useful, words_of

if TYPE_CHECKING:
    from .speaker import Speaker
    from .workspace import Workspace

_SNIPPET_CHARS = 240
_PER_FILE = 3
# Conversations are searched without an index: the newest files, from their ends.
_SESSION_FILES = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that fits. line: from 1. heading: of its section. snippet: the line, cut."""

    path: str
    line: int
    heading: str
    snippet: str
    score: float


class Hits(list[Hit]):
    """The hits, best first.

    pending: how many changed files are not searched yet. notice: told once, "" otherwise.
    """

    pending: int = 0
    notice: str = ""


def search(
    workspace: Workspace,
    speaker: Speaker,
    query: str,
    place: Parts,
    limit: int,
    session: str | None,
) -> Hits:
    """Return the best hits of what the speaker may see."""
    words = useful(words_of(query))
    if place[:1] == ("sessions",):
        return _search_sessions(workspace, speaker, words, place, limit, session)
    hits = Hits()
    for attempt in range(2):
        hits = Hits()
        rows, hits.pending = workspace.index.find(query, speaker.person, place, limit)
        if _shown(workspace, speaker, rows, words, place, limit, hits) or attempt:
            break
    return hits


def finish(
    workspace: Workspace,
    speaker: Speaker,
    rows: list[Row],
    query: str,
    place: Parts,
    limit: int,
) -> Hits:
    """Return rows that were found elsewhere as hits of what the speaker may see."""
    hits = Hits()
    _shown(workspace, speaker, rows, useful(words_of(query)), place, limit, hits)
    return hits


def _shown(
    workspace: Workspace,
    speaker: Speaker,
    rows: list[Row],
    words: list[str],
    place: Parts,
    limit: int,
    hits: Hits,
) -> bool:
    """Fill in the hits from the files; False when a file was another than the indexed one."""
    texts: dict[str, list[str] | None] = {}
    count: dict[str, int] = {}
    seen: set[str] = set()
    fresh = True
    for row in rows:
        if len(hits) >= limit:
            break
        parts = tuple(row.path.strip("/").split("/"))
        if parts[: len(place)] != place or count.get(row.path, 0) >= (
            _PER_FILE if parts != place else limit
        ):
            continue
        if row.path not in texts:
            texts[row.path], same = _lines(workspace, speaker, parts, row)
            fresh = fresh and same
        lines = texts[row.path]
        if lines is None:
            continue
        line = _best_line(lines, row.start, row.stop, words)
        snippet = _snippet(lines[line - 1] if line <= len(lines) else "", words)
        if snippet in seen and snippet:
            # The same words in a document and in a part that was split from it.
            continue
        seen.add(snippet)
        count[row.path] = count.get(row.path, 0) + 1
        hits.append(
            Hit(row.path, line, row.heading, snippet or row.title, round(row.score, 3))
        )
    return fresh


def _lines(
    workspace: Workspace, speaker: Speaker, parts: Parts, row: Row
) -> tuple[list[str] | None, bool]:
    """Return the lines of a file as it is now, and whether it is the one that was indexed."""
    try:
        access.check_read(parts, speaker)
        data, stamp = workspace.tree.read(parts, workspace.limits.document_bytes)
        lines = lines_of(decode(data, row.path))
    except PathRefused:
        return None, True
    except WorkspaceError:
        workspace.index.wrote(parts)
        return None, False
    if (stamp.mtime_ns, stamp.size) != (row.mtime_ns, row.size):
        workspace.index.wrote(parts)
        return None, False
    return lines, True


def _best_line(lines: list[str], start: int, stop: int, words: list[str]) -> int:
    """Return the line of a section that holds most of the words; a heading only if nothing else does."""
    best = start
    most = 0.0
    for number in range(start, min(stop, len(lines)) + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        folded = line.casefold()
        score = sum(1.0 for word in words if _stem(word) in folded)
        if line.lstrip().startswith("#"):
            score *= 0.6
        if score > most:
            most = score
            best = number
    return best


def _snippet(line: str, words: list[str]) -> str:
    """Return a line, cut around the first word that was looked for."""
    plain = " ".join(line.split())
    if len(plain) <= _SNIPPET_CHARS:
        return plain
    folded = plain.casefold()
    places = [at for at in (folded.find(_stem(word)) for word in words) if at >= 0]
    start = max(0, min(places, default=0) - _SNIPPET_CHARS // 4)
    if start:
        space = plain.find(" ", start, start + 20)
        start = space + 1 if space >= 0 else start
    piece = clip(plain[start : start + _SNIPPET_CHARS], 4 * _SNIPPET_CHARS)
    return (
        ("…" if start else "")
        + piece.strip()
        + ("…" if start + len(piece) < len(plain) else "")
    )


def _stem(word: str) -> str:
    """Return the part of a word that its forms share."""
    return word if is_gram(word) or len(word) < 5 else word[: max(4, len(word) - 2)]


def _search_sessions(
    workspace: Workspace,
    speaker: Speaker,
    words: list[str],
    place: Parts,
    limit: int,
    session: str | None,
) -> Hits:
    """Look through conversations of the speaker, the newest first."""
    hits = Hits()
    if len(place) > 1:
        files = [place]
    else:
        items = [
            item
            for item in workspace.tree.items(("sessions",))
            if item.is_file and item.name.endswith(".jsonl")
        ]
        items.sort(key=lambda item: -item.stamp.mtime_ns)
        files = [("sessions", item.name) for item in items[:_SESSION_FILES]]
    for parts in files:
        try:
            text = workspace.sessions.visible_text(parts, speaker, session)
        except WorkspaceError:
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            folded = line.casefold()
            score = sum(1.0 for word in words if _stem(word) in folded)
            if score and (record := _content(line)):
                hits.append(
                    Hit(
                        text_of(parts),
                        number,
                        record[0],
                        _snippet(record[1], words),
                        score,
                    )
                )
    hits.sort(key=lambda hit: -hit.score)
    del hits[limit:]
    return hits


def _content(line: str) -> tuple[str, str] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return str(record.get("role", "")), str(record.get("content", ""))
