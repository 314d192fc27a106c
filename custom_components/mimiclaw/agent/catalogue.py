"""The list of skills in the prompt: what each is for, and where to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import date

    from ..workspace.skills import Catalogue, Skill, Skills

#: Skills that came from elsewhere say so wherever they are named.
OWN: Final = frozenset({"shipped", "owner"})
#: What a skill needs that wants Home Assistant's own tools, whose names are not ours.
HOME_ASSISTANT: Final = "home_assistant"
#: An origin is whatever somebody wrote; a list line has room for so much of it.
_ORIGIN_CHARS: Final = 40
#: Languages and tool sets a household uses side by side.
_KEPT_TEXTS: Final = 16


@dataclass(frozen=True, slots=True)
class Offer:
    """What a turn has. Skills that need more are left out of it.

    language: BCP 47 tag, "" for any. satellite: whether there is one. tools: names of
    the turn's tools, None when they are not known.
    """

    language: str = ""
    satellite: bool = True
    tools: frozenset[str] | None = None

    @classmethod
    def of(cls, language: str, tools: Iterable[str], *, satellite: bool) -> Offer:
        """Return the offer of a turn with these tools."""
        names = frozenset(tools)
        # Home Assistant's tools carry the name of their integration: intent__HassTurnOn.
        if any("__" in name for name in names):
            names |= {HOME_ASSISTANT}
        return cls(language, satellite, names)

    def takes(self, skill: Skill) -> bool:
        """Tell whether the skill makes sense in the turn."""
        return skill.applies(
            language=self.language, satellite=self.satellite, tools=self.tools
        )


class Listing:
    """The list of a workspace's skills, made again only when something changed.

    Blocking: it looks at the files.
    """

    def __init__(self, skills: Skills, cap_bytes: int) -> None:
        self._skills = skills
        self._cap = cap_bytes
        self._made_of: Catalogue | None = None
        self._texts: dict[Offer, str] = {}

    def skills(self, today: date, offer: Offer) -> list[Skill]:
        """Return the skills that apply, newest use first."""
        found = self._skills.newest_first(today).skills
        return [skill for skill in found if offer.takes(skill)]

    def text(self, today: date, offer: Offer) -> str:
        """Return the list for a turn, "" when no skill applies."""
        catalogue = self._skills.newest_first(today)
        if catalogue is not self._made_of or len(self._texts) > _KEPT_TEXTS:
            self._texts = {}
            self._made_of = catalogue
        if offer not in self._texts:
            chosen = [skill for skill in catalogue.skills if offer.takes(skill)]
            self._texts[offer] = text(chosen, self._cap)
        return self._texts[offer]


def origin_mark(skill: Skill) -> str:
    """Return what stands beside a skill from elsewhere, "" for the house's own."""
    if skill.origin in OWN:
        return ""
    return f" [from {' '.join(skill.origin.split())[:_ORIGIN_CHARS]}]"


def _line(skill: Skill) -> str:
    return f"- {skill.title}: {skill.description} ({skill.path}){origin_mark(skill)}"


def _categories(counts: Counter[str], room: int) -> str:
    """Return the categories with their counts in `room` bytes, the largest of too many."""
    head = "More, to find with list_dir or search_files: "
    largest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for kept in range(len(largest), 0, -1):
        listed = "; ".join(
            f"/skills/{category} ({count})" if category else f"/skills ({count})"
            for category, count in sorted(largest[:kept])
        )
        if len((head + listed).encode()) <= room:
            return head + listed
    return ""


def text(skills: Sequence[Skill], cap_bytes: int) -> str:
    """Return one entry a skill in the order given, at most `cap_bytes` bytes.

    The cut falls between entries; what no longer fits is counted by category.
    """
    lines = [_line(skill) for skill in skills]
    whole = "\n".join(lines)
    if len(whole.encode()) <= cap_bytes:
        return whole
    left = Counter(skill.category for skill in skills)
    kept: list[str] = []
    used = 0
    best = ""
    for skill, line in zip(skills, lines, strict=True):
        if rest := _categories(left, cap_bytes - used):
            best = "\n".join([*kept, rest])
        kept.append(line)
        used += len(line.encode()) + 1
        if used > cap_bytes:
            break
        left[skill.category] -= 1
        if not left[skill.category]:
            del left[skill.category]
    return best
