"""One skill as its file says it: front matter, title, first paragraph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
import re
from typing import Any

import yaml

from .errors import NotText
from .names import Parts, text_of
from .sections import headings
from .text import lines_of

FOLDER_FILE = "SKILL.md"
OWNER = "owner"
_DESCRIPTION_CHARS = 300
# A title stands near the top; looking through 200 whole pages for it costs a fast start.
_TOP_LINES = 20
_PLAIN = re.compile(
    r"([A-Za-z_][\w-]*):[ \t]+([^\s\[\]{}&*!|>'\"%@`#,?:-][^#:\[\]{}]*)$"
)
_LIST = re.compile(r"([A-Za-z_][\w-]*):[ \t]+\[([\w, -]*)\]$")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "~"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    path: what to read for the whole of it. category: "" at the top. languages: codes it is for,
    empty for all. needs_satellite, needs_tools: left out of a turn that has them not.
    origin: "shipped", "owner", or what its front matter says it came from (an import).
    meta: the whole front matter.
    """

    name: str
    path: str
    title: str
    description: str
    category: str = ""
    languages: tuple[str, ...] = ()
    needs_satellite: bool = False
    needs_tools: tuple[str, ...] = ()
    origin: str = OWNER
    bytes: int = 0
    meta: dict[str, Any] = field(default_factory=dict, compare=False)

    def applies(
        self,
        *,
        language: str = "",
        satellite: bool = True,
        tools: Iterable[str] | None = None,
    ) -> bool:
        """Say whether the skill makes sense in a turn of this language, with these tools."""
        if (
            self.languages
            and language
            and not any(_same_language(one, language) for one in self.languages)
        ):
            return False
        if self.needs_satellite and not satellite:
            return False
        return tools is None or set(self.needs_tools) <= set(tools)


class BadSkill(Exception):
    """A file that is no skill: kind and sentence."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


def check_skill(path: str, text: str) -> Skill:
    """Return the skill a text would be at a path. Raises NotText with what is wrong with it."""
    try:
        return parse_skill(tuple(path.strip("/").split("/")), text)
    except BadSkill as err:
        raise NotText(str(err)) from err


def parse_skill(parts: Parts, text: str, size: int = 0) -> Skill:
    """Read a skill's front matter, title and first paragraph. size: of its file, in bytes."""
    path = text_of(parts)
    if not text.strip():
        raise BadSkill(
            "empty", f"{path} is empty; begin it with '# Title' and a first paragraph."
        )
    lines = lines_of(text)
    meta, first = _front_matter(lines, path)
    folder = parts[-1] == FOLDER_FILE
    fallback = parts[-2] if folder else parts[-1].rsplit(".", 1)[0]
    body = [""] * first + lines[first:]
    # Only a page without a title near its top is looked through.
    marks = headings(body[: first + _TOP_LINES]) or headings(body)
    name = str(meta.get("name") or fallback).strip()
    title = str(meta.get("title") or "").strip() or (
        marks[0][2] if marks else str(meta.get("name") or "").strip()
    )
    if not title:
        raise BadSkill("no_title", f"{path} has no title; begin it with '# Title'.")
    start = marks[0][0] if marks else first
    description = str(meta.get("description") or "").strip() or _first_paragraph(
        body[start:]
    )
    levels = parts[1:-2] if folder else parts[1:-1]
    needs = meta.get("needs", ())
    needs = (
        (needs,)
        if isinstance(needs, str)
        else tuple(needs)
        if isinstance(needs, (list, tuple))
        else ()
    )
    wanted = {str(one).strip().lower() for one in needs}
    return Skill(
        name=name,
        path=path,
        title=title,
        description=" ".join(description.split())[:_DESCRIPTION_CHARS],
        category="/".join(levels),
        languages=_strings(meta.get("languages", meta.get("language"))),
        needs_satellite="satellite" in wanted or meta.get("needs_satellite") is True,
        needs_tools=tuple(
            sorted({*_strings(meta.get("needs_tools")), *(wanted - {"satellite"})})
        ),
        origin=str(meta.get("origin") or meta.get("source") or OWNER),
        bytes=size,
        meta=meta,
    )


def _front_matter(lines: list[str], path: str) -> tuple[dict[str, Any], int]:
    """Return the block between the first two '---' lines, and the line after it."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    end = next(
        (
            place
            for place, line in enumerate(lines[1:], start=1)
            if line.strip() in ("---", "...")
        ),
        None,
    )
    if end is None:
        raise BadSkill(
            "broken_front_matter",
            f"The front matter of {path} has no closing '---' line.",
        )
    block = lines[1:end]
    simple = _simple(block)
    if simple is not None:
        return simple, end + 1
    try:
        meta = yaml.load("\n".join(block), Loader=_LOADER)  # noqa: S506  a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        place = getattr(err, "problem_mark", None)
        where = f" near its line {place.line + 2}" if place is not None else ""
        raise BadSkill(
            "broken_front_matter", f"The front matter of {path} is not YAML{where}."
        ) from err
    if meta is None:
        return {}, end + 1
    if not isinstance(meta, dict):
        raise BadSkill(
            "broken_front_matter",
            f"The front matter of {path} is not a list of 'name: value' lines.",
        )
    return {str(key): value for key, value in meta.items()}, end + 1


def _simple(block: list[str]) -> dict[str, Any] | None:
    """Read a block of plain 'name: words' lines without the cost of a YAML parser."""
    found: dict[str, Any] = {}
    for line in block:
        if not line.strip():
            continue
        listed = _LIST.match(line.rstrip())
        if listed is not None and listed[1] not in found:
            values = [one.strip() for one in listed[2].split(",")]
            if not all(map(_is_word, values)):
                return None
            found[listed[1]] = values
            continue
        match = _PLAIN.match(line.rstrip())
        if match is None or match[1] in found:
            return None
        value = match[2].strip()
        if not _is_word(value):
            return None
        found[match[1]] = value
    return found


def _is_word(value: str) -> bool:
    """Say whether YAML takes a value for text: it begins with a letter and is no constant."""
    return value[:1].isalpha() and value.casefold() not in _WORDS


def _first_paragraph(lines: list[str]) -> str:
    """Return the first block of running text; blank lines and headings before it are skipped."""
    block: list[str] = []
    for line in lines:
        plain = line.strip()
        if not plain or plain.startswith(("#", "```", "~~~", "---")):
            if block:
                break
            continue
        block.append(plain.lstrip("> ").strip())
    return " ".join(block)


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)):
        return tuple(str(part).strip() for part in value if str(part).strip())
    return ()


def _same_language(one: str, other: str) -> bool:
    return (
        one.casefold().replace("_", "-").split("-")[0]
        == other.casefold().replace("_", "-").split("-")[0]
    )
