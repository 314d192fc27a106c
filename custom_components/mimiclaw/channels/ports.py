"""What the channels need of the rooms they open into."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..agent.parts import Part
    from ..fast_path.grammar import Grammar
    from ..message import Message


class Assistant(Protocol):
    """Turns messages into replies."""

    def handle(self, message: Message) -> AsyncGenerator[Part]:
        """Yield the parts of the reply."""


class Commander(Protocol):
    """Carries out what the fast path understands."""

    @property
    def grammar(self) -> Grammar:
        """Return what is understood with."""
