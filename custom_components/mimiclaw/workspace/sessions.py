"""Conversations: one JSON line a message, added whole, read from the end.

A line is ``{"role", "content", "ts"}`` as the original firmware wrote it, plus ``person``
(who it belongs to, null for the household) and whatever else its writer adds. A line of the
role ``summary`` stands for everything before it but the last ``keep`` messages; the originals
stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
import json
import re
from typing import Any, Protocol

from .errors import NotFound, WorkspaceError
from .locks import FileLocks
from .names import Parts, text_of
from .speaker import Speaker
from .tree import Tree

SUMMARY = "summary"
# The original's file names begin so.
_PREFIXES = {"telegram": "tg"}
_SAFE_ID = re.compile(r"-?[a-z0-9][a-z0-9_-]{0,63}|[0-9A-HJKMNP-TV-Z]{26}")
_CHANNEL = re.compile(r"[a-z0-9]{1,24}")
_FIRST_BLOCK = 64 * 1024
_LAST_BLOCK = 64 * 1024 * 1024
# What a turn may read of an old conversation, from its end.
_SHOWN_BYTES = 256 * 1024
_PROBE_BYTES = 16 * 1024
# How many further messages are looked through for a summary.
_SUMMARY_REACH = 200
_SPEECH = frozenset({"user", "assistant"})


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message. ts: seconds since 1970. person: None for the household or when unknown."""

    role: str
    content: str
    ts: float
    person: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def session_name(channel: str, conversation: str) -> str:
    """Return the path of a conversation's file.

    The channel is part of it, so that no channel can claim another's conversation; an id that is
    no safe file name is replaced by its hash.
    """
    prefix = _PREFIXES.get(channel, channel)
    if not _CHANNEL.fullmatch(prefix):
        prefix = (
            "x" + blake2b(channel.encode("utf-8", "replace"), digest_size=6).hexdigest()
        )
    name = conversation
    if not _SAFE_ID.fullmatch(name):
        slug = re.sub(r"[^a-z0-9]+", "-", conversation.lower())[:24].strip("-")
        # A dot stands in no plain id, so a hashed one is nobody else's.
        name = f"{slug}.{blake2b(conversation.encode('utf-8', 'replace'), digest_size=10).hexdigest()}".lstrip(
            "."
        )
        name = name if "." in name else f"h.{name}"
    return f"/sessions/{prefix}_{name}.jsonl"


class Home(Protocol):
    """What sessions need of a workspace."""

    @property
    def tree(self) -> Tree:
        """Return the files."""

    @property
    def locks(self) -> FileLocks:
        """Return the locks."""

    @property
    def clock(self) -> Callable[[], datetime]:
        """Return what tells the time."""


class Sessions:
    """The conversations of a workspace. Methods raise WorkspaceError only."""

    def __init__(self, home: Home) -> None:
        self._tree = home.tree
        self._locks = home.locks
        self._clock = home.clock

    def append(
        self,
        channel: str,
        conversation: str,
        role: str,
        content: str,
        *,
        ts: float | None = None,
        person: str | None = None,
        **extra: Any,
    ) -> None:
        """Add one message; on return it is on the disk."""
        stamp = int(self._clock().timestamp()) if ts is None else ts
        record = {
            "role": role,
            "content": content,
            "ts": stamp,
            "person": person,
            **extra,
        }
        line = json.dumps(
            record, ensure_ascii=False, default=str, separators=(",", ":")
        )
        parts = _parts(channel, conversation)
        with self._locks.hold(parts):
            self._tree.append(parts, line.encode("utf-8", "replace") + b"\n")

    def compact(
        self,
        channel: str,
        conversation: str,
        summary: str,
        *,
        keep: int,
        person: str | None = None,
    ) -> None:
        """Let a summary stand for all messages so far but the last ``keep``."""
        self.append(
            channel, conversation, SUMMARY, summary, person=person, keep=max(0, keep)
        )

    def last(
        self,
        channel: str,
        conversation: str,
        n: int = 20,
        *,
        speaker: Speaker | None = None,
        roles: Collection[str] = _SPEECH,
    ) -> list[SessionMessage]:
        """Return the last ``n`` messages, oldest first, a summary (role "summary") before them if there is one.

        speaker: leaves out what belongs to another person. roles: which messages count.
        What the summary stands for is left out. Lines that are broken are skipped.
        """
        kept: list[SessionMessage] = []
        summary: SessionMessage | None = None
        allowed: int | None = None
        looked = 0
        for message in self._backwards(_parts(channel, conversation)):
            if speaker is not None and not speaker.may_see(message.person):
                continue
            if message.role == SUMMARY:
                if summary is None:
                    summary = message
                    keep = message.extra.get("keep", 0)
                    allowed = len(kept) + (keep if isinstance(keep, int) else 0)
            elif message.role in roles:
                looked += 1
                if len(kept) < n and (allowed is None or len(kept) < allowed):
                    kept.append(message)
            done = len(kept) >= n or (allowed is not None and len(kept) >= allowed)
            if done and (summary is not None or looked > n + _SUMMARY_REACH):
                break
        kept.reverse()
        return [summary, *kept] if summary is not None else kept

    def visible_text(
        self, parts: Parts, speaker: Speaker, own: str | None, *, probe: bool = False
    ) -> str:
        """Return the lines of a session file that a speaker may see, from the last 256 KB.

        own: path of the turn's own conversation, whose lines without an owner may be seen.
        probe: look at the very end only.
        """
        size = _PROBE_BYTES if probe else _SHOWN_BYTES
        try:
            data, _ = self._tree.read_from(parts, -size, size)
        except NotFound:
            if probe:
                return ""
            raise
        lines = data.split(b"\n")
        if len(data) == size and len(lines) > 1:
            lines = lines[1:]
        shown: list[str] = []
        for line in lines:
            record = _record(line)
            if record is None:
                continue
            if "person" in record:
                person = record["person"]
                visible = person is None or (
                    isinstance(person, str) and person == speaker.person
                )
            else:
                visible = own is not None and text_of(parts) == own
            if visible:
                shown.append(line.decode("utf-8", "replace"))
        return "\n".join(shown)

    def broken_lines(self, parts: Parts) -> int:
        """Return how many of the last 256 KB's lines are not messages."""
        try:
            data, _ = self._tree.read_from(parts, -_SHOWN_BYTES, _SHOWN_BYTES)
        except WorkspaceError:
            return 0
        lines = data.split(b"\n")
        if len(data) == _SHOWN_BYTES:
            lines = lines[1:]
        return sum(1 for line in lines if line.strip() and _record(line) is None)

    def _backwards(self, parts: Parts) -> Iterator[SessionMessage]:
        """Give the messages from the last one on, reading no more of the file than is used."""
        try:
            tail = b""
            size = _FIRST_BLOCK
            end: int | None = None
            while True:
                if end is None:
                    block, stamp = self._tree.read_from(parts, -size, size)
                    start = max(0, stamp.size - size)
                else:
                    start = max(0, end - size)
                    block, _ = self._tree.read_from(parts, start, end - start)
                end = start
                lines = (block + tail).split(b"\n")
                tail = lines[0]
                for line in reversed(lines[1:]):
                    message = _message(line)
                    if message is not None:
                        yield message
                if start == 0:
                    message = _message(tail)
                    if message is not None:
                        yield message
                    return
                size = min(size * 2, _LAST_BLOCK)
        except NotFound:
            return


def _parts(channel: str, conversation: str) -> Parts:
    return tuple(session_name(channel, conversation).strip("/").split("/"))


def _record(line: bytes) -> dict[str, Any] | None:
    """Return a line as a message's record, None when it is not one."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except ValueError, RecursionError:
        return None
    if not isinstance(record, dict):
        return None
    if not isinstance(record.get("role"), str) or not isinstance(
        record.get("content"), str
    ):
        return None
    return record


def _message(line: bytes) -> SessionMessage | None:
    record = _record(line)
    if record is None:
        return None
    role = record.pop("role")
    content = record.pop("content")
    ts = record.pop("ts", 0)
    person = record.pop("person", None)
    return SessionMessage(
        role,
        content,
        float(ts) if isinstance(ts, (int, float)) else 0.0,
        person if isinstance(person, str) else None,
        record,
    )
