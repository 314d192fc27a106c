"""/HEARTBEAT.md: what stands in it to be done, and ticks for what was."""

from __future__ import annotations

import re

_HEADING = re.compile(r"\s*#")
_ITEM = re.compile(
    r"^(?P<before>\s*(?:[-*+]|\d+[.)])\s*\[)(?P<box>[ xX]?)(?P<after>\]\s*)(?P<text>.*)$"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def to_do(text: str) -> list[str]:
    """Return the lines that ask for something.

    Not blank ones, headings, comments, ticked boxes, or boxes without words.
    """
    found: list[str] = []
    for line in _COMMENT.sub("", text).splitlines():
        if not line.strip() or _HEADING.match(line):
            continue
        item = _ITEM.match(line)
        if item and (item["box"] in {"x", "X"} or not item["text"].strip()):
            continue
        if line.strip() in {"-", "*", "+", "---", "***"}:
            continue
        found.append(line.strip())
    return found


def done_items(answer: str) -> tuple[str, set[str]]:
    """Return an answer without its ticked lines, and the items these tick."""
    kept: list[str] = []
    done: set[str] = set()
    for line in answer.splitlines():
        item = _ITEM.match(line)
        if item and item["box"] in {"x", "X"}:
            done.add(_bare(item["text"]))
        else:
            kept.append(line)
    return "\n".join(kept).strip(), done


def tick(text: str, done: set[str]) -> str:
    """Return the file with the boxes of these items ticked; nothing else changes."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        item = _ITEM.match(bare)
        if item and item["box"] in {"", " "} and _bare(item["text"]) in done:
            ticked = f"{item['before']}x{item['after']}{item['text']}"
            lines[number] = ticked + line[len(bare) :]
    return "".join(lines)


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[*_`~]", "", text).split()).casefold().rstrip(".")
