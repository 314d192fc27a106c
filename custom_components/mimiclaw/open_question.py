"""A question of ours that waits for a person, and whose yes is an answer to it."""

from __future__ import annotations

from dataclasses import dataclass
import re
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .fast_path.command import Command
    from .message import Message
    from .tools.consent import Consent

#: A later yes is a yes to something else: who asked for a heater has left the room.
ANSWER_S: Final = 120.0
_SENTENCE_END: Final = re.compile(r"[.!?。！？\n]+")


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What was asked, whom, and when it stood there in full (time.monotonic)."""

    person: str | None
    user_id: str | None
    asked_at: float
    #: Commands of the fast path.
    commands: tuple[Command, ...] = ()
    #: What the agent's tools asked for.
    consents: frozenset[Consent] = frozenset()

    @property
    def over(self) -> bool:
        """Tell whether nobody can answer it any more."""
        return time.monotonic() - self.asked_at > ANSWER_S

    def is_for(self, message: Message, arrived: float) -> bool:
        """Tell whether a message may be the answer.

        It must be a person's own, from the one who was asked, and it must have come
        after the question was there: a word that waited in line knew nothing of it.
        """
        return (
            message.may_command
            and not self.over
            and arrived >= self.asked_at
            and (message.speaker.person, _user(message)) == (self.person, self.user_id)
        )


def question_to(
    message: Message,
    commands: Iterable[Command] = (),
    consents: Iterable[Consent] = (),
) -> OpenQuestion | None:
    """Return the question that a turn ends with, None if it asked nothing."""
    question = OpenQuestion(
        message.speaker.person,
        _user(message),
        time.monotonic(),
        tuple(commands),
        frozenset(consents),
    )
    return question if question.commands or question.consents else None


def named(names: Iterable[str], text: str, *, at_end: bool) -> bool:
    """Tell whether a text says one of the names; `at_end`: in its last sentence."""
    if at_end:
        sentences = [one for one in _SENTENCE_END.split(text) if one.strip()]
        text = sentences[-1] if sentences else ""
    folded = text.casefold()
    return any(name.casefold() in folded for name in names if name.strip())


def _user(message: Message) -> str | None:
    return message.context.user_id if message.context else None
