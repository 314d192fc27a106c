"""Advice that goes back to the model with a successful write."""

from __future__ import annotations

import re

from .errors import NotText
from .names import Parts, text_of
from .paths import MEMORY_PROMPT_BYTES, NOTE_NAME
from .skill_page import FOLDER_FILE, check_skill

_VAGUE = re.compile(
    r"(?:new|note|notes|file|doc|document|text|data|untitled|misc|memo|info|temp|tmp|test|todo|stuff|page)?[-_ ]?\d*",
    re.IGNORECASE,
)
_FREE_NAMES = frozenset(
    {"MEMORY.md", "SKILL.md", "SOUL.md", "USER.md", "HEARTBEAT.md", "README.md"}
)


def hints_for(parts: Parts, text: str, *, new: bool) -> list[str]:
    """Return sentences on the name, the title and the budget of a written file."""
    found: list[str] = []
    name = parts[-1]
    stem, dot, suffix = name.rpartition(".")
    if new and not dot:
        found.append("The name has no ending; Markdown files end in .md.")
    if not name.endswith(".md"):
        return found
    fixed = (
        name in _FREE_NAMES
        or name.startswith("SOUL_")
        or NOTE_NAME.fullmatch(name) is not None
    )
    if new and not fixed and suffix and _is_vague(stem):
        found.append(
            "Name a new file in 3 to 5 words that say what is in it, for example garden-watering-schedule.md."
        )
    if (
        not text.lstrip("\ufeff \n").startswith(("# ", "---"))
        and name != "HEARTBEAT.md"
    ):
        found.append(
            "Begin the file with '# Title', so that it can be found by its title."
        )
    if parts[0] == "skills" and (len(parts) < 3 or name == FOLDER_FILE):
        try:
            check_skill(text_of(parts), text)
        except NotText as err:
            found.append(f"It is not in the list of skills yet: {err}")
    size = len(text.encode("utf-8", "replace"))
    if name == "MEMORY.md" and size > MEMORY_PROMPT_BYTES:
        found.append(
            f"{text_of(parts)} is {size / 1024:.1f} KB and only {MEMORY_PROMPT_BYTES // 1024} KB of it are always seen: "
            "merge what belongs together and move details to files of their own."
        )
    return found


def _is_vague(stem: str) -> bool:
    """Say whether a file name says too little; a few ideographs say as much as words."""
    if _VAGUE.fullmatch(stem):
        return True
    if not stem.isascii():
        return len(stem) < 2
    return len([word for word in re.split(r"[-_ .]+", stem) if word]) < 2
