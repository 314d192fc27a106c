"""Files that cannot be used as they are; they are left alone and named to the owner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One file that was skipped.

    kind: not_text, too_large, not_a_file, link, broken_lines, broken_json, no_title,
    broken_front_matter, empty, duplicate, unreadable. detail: one sentence.
    """

    path: str
    kind: str
    detail: str
