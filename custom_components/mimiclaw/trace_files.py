"""What each turn did, as a file a person can read, kept for a week.

They stand in a hidden folder of the workspace that no model reads: they hold what
people said.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
import re
import shutil
from typing import TYPE_CHECKING, Final

from .const import LOGGER

if TYPE_CHECKING:
    from .agent.trace import Trace
    from .message import Message

FOLDER: Final = ".traces"
KEPT: Final = timedelta(days=7)
#: A pasted page is not worth keeping twice.
_TEXT_CHARS: Final = 2000
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


class TraceFiles:
    """Writes one file a turn; a folder a day, so that old ones go at once."""

    def __init__(self, root: Path) -> None:
        """`root` is the workspace's real folder."""
        self._root = root / FOLDER
        self._pruned = ""

    def write(self, message: Message, trace: Trace, spoken: str, now: datetime) -> None:
        """Write down one turn. Blocking; trouble is logged, never raised."""
        day = f"{now:%Y-%m-%d}"
        name = _UNSAFE.sub("-", f"{message.channel}_{message.conversation_id}")[:60]
        file = self._root / day / f"{now:%H%M%S.%f}_{name}.md"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            page = text(message, trace, spoken, now)
            file.write_text(page, encoding="utf-8", errors="replace")
            if self._pruned != day:
                self._prune(now)
                self._pruned = day
        except OSError as err:
            LOGGER.warning("A trace was not written: %s", err)

    def _prune(self, now: datetime) -> None:
        oldest = f"{now - KEPT:%Y-%m-%d}"
        for folder in self._root.iterdir():
            if folder.is_dir() and folder.name < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def text(message: Message, trace: Trace, spoken: str, now: datetime) -> str:
    """Return a turn as it reads: who said what, what was called, what was answered."""
    who = message.speaker.name
    lines = [
        f"# {now:%Y-%m-%d %H:%M:%S} {message.channel} {message.conversation_id}",
        "",
        f"**{who}:** {message.text[:_TEXT_CHARS]}",
        "",
        *(f"    {line}" for line in trace.lines),
        *([""] if trace.lines else []),
        f"**MimiClaw:** {spoken[:_TEXT_CHARS]}",
        "",
    ]
    usage = trace.usage
    asked = f"{trace.provider} {trace.model}".strip() if trace.rounds else "no model"
    lines.append(
        f"[{trace.path}, {trace.outcome}, {asked}, {trace.rounds} rounds, "
        f"{trace.elapsed_ms():.0f} ms, {usage.input_tokens} tokens in, "
        f"{usage.cache_read_tokens} cached, {usage.output_tokens} out]"
    )
    lines += [f"[instead of: {reason}]" for reason in trace.switched]
    return "\n".join(lines) + "\n"
