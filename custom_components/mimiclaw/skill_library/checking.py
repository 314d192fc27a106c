"""What a skill has to be before it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import re
from typing import TYPE_CHECKING, Final

from ..workspace.errors import WorkspaceError
from ..workspace.names import check_new_name, parse
from ..workspace.skills import check_skill
from .errors import SkillRefused
from .limits import (
    DESCRIPTION_CHARS,
    GOOD_BYTES,
    NAME_CHARS,
    SKILL_BYTES,
    TITLE_CHARS,
)
from .references import ToolShape, complaints, references
from .secrets import secrets

if TYPE_CHECKING:
    from ..workspace.skills import Catalogue, Skill

_NOT_IN_NAMES: Final = re.compile(r"[^\w-]+")
#: Needs that are no tool.
_OTHER_NEEDS: Final = frozenset({"home_assistant"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a skill.

    errors: it cannot be kept. warnings: it can, and should be better. skill: what it
    would be in the list, None when it cannot be read at all.
    """

    path: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    skill: Skill | None = None


def skill_path(name: str, category: str = "") -> str:
    """Return where a skill of this name stands. Raises SkillRefused."""
    stem = _slug(name.strip().removesuffix(".md"))
    if not stem:
        raise SkillRefused(
            "The skill needs a name of 2 to 4 words, such as compost-turning."
        )
    if len(stem) > NAME_CHARS:
        raise SkillRefused(f"The name is longer than {NAME_CHARS} characters.")
    folder = _slug(category)
    path = f"/skills/{folder}/{stem}.md" if folder else f"/skills/{stem}.md"
    try:
        parts = parse(path)
        check_new_name(parts)
    except WorkspaceError as err:
        raise SkillRefused(str(err)) from err
    return path


def _slug(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text.strip().casefold()).strip("-_")


def judge(
    path: str,
    text: str,
    catalogue: Catalogue,
    tools: Mapping[str, ToolShape],
    *,
    foreign: bool = False,
) -> Verdict:
    """Return what is wrong with a text as the skill at a path.

    foreign: it comes from elsewhere, so tools that are not here are worth a warning only.
    """
    size = len(text.encode("utf-8", "replace"))
    try:
        skill = check_skill(path, text)
    except WorkspaceError as err:
        return Verdict(path, (str(err),))
    errors: list[str] = []
    warnings: list[str] = []
    if not skill.description:
        errors.append(
            "It has no description; after the title, write one paragraph that says when to use it."
        )
    elif len(skill.description) > DESCRIPTION_CHARS:
        warnings.append(
            f"The first paragraph is over {DESCRIPTION_CHARS} characters; say shortly when to use it, and the rest below."
        )
    if len(skill.title) > TITLE_CHARS:
        warnings.append(f"The title is over {TITLE_CHARS} characters.")
    if size > SKILL_BYTES:
        told = (
            f"It is {size / 1024:.1f} KB; {SKILL_BYTES // 1024} KB can be read at once."
        )
        (warnings if foreign else errors).append(told)
    elif size > GOOD_BYTES:
        warnings.append(
            f"It is {size / 1024:.1f} KB; {GOOD_BYTES // 1024} KB is enough."
        )
    errors += [
        f"Line {line} looks like {kind}; a skill holds none: everybody reads it."
        for line, kind in secrets(text)
    ]
    for other in catalogue.skills:
        if other.path == path:
            continue
        same = {skill.name.casefold(), skill.title.casefold()} & {
            other.name.casefold(),
            other.title.casefold(),
        }
        if same:
            errors.append(f"{other.path} has that name already; improve that one.")
    about_tools = dict.fromkeys(
        told for one in references(text, tools) for told in complaints(one, tools)
    )
    for need in skill.needs_tools:
        if need not in tools and need not in _OTHER_NEEDS:
            about_tools[f"It needs {need}, which is no tool here."] = None
    (warnings if foreign else errors).extend(about_tools)
    return Verdict(path, tuple(dict.fromkeys(errors)), tuple(warnings), skill)
