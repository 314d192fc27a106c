"""Who speaks in a turn; decides what the turn may see."""

from __future__ import annotations

from dataclasses import dataclass

from .paths import PERSON_PATTERN


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person, or the household when nobody in particular is known to speak.

    person: name in paths (lower case, digits, underscore), None for the household.
    name: what to call the speaker in text.
    Raises ValueError for a person that is no safe path name.
    """

    person: str | None
    name: str

    def __post_init__(self) -> None:
        """Refuse a person that could be anything but one folder's name."""
        if self.person is not None and not PERSON_PATTERN.fullmatch(self.person):
            raise ValueError(f"not a person's path name: {self.person!r}")

    def may_see(self, owner: str | None) -> bool:
        """Say whether text owned by ``owner`` (None: the household) may be shown."""
        return owner is None or owner == self.person


HOUSEHOLD = Speaker(None, "the household")
