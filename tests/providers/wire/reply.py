"""What a loopback server is told to answer."""

from __future__ import annotations

from dataclasses import dataclass, field
import json
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `raw` replaces the JSON of the arguments."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    call_id: str = ""
    raw: str | None = None

    @property
    def json(self) -> str:
        """The arguments as they go over the wire."""
        if self.raw is not None:
            return self.raw
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, and everything that can go wrong with it.

    Content: `thinking`, then `text`, then `calls`; `stop` is the format's own word and
    is found out if empty. `piece` is the length of a delta in characters.

    Trouble: `status` with `error` (type or code, message) and `headers` instead of a
    stream; `page` is a raw body of `content_type`. `stream_error` is sent as an event
    after `cut_after` events. `cut_after` ends the stream after so many events, cleanly
    or, with `abort`, by dropping the connection. `hang` accepts and never answers.

    Pace: `chunk` bytes a write, or two writes `split_at` one byte; `delay_s` seconds
    before the stream and `pause_s` between writes.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = ""
    piece: int = 8
    input_tokens: int = 100
    output_tokens: int = 20
    no_usage: bool = False
    status: int = 200
    error: tuple[str, str] = ("", "")
    headers: dict[str, str] = field(default_factory=dict)
    page: bytes | None = None
    content_type: str = "text/html"
    stream_error: tuple[str, str] | None = None
    cut_after: int | None = None
    abort: bool = False
    hang: bool = False
    hold_open: bool = False
    chunk: int | None = None
    split_at: int | None = None
    delay_s: float = 0.0
    pause_s: float = 0.0
    #: Events put in front of the last ones, as the format's own JSON.
    extra: tuple[dict[str, Any], ...] = ()


def pieces(text: str, size: int) -> list[str]:
    """Cut a text into deltas."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def shared_beginning(first: str, second: str) -> int:
    """Return how many characters two texts have in common from their start."""
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return number
    return min(len(first), len(second))
