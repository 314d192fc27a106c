"""What can be wrong with a skill that somebody wants to keep."""

from __future__ import annotations


class SkillRefused(Exception):
    """The skill was not kept; ``str(error)`` says why, in a sentence or a list of them."""
