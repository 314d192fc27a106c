"""Where an answer goes that nobody waits for: names and forms of targets."""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Final, Protocol

TELEGRAM: Final = "telegram"
NOTIFY: Final = "notify"
ANNOUNCE: Final = "assist_satellite"
NOTIFICATION: Final = "persistent_notification"
CHANNELS: Final = (TELEGRAM, NOTIFY, ANNOUNCE, NOTIFICATION)

TITLE: Final = "MimiClaw"
#: Option: where the assistant speaks by itself, as parse_target reads it.
CONF_DELIVER_TO: Final = "deliver_to"


class Undeliverable(Exception):
    """It reached nobody where it should have gone; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A channel and what is meant in it: a chat, an entity, or nothing."""

    channel: str
    id: str = ""

    def __str__(self) -> str:
        """Return it as options and actions write it."""
        return f"{self.channel}:{self.id}" if self.id else self.channel


def parse_target(text: str) -> Target | None:
    """Return the target that a text names, as "telegram:123" or "notify.phone"."""
    wanted = text.strip()
    if wanted.startswith((f"{NOTIFY}.", f"{ANNOUNCE}.")):
        return Target(wanted.partition(".")[0], wanted)
    channel, _, number = wanted.partition(":")
    if channel == TELEGRAM and re.fullmatch(r"-?\d+(_\d+)?", number):
        return Target(TELEGRAM, number)
    return Target(NOTIFICATION) if channel == NOTIFICATION else None


class Deliverer(Protocol):
    """Brings texts to people."""

    def target_for(self, channel: str, number: str, person: str | None) -> Target:
        """Return where a job of a channel and its id delivers."""

    def target_of(self, person: str | None) -> Target:
        """Return where a person, or the household, is reached."""

    def find(self, wanted: str, person: str | None) -> Target | None:
        """Return what a model's word for a target means."""

    async def deliver(self, target: Target, text: str, *, title: str = TITLE) -> None:
        """Bring a Markdown text to a target. Raises Undeliverable."""
