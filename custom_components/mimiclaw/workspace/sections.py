"""The sections of a Markdown text: what stands under which heading, by line."""

from __future__ import annotations

from dataclasses import dataclass
import re

from .text import lines_of

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
_PIECE_LINES = 40
_PIECE_BYTES = 3 * 1024
_TITLE_WORDS = 8
_TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Section:
    """Lines ``start`` to ``end`` (from 1, both included); level 1–6, 0 for a headless part."""

    number: int
    level: int
    heading: str
    start: int
    end: int


def headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """Return (line from 1, level, text) of each heading outside fenced code."""
    found: list[tuple[int, int, str]] = []
    fence = ""
    first = 0
    if lines and lines[0].strip() == "---":
        # Front matter is no text.
        for place, line in enumerate(lines[1:200], start=1):
            if line.strip() in ("---", "..."):
                first = place + 1
                break
    for place in range(first, len(lines)):
        line = lines[place]
        mark = _FENCE.match(line)
        if mark:
            if not fence:
                fence = mark[1]
            elif mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
                fence = ""
            continue
        if fence:
            continue
        match = _HEADING.match(line) if "#" in line[:10] else None
        if match and match[2]:
            found.append((place + 1, len(match[1]), match[2].strip()))
        elif place > first and line[:4].strip()[:1] in ("=", "-"):
            under = _UNDERLINE.match(line)
            above = lines[place - 1].strip()
            if (
                under
                and above
                and above[0] not in "#-*>|`"
                and not _goes_on(lines, place)
            ):
                found.append((place, 1 if under[1][0] == "=" else 2, above))
    return found


def _goes_on(lines: list[str], place: int) -> bool:
    """Say whether the line above an underline belongs to a longer paragraph."""
    before = lines[place - 2].strip() if place >= 2 else ""
    return bool(before) and not before.startswith("#")


def sections_of(text: str) -> list[Section]:
    """Cut a text into sections that cover it wholly, in order, without overlap.

    By headings; a text without any is cut at paragraphs, each part titled by its first words.
    """
    lines = lines_of(text)
    marks = headings(lines)
    if len(marks) < 2 and len(text) > _PIECE_BYTES:
        return _by_paragraphs(lines, marks)
    parts: list[Section] = []
    if lines and (not marks or marks[0][0] > 1):
        end = marks[0][0] - 1 if marks else len(lines)
        if any(line.strip() for line in lines[:end]):
            parts.append(Section(1, 0, first_words(lines[:end]), 1, end))
    for place, (start, level, heading) in enumerate(marks):
        end = marks[place + 1][0] - 1 if place + 1 < len(marks) else len(lines)
        parts.append(Section(len(parts) + 1, level, heading, start, end))
    return parts


def with_children(sections: list[Section], section: Section) -> Section:
    """Return the section reaching to the end of its sub-sections."""
    if section.level == 0:
        return section
    end = section.end
    for later in sections[section.number :]:
        if later.level <= section.level:
            break
        end = later.end
    return Section(section.number, section.level, section.heading, section.start, end)


def find_section(sections: list[Section], wanted: str) -> list[Section]:
    """Return the sections a heading, a part of one, or a number names, best matches only."""
    plain = wanted.strip().lstrip("#").strip()
    if plain.isdecimal():
        number = int(plain)
        return [part for part in sections if part.number == number]
    key = _key(plain)
    if not key:
        return []
    exact = [part for part in sections if _key(part.heading) == key]
    if exact:
        return exact
    starts = [part for part in sections if _key(part.heading).startswith(key)]
    if starts:
        return starts
    return [part for part in sections if key in _key(part.heading)]


def first_words(lines: list[str]) -> str:
    """Return the first words of a passage, as a title for it."""
    for line in lines:
        plain = line.strip().lstrip("#>*-+ ").strip()
        if plain:
            words = plain.split()
            title = " ".join(words[:_TITLE_WORDS])
            cut = len(words) > _TITLE_WORDS or len(title) > _TITLE_CHARS
            return title[:_TITLE_CHARS].rstrip() + ("…" if cut else "")
    return ""


def first_sentence(lines: list[str], limit: int = 120) -> str:
    """Return the first sentence of a passage, at most ``limit`` characters."""
    for line in lines:
        plain = line.strip()
        if not plain or plain[0] in "#=|`~" or set(plain) <= {"-", "*", "_", " "}:
            continue
        sentence = _SENTENCE_END.split(plain.lstrip("-*+> ").strip(), maxsplit=1)[
            0
        ].strip()
        return (
            sentence if len(sentence) <= limit else sentence[: limit - 1].rstrip() + "…"
        )
    return ""


def title_of(text: str, name: str) -> str:
    """Return the first heading of a text, or what its file name says."""
    marks = headings(lines_of(text[:4096]))
    if marks:
        return marks[0][2][:200]
    return name.rsplit(".", 1)[0].replace("-", " ").replace("_", " ")


def _by_paragraphs(
    lines: list[str], marks: list[tuple[int, int, str]]
) -> list[Section]:
    """Cut a text without headings at blank lines into parts of about 3 KB."""
    parts: list[Section] = []
    start = 1
    size = 0
    for number, line in enumerate(lines, start=1):
        size += len(line.encode("utf-8")) + 1
        blank = not line.strip()
        big = size >= _PIECE_BYTES or number - start >= _PIECE_LINES
        far_too_big = size >= 2 * _PIECE_BYTES
        if (big and blank) or far_too_big or number == len(lines):
            block = lines[start - 1 : number]
            if any(text.strip() for text in block):
                heading = (
                    marks[0][2]
                    if marks and start <= marks[0][0] <= number
                    else first_words(block)
                )
                level = marks[0][1] if marks and marks[0][0] == start else 0
                parts.append(Section(len(parts) + 1, level, heading, start, number))
                start = number + 1
                size = 0
    return parts


def _key(heading: str) -> str:
    return " ".join(heading.casefold().replace("*", "").replace("`", "").split())
