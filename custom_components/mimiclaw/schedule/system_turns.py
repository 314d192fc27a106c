"""Turns that no person began: a job, the heartbeat, an event of an automation."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
import re
from typing import TYPE_CHECKING, Final, Protocol

from ..agent.parts import Calling, Done, Part
from ..reply import Reply, changes_something

if TYPE_CHECKING:
    from ..message import Message

#: What the model answers when nobody needs to hear anything. The original's word.
NOTHING: Final = "HEARTBEAT_OK"
#: Outcomes of a turn with an answer of the model's or ours that stands.
_ANSWERED: Final = frozenset({"answered"})
#: Text beside the word is politeness up to here, and a message beyond.
_ASIDE_CHARS: Final = 60


class Assistant(Protocol):
    """Turns messages into replies."""

    def handle(self, message: Message) -> AsyncGenerator[Part]:
        """Yield the parts of the reply."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a turn gave. `error` names its outcome when it did not come to an answer."""

    text: str
    error: str = ""

    @property
    def nothing(self) -> bool:
        """Tell whether there is nothing that anybody needs to hear."""
        return is_nothing(self.text)


def is_nothing(text: str) -> bool:
    """Tell whether an answer only says that there is nothing to report."""
    bare = re.sub(r"[\s*_`.!\"']+", " ", text.replace("HEARTBEAT OK", NOTHING)).strip()
    if not bare:
        return True
    if "HEARTBEAT OK" not in bare:
        return False
    return len(bare.replace("HEARTBEAT OK", "").strip()) <= _ASIDE_CHARS


async def run(
    assistant: Assistant,
    message: Message,
    acting: Callable[[], Awaitable[None]] | None = None,
) -> Said:
    """Run a turn to its end; `acting` is awaited before something may be changed."""
    reply = Reply()
    done: Done | None = None
    told = False
    async with aclosing(assistant.handle(message)) as parts:
        async for part in parts:
            reply.take(part)
            if isinstance(part, Done):
                done = part
            elif (
                acting is not None
                and not told
                and isinstance(part, Calling)
                and changes_something(part.call.name)
            ):
                told = True
                await acting()
    outcome = str(done.record.get("outcome", "")) if done is not None else "cancelled"
    return Said(reply.last, "" if outcome in _ANSWERED else outcome)
