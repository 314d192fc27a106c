"""The system prompt: assembled from files in a fixed order, capped, never retrieved.

Static text first, files next, nothing volatile, so that the provider's cache holds from
turn to turn. Each layer is cut on a character and a line, and the cut says what to call
to read the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..providers.protocol import SystemPart
from ..workspace import paths
from . import catalogue
from .profile import Profile
from .rules import RULES
from .trim import cut, fits

if TYPE_CHECKING:
    from ..workspace.view import View
    from ..workspace.workspace import Workspace

#: Between two layers.
_GAP = "\n\n"


def _rest(path: str) -> str:
    """Return the mark of a cut: what to call for the rest."""
    return f"[cut here; the rest: read_file {path}]"


class Prompt:
    """Assembles the prompt of a turn. Blocking: it reads files; call it off the loop."""

    def __init__(self, workspace: Workspace, profile: Profile) -> None:
        self._workspace = workspace
        self._profile = profile
        self._caps = profile.caps
        self._rules = cut(RULES, profile.caps.static, "")

    def assemble(
        self, view: View, language: str = "en", extra: str = ""
    ) -> tuple[SystemPart, ...]:
        """Return the layers for the view's speaker; `extra` is what a channel adds.

        The whole is at most the profile's cap, `extra` included.
        """
        layers = (
            self._personality(view),
            self._memory(view),
            self._notes(view),
            self._skills(view, language),
        )
        files = _GAP.join(layer for layer in layers if layer)
        room = self._caps.whole - len(self._rules.encode()) - len(_GAP)
        files = cut(files, room, _rest("the files named above"))
        parts = [SystemPart(self._rules), SystemPart(files)]
        room -= len(files.encode()) + len(_GAP)
        if extra and (text := cut(extra, room, "[cut here]")):
            parts.append(SystemPart(text, stable=False))
        return tuple(part for part in parts if part.text)

    def _file(self, view: View, path: str, cap: int) -> str:
        """Return a file under its path, in at most `cap` bytes, or nothing."""
        head = f"## {path}\n"
        room = cap - len(head.encode())
        text = view.prompt_text(path, max(0, room)).strip()
        if not text or room <= 0:
            return ""
        body = cut(text, room, _rest(path))
        return head + body if body else ""

    def _files(self, view: View, title: str, wanted: list[str], cap: int) -> str:
        """Return several files under one title, each taking what those before it left."""
        found: list[str] = []
        room = cap - len(title.encode()) - 1
        for path in wanted:
            if text := self._file(view, path, room - 1):
                found.append(text)
                room -= len(text.encode()) + 1
        return "\n".join([title, *found]) if found else ""

    def _personality(self, view: View) -> str:
        wanted = [paths.SOUL, paths.USER]
        text = self._files(view, "# Who you are", wanted, self._caps.personality)
        aspects = view.soul_aspects()
        if not aspects:
            return text
        listed = "; ".join(f"{one.path} ({one.title})" for one in aspects)
        line = f"\nFurther layers, to read when they matter: {listed}"
        return text + line if fits(text + line, self._caps.personality) else text

    def _memory(self, view: View) -> str:
        wanted = [paths.MEMORY]
        if person := view.speaker.person:
            wanted.append(paths.user_memory(person))
        # A long household memory must not push the person's own out.
        title = "# What you remember"
        if len(wanted) == 1:
            return self._files(view, title, wanted, self._caps.memory)
        own_cap = self._caps.memory // 4
        own = self._file(view, wanted[1], own_cap)
        room = self._caps.memory - len(own.encode()) - 1
        shared = self._files(view, title, wanted[:1], room)
        return (
            "\n".join(part for part in (shared or title, own) if part)
            if (shared or own)
            else ""
        )

    def _notes(self, view: View) -> str:
        notes = view.recent_notes(self._profile.note_days)
        wanted = [note.path for note in notes]
        return self._files(view, "# Recent notes", wanted, self._caps.notes)

    def _skills(self, view: View, language: str) -> str:
        title = "# Skills\n"
        skills = [
            skill
            for skill in self._workspace.skills.catalogue().skills
            if skill.applies(language=language)
        ]
        listing = catalogue.text(skills, self._caps.skills - len(title))
        return title + listing if listing else ""
