"""Who may talk: nobody but those whom the options name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..people import speaker_for_person
from ..workspace.speaker import HOUSEHOLD, Speaker

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .update import Update

CONF_BOT: Final = "telegram_bot"
CONF_PEOPLE: Final = "telegram_people"
FOR_HOUSEHOLD: Final = "household"


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who may talk: who it is, and the login behind the person if any."""

    speaker: Speaker
    user_id: str | None = None


class Allowed:
    """Answers who is behind a chat or a user of Telegram."""

    def __init__(self, hass: HomeAssistant, options: Mapping[str, Any]) -> None:
        """Take the entry's options."""
        self._hass = hass
        people = options.get(CONF_PEOPLE)
        self._people: dict[str, str] = dict(people) if isinstance(people, dict) else {}

    def guest(self, update: Update) -> Guest | None:
        """Return who wrote it; None for whoever may not.

        In a private chat the person is mapped. In a group the group is, and the person
        who writes too: what a group may see is the group's, whoever asks.
        """
        who = self._named(update.user_id)
        if update.chat.private:
            return who if update.chat.chat_id == update.user_id else None
        return self._named(update.chat.chat_id) if who is not None else None

    def guest_of_chat(self, chat_id: int) -> Guest | None:
        """Return whom a chat belongs to."""
        return self._named(chat_id)

    def chat_of(self, person: str | None) -> int | None:
        """Return the private chat of a person, or for None one of the household."""
        wanted = FOR_HOUSEHOLD if person is None else f"person.{person}"
        ids = [int(key) for key, value in self._people.items() if value == wanted]
        return (
            max(ids, default=None)
            if person is None
            else next((one for one in ids if one > 0), None)
        )

    def chats(self) -> list[int]:
        """Return every chat that is named."""
        return [int(key) for key in self._people]

    def _named(self, number: int) -> Guest | None:
        value = self._people.get(str(number))
        if value == FOR_HOUSEHOLD:
            return Guest(HOUSEHOLD)
        if not value:
            return None
        state = self._hass.states.get(value)
        if state is None:
            # A person that is gone is nobody, not everybody.
            return None
        return Guest(
            speaker_for_person(self._hass, value), state.attributes.get("user_id")
        )


def addressed(update: Update, *, to_us: bool) -> str | None:
    """Return what is said to the bot in a group, None if it is not meant.

    `to_us` tells whether it answers a message of the bot. Commands for another bot and
    talk among people are not meant.
    """
    mention = f"@{update.bot_name}".lower()
    if update.kind == "command":
        name, _, bot = update.command.partition("@")
        meant = not bot or f"@{bot}".lower() == mention
        return f"{name} {update.text}".strip() if meant else None
    lowered = update.text.lower()
    at = lowered.find(mention) if update.bot_name else -1
    if at >= 0:
        text = update.text[:at] + update.text[at + len(mention) :]
        return " ".join(text.split()).strip(" ,:") or text.strip()
    return update.text if to_us else None
