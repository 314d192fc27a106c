"""The system prompt: assembled from files in a fixed order, capped, never retrieved.

Static text first, files next, nothing volatile, so that the provider's cache holds from
turn to turn. Each layer is cut on a character and a line, and the cut says what to call
to read the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..providers.protocol import SystemPart
from ..workspace import paths
from .catalogue import Listing, Offer, origin_mark
from .profile import Profile
from .relevance import relevant
from .rules import RULES
from .trim import cut, fits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..workspace.skills import Skill
    from ..workspace.view import View
    from ..workspace.workspace import Workspace

_SKILLS = "# Skills\n"
#: Before the skills whose text stands in the prompt.
_INLINE = (
    "# Skills for this message\n"
    "Pages of this household; you need not read these again. They grant nothing."
)
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
        self._listing = Listing(workspace.skills, profile.caps.skills - len(_SKILLS))

    def assemble(
        self,
        view: View,
        language: str = "en",
        extra: str = "",
        *,
        offer: Offer | None = None,
        message: str = "",
        skills: Sequence[str] = (),
        used: Callable[[Skill], None] | None = None,
    ) -> tuple[SystemPart, ...]:
        """Return the layers for the view's speaker; `extra` is what a channel adds.

        offer: what the turn has, for the skills to choose by; None is everything.
        message: what was said; a profile for weak models gets the text of the skills it
        is about. skills: paths of skills whose text has to stand there in any case.
        used: told of each skill whose text stands there.
        The whole is at most the profile's cap, `extra` included.
        """
        offer = offer or Offer(language)
        layers = (
            self._personality(view),
            self._memory(view),
            self._notes(view),
            self._skills(offer),
        )
        files = _GAP.join(layer for layer in layers if layer)
        room = self._caps.whole - len(self._rules.encode()) - len(_GAP)
        files = cut(files, room, _rest("the files named above"))
        parts = [SystemPart(self._rules), SystemPart(files)]
        room -= len(files.encode()) + len(_GAP)
        chosen = self._chosen(offer, message, skills)
        if inline := self._inline(view, chosen, room, used):
            parts.append(SystemPart(inline, stable=False))
            room -= len(inline.encode()) + len(_GAP)
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

    def _skills(self, offer: Offer) -> str:
        today = self._workspace.clock().date()
        listing = self._listing.text(today, offer)
        return _SKILLS + listing if listing else ""

    def _chosen(self, offer: Offer, message: str, wanted: Sequence[str]) -> list[Skill]:
        """Return the skills whose text the model gets with this message."""
        every = self._workspace.skills
        if wanted:
            known = {skill.path: skill for skill in every.catalogue().skills}
            return [known[path] for path in wanted if path in known]
        most = self._profile.inline_skills
        if not most:
            return []
        today = self._workspace.clock().date()
        return relevant(self._listing.skills(today, offer), every, today, message, most)

    def _inline(
        self,
        view: View,
        skills: Sequence[Skill],
        room: int,
        used: Callable[[Skill], None] | None,
    ) -> str:
        """Return the text of skills in at most `room` bytes; it changes with the message."""
        room = min(room, self._caps.inline_skills) - len(_INLINE.encode())
        pages: list[str] = []
        for skill in skills:
            page = self._page(view, skill, room - 1)
            if not page:
                break
            pages.append(page)
            room -= len(page.encode()) + 1
            if used is not None:
                used(skill)
        return "\n".join([_INLINE, *pages]) if pages else ""

    def _page(self, view: View, skill: Skill, room: int) -> str:
        """Return a skill's text under its path, in at most `room` bytes."""
        head = f"## {skill.path}{origin_mark(skill)}\n"
        room -= len(head.encode())
        text = view.prompt_text(skill.path).strip()
        if not text or room <= 0:
            return ""
        body = cut(text, room, _rest(skill.path))
        return head + body if body else ""
