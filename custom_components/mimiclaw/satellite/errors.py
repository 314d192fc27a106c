"""The one exception of this room, and what may be wrong with a link."""

from __future__ import annotations

from enum import StrEnum


class Trouble(StrEnum):
    """What is wrong, as far as somebody can do something about it.

    UNREACHABLE and TIMEOUT pass by themselves; the others are the owner's to mend.
    """

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    RESOLVE = "resolve"
    KEY_NEEDED = "key_needed"
    KEY_WRONG = "key_wrong"
    KEY_REMOVED = "key_removed"
    WRONG_DEVICE = "wrong_device"
    NOT_SATELLITE = "not_satellite"
    VERSION = "version"
    BAD_ANSWER = "bad_answer"
    NOT_LENT = "not_lent"


#: Nothing to mend: the device is away, or the network is.
PASSING = frozenset({Trouble.UNREACHABLE, Trouble.TIMEOUT, Trouble.RESOLVE})


class LinkError(Exception):
    """A device could not be used. `detail` is for the log and for issue texts."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(f"{trouble}: {detail}" if detail else str(trouble))
        self.trouble = trouble
        self.detail = detail
