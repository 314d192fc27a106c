"""A reply as its parts come in: its words, and whether anything was changed on the way."""

from __future__ import annotations

from typing import Final

from .agent.parts import Part, RoundStart, Text

#: Tools that change nothing; a turn that called only these may be begun again.
_HARMLESS: Final = (
    "read_",
    "list_",
    "search_",
    "web_",
    "get_",
    "gpio_read",
    "cron_list",
)


def changes_something(tool: str) -> bool:
    """Tell whether a call of this tool may have changed something."""
    return not tool.startswith(_HARMLESS)


class Reply:
    """The text of a reply as its parts come in: every message of it, none dropped."""

    def __init__(self) -> None:
        self._rounds: list[str] = []

    def take(self, part: Part) -> None:
        """Add what a part brings."""
        if isinstance(part, RoundStart):
            if not self._rounds or self._rounds[-1].strip():
                self._rounds.append("")
        elif isinstance(part, Text):
            if not self._rounds:
                self._rounds.append("")
            self._rounds[-1] += part.text

    @property
    def text(self) -> str:
        """Return the whole reply so far."""
        return "\n\n".join(one.strip() for one in self._rounds if one.strip())

    @property
    def last(self) -> str:
        """Return the last message of the reply: what is left when nobody watched."""
        return next((one.strip() for one in reversed(self._rounds) if one.strip()), "")
