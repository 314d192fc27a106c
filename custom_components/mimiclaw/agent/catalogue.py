"""The list of skills in the prompt: what each is for, and where to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..workspace.skills import Skill

#: Skills that came from elsewhere say so wherever they are named.
OWN = frozenset({"shipped", "owner"})


def _line(skill: Skill) -> str:
    origin = "" if skill.origin in OWN else f" [from {skill.origin}]"
    return f"- {skill.title}: {skill.description} ({skill.path}){origin}"


def _categories(skills: Sequence[Skill]) -> str:
    counts = Counter(skill.category for skill in skills)
    listed = "; ".join(
        f"/skills/{category} ({count})" if category else f"/skills ({count})"
        for category, count in sorted(counts.items())
    )
    return f"More, to find with list_dir or search_files: {listed}"


def text(skills: Sequence[Skill], cap_bytes: int) -> str:
    """Return one entry a skill in the order given, at most `cap_bytes` bytes.

    The cut falls between entries; what no longer fits is counted by category.
    """
    lines = [_line(skill) for skill in skills]
    whole = "\n".join(lines)
    if len(whole.encode()) <= cap_bytes:
        return whole
    sizes = [len(line.encode()) + 1 for line in lines]
    kept = len(lines)
    used = sum(sizes)
    while kept:
        kept -= 1
        used -= sizes[kept]
        rest = _categories(skills[kept:])
        if used + len(rest.encode()) <= cap_bytes:
            return "\n".join([*lines[:kept], rest])
    return ""
