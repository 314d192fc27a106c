"""What a turn did, one line a call, readable like a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import json
import re
import time
from typing import Any

from ..providers.protocol import Usage
from .catalogue import OWN

#: Arguments longer than this are shortened in the trace: it shows what was asked for,
#: the files hold the text itself.
ARGUMENT_CHARS = 120


#: In place of an error that may quote a person's own text.
_FAILED = "failed"
_OWN_FILES = re.compile(r"(/memory/users/[^/]+/).+")


def _wordless(name: str, value: Any) -> Any:
    """Return an argument without anybody's words: places, numbers and marks stay."""
    if name == "path" and isinstance(value, str):
        return _OWN_FILES.sub(r"\1…", value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return f"({len(value)} characters)" if isinstance(value, str) else "(…)"


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > ARGUMENT_CHARS:
        return f"{value[: ARGUMENT_CHARS - 1]}…"
    return value


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One call: tool, arguments, bytes of result, milliseconds."""

    tool: str
    arguments: Mapping[str, Any]
    result_bytes: int
    duration_ms: float
    error: str = ""
    #: Where the skill that was read came from, if it is not the house's own.
    origin: str = ""

    def without_words(self) -> TraceLine:
        """Return the line as everybody may see it: what was done, no word of it."""
        if self.tool.startswith("gpio_"):
            return self
        return replace(
            self,
            arguments={
                name: _wordless(name, value) for name, value in self.arguments.items()
            },
            error=_FAILED if self.error else "",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the line for an event."""
        line: dict[str, Any] = {
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "result_bytes": self.result_bytes,
            "duration_ms": round(self.duration_ms, 1),
        }
        if self.error:
            line["error"] = self.error
        if self.origin:
            line["origin"] = self.origin
        return line

    def __str__(self) -> str:
        """Return the line for a person."""
        asked = json.dumps(dict(self.arguments), ensure_ascii=False)
        end = f"✗ {self.error}" if self.error else f"{self.result_bytes} B"
        mark = f" [skill from {self.origin}]" if self.origin else ""
        return f"{self.tool} {asked} → {end}, {self.duration_ms:.1f} ms{mark}"


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """The tokens of one request, and who answered it."""

    provider: str
    model: str
    usage: Usage


@dataclass(slots=True)
class Trace:
    """The record of one turn as it grows. Times are from `started` on."""

    started: float = field(default_factory=time.perf_counter)
    lines: list[TraceLine] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    requests: list[RequestUsage] = field(default_factory=list)
    rounds: int = 0
    first_text_ms: float | None = None
    path: str = "agent"
    provider: str = ""
    model: str = ""
    outcome: str = "answered"
    #: Why another provider was asked, for each time.
    switched: list[str] = field(default_factory=list)
    #: Who failed in this turn, and how.
    failed: list[tuple[str, str]] = field(default_factory=list)
    #: Skills that were used, and where each came from.
    skills: dict[str, str] = field(default_factory=dict)

    @property
    def largest_request(self) -> int:
        """Return the tokens that the largest request took in, cached or not."""
        return max(
            (
                one.usage.input_tokens
                + one.usage.cache_read_tokens
                + one.usage.cache_write_tokens
                for one in self.requests
            ),
            default=0,
        )

    def elapsed_ms(self) -> float:
        """Return the milliseconds since the turn began."""
        return (time.perf_counter() - self.started) * 1000

    def text_seen(self) -> None:
        """Note when the first piece of the answer was there."""
        if self.first_text_ms is None:
            self.first_text_ms = self.elapsed_ms()

    def called(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        result: str,
        duration_ms: float,
        *,
        is_error: bool,
    ) -> TraceLine:
        """Add one call and return its line."""
        line = TraceLine(
            tool=tool,
            arguments={name: _short(value) for name, value in arguments.items()},
            result_bytes=len(result.encode("utf-8", "replace")),
            duration_ms=duration_ms,
            error=result.splitlines()[0][:200] if is_error and result else "",
            origin=self._foreign(arguments),
        )
        self.lines.append(line)
        return line

    def _foreign(self, arguments: Mapping[str, Any]) -> str:
        """Return where the skill that a call read came from, "" for the house's own."""
        path = str(arguments.get("path", "")).removeprefix("/spiffs")
        origin = self.skills.get(path, "")
        return "" if origin in OWN else origin

    def spent(self, usage: Usage) -> None:
        """Add the tokens of one request."""
        self.requests.append(RequestUsage(self.provider, self.model, usage))
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
            self.usage.cache_read_tokens + usage.cache_read_tokens,
            self.usage.cache_write_tokens + usage.cache_write_tokens,
        )

    def as_dict(self, *, private: bool = False) -> dict[str, Any]:
        """Return the record for the `mimiclaw_turn` event.

        private: the turn is one person's; the event is everybody's, so it tells what
        was called and holds none of the person's words.
        """
        first = self.first_text_ms
        lines = [one.without_words() if private else one for one in self.lines]
        return {
            "path": self.path,
            "outcome": self.outcome,
            "provider": self.provider,
            "model": self.model,
            "switched": list(self.switched),
            "failed_providers": [
                {"provider": provider, "kind": kind} for provider, kind in self.failed
            ],
            "rounds": self.rounds,
            "largest_request_tokens": self.largest_request,
            "duration_ms": round(self.elapsed_ms(), 1),
            "first_text_ms": None if first is None else round(first, 1),
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cache_read_tokens": self.usage.cache_read_tokens,
            "cache_write_tokens": self.usage.cache_write_tokens,
            "skills": [
                {"path": path, "origin": origin} for path, origin in self.skills.items()
            ],
            "tools": [line.as_dict() for line in lines],
            "trace": [str(line) for line in lines],
        }
