"""The skills that a message is most likely about, for models that do not open files reliably."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Final

from ..workspace.tokens import is_gram, useful, words_of

if TYPE_CHECKING:
    from datetime import date

    from ..workspace.skills import Skill, Skills

#: A word of the title says more than one of the description.
_TITLE_WEIGHT: Final = 3.0
#: "water" and "watering" are the same matter: shared letters, and how many of the longer word.
_STEM_CHARS: Final = 4
_STEM_SHARE: Final = 0.6
#: Less than any shared word; it decides between skills that fit equally well.
_USE_BONUS: Final = 0.2
_USE_DAYS: Final = 30
#: A matching skill seldom comes alone: this many stand there once one matches.
_AT_LEAST: Final = 3


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    if one[:_STEM_CHARS] != other[:_STEM_CHARS] or is_gram(one):
        return False
    shared = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        shared += 1
    longest = max(len(one), len(other))
    return shared >= _STEM_CHARS and shared >= _STEM_SHARE * longest


@lru_cache(maxsize=2048)
def _words(text: str) -> tuple[str, ...]:
    return tuple(useful(words_of(text)))


def relevant(
    skills: Sequence[Skill], use: Skills, today: date, message: str, most: int
) -> list[Skill]:
    """Return at most `most` skills, the likeliest first; none when none has to do with it.

    Words of title and description count, rare ones more; then the last use decides.
    """
    wanted = _words(message)
    if not wanted or most <= 0:
        return []
    titles = [_words(f"{skill.title} {skill.name}") for skill in skills]
    about = [_words(skill.description) for skill in skills]
    scores = [0.0] * len(skills)
    for word in wanted:
        gains = [
            _TITLE_WEIGHT * any(_same(word, one) for one in title)
            + any(_same(word, one) for one in rest)
            for title, rest in zip(titles, about, strict=True)
        ]
        hits = sum(gain > 0 for gain in gains)
        if hits:
            rarity = log(1 + len(skills) / hits)
            scores = [
                score + gain * rarity for score, gain in zip(scores, gains, strict=True)
            ]
    matching = sum(score > 0 for score in scores)
    if not matching:
        return []
    for place, skill in enumerate(skills):
        day = use.last_use(skill.path, today)
        if day is not None:
            age = min((today - day).days, _USE_DAYS)
            scores[place] += _USE_BONUS * (1 - age / _USE_DAYS)
    order = sorted(range(len(skills)), key=lambda place: -scores[place])
    return [skills[place] for place in order[: min(most, max(matching, _AT_LEAST))]]
