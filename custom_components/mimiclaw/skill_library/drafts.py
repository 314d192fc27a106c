"""Skills that were checked and shown, and wait for the person's yes."""

from __future__ import annotations

from dataclasses import dataclass

from .limits import DRAFTS


@dataclass(frozen=True, slots=True)
class Draft:
    """One text that was found good, and where it would stand."""

    path: str
    text: str
    title: str


class Drafts:
    """Keeps the newest drafts in memory; what was not kept is gone at a restart."""

    def __init__(self) -> None:
        self._drafts: dict[tuple[str, str, str], Draft] = {}

    def put(self, conversation: tuple[str, str], draft: Draft) -> None:
        """Keep a draft of a conversation in place of the one of that path."""
        key = (*conversation, draft.path)
        self._drafts.pop(key, None)
        self._drafts[key] = draft
        while len(self._drafts) > DRAFTS:
            self._drafts.pop(next(iter(self._drafts)))

    def get(self, conversation: tuple[str, str], path: str) -> Draft | None:
        """Return the draft of a conversation for a path."""
        return self._drafts.get((*conversation, path))

    def drop(self, conversation: tuple[str, str], path: str) -> None:
        """Forget a draft."""
        self._drafts.pop((*conversation, path), None)
