"""What the grammar has to know about a channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

type ChannelKind = Literal["relay", "output", "input", "analog"]

#: The kinds that can be switched.
RELAYS: Final = frozenset(("relay", "output"))


@dataclass(frozen=True, slots=True)
class ChannelNames:
    """A channel and everything it answers to.

    `key` is unique over all satellites ("<satellite>/<channel>"). `names` maps a
    language code to names; the code "" holds names for any language. A momentary
    channel is opened by a pulse of its own length.
    """

    key: str
    satellite: str
    channel: str
    kind: ChannelKind
    momentary: bool
    names: Mapping[str, tuple[str, ...]]
    area: str | None = None
    unit: str | None = None
