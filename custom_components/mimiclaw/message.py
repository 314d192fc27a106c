"""What came in, and from where."""

from __future__ import annotations

from dataclasses import dataclass, replace
import re
from typing import TYPE_CHECKING, Final

from .providers.protocol import Image
from .providers.wire import whole
from .workspace.speaker import HOUSEHOLD, Speaker

if TYPE_CHECKING:
    from homeassistant.core import Context

#: A BCP 47 tag as Home Assistant and speech services write it.
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,3}")


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Code fills it in; no model has a say in it."""

    text: str
    channel: str
    conversation_id: str
    language: str
    speaker: Speaker = HOUSEHOLD
    context: Context | None = None
    device_id: str | None = None
    #: The area of the device that was spoken to; it breaks a tie between two names.
    area: str | None = None
    images: tuple[Image, ...] = ()
    #: What the channel wants the model to know of this message; stands after the files.
    extra_prompt: str = ""
    #: A fired job or a heartbeat. Its text never moves a relay by the fast path.
    system_turn: bool = False
    #: A turn beside the conversation (a memory flush): it sees the session and leaves
    #: no line in it, and nobody waits for it.
    aside: bool = False
    #: It writes to the speaker's own files alone, if the speaker is a person.
    own_only: bool = False
    #: The only tools the turn may use; None for all.
    tools: frozenset[str] | None = None
    #: Paths of skills whose text the model gets with the message.
    skills: tuple[str, ...] = ()

    @property
    def may_command(self) -> bool:
        """Tell whether the text is a person's own, so that it may move a relay."""
        return not self.system_turn and not self.aside

    def sound(self, language: str) -> Message:
        """Return it without halves of characters, and with a language that is one.

        Whatever a client sends goes into files, caches and requests from here on.
        """
        return replace(
            self,
            text=whole(self.text),
            extra_prompt=whole(self.extra_prompt),
            language=self.language if _LANGUAGE.fullmatch(self.language) else language,
        )

    @property
    def key(self) -> tuple[str, str]:
        """Return what the conversation is known by."""
        return self.channel, self.conversation_id
