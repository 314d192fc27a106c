"""Turn an outcome that is no success into an error in the owner's language."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from ..const import DOMAIN
from .model import Code, Outcome

if TYPE_CHECKING:
    from .registry import Satellites

#: Not the caller's mistake: the device or the network.
_BROKEN = frozenset(
    {
        Code.UNREACHABLE,
        Code.TIMEOUT,
        Code.FAILED,
        Code.QUEUE_FULL,
        Code.NOT_READY,
        Code.STALLED,
        Code.LINK_LOST,
        Code.SHUTTING_DOWN,
        Code.NOT_MOVED,
    }
)


def refusal_placeholders(satellites: Satellites, outcome: Outcome) -> dict[str, str]:
    """Return what the sentence for an outcome may name."""
    channel = satellites.channel(outcome.channel)
    other = satellites.channel(outcome.other)
    return {
        "channel": channel.name if channel else outcome.channel,
        "satellite": channel.satellite_name if channel else "",
        "other": other.name if other else outcome.other,
        "wait": seconds(outcome.wait_ms, up=True),
        "limit": seconds(outcome.limit_ms, up=False),
    }


def raise_if_refused(satellites: Satellites, outcome: Outcome) -> None:
    """Raise ServiceValidationError for a refusal, HomeAssistantError for a failure."""
    if outcome.ok:
        return
    error = HomeAssistantError if outcome.code in _BROKEN else ServiceValidationError
    raise error(
        translation_domain=DOMAIN,
        translation_key=f"channel_{outcome.code}",
        translation_placeholders=refusal_placeholders(satellites, outcome),
    )


def seconds(ms: int, *, up: bool) -> str:
    """Return milliseconds as seconds for a sentence: whole ones above ten.

    A wait is rounded up and a limit down, so that doing as told works.
    """
    step = 1000 if ms >= 10_000 else 100
    count = math.ceil(ms / step) if up else ms // step
    return f"{count * step / 1000:g}"
