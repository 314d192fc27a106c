"""Which words mean an entity behind which a relay of ours stands.

Home Assistant's own sentences and tools switch entities by name, area or floor, as an
automation would: past the rule who may act, and past the person's yes. Our turns go
there for everything else, never for a relay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from homeassistant.helpers import intent

from .satellite.targets import channel_of

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .satellite.model import Channel
    from .satellite.registry import Satellites

#: What a sentence or a tool call may name its targets by.
_PLACES: Final = ("name", "area", "preferred_area_id", "floor", "preferred_floor_id")


def relays_meant(
    hass: HomeAssistant, satellites: Satellites, slots: Mapping[str, Any]
) -> list[Channel]:
    """Return the relays among the entities that the slots of an intent mean.

    A call without any target means none.
    """
    if not any(slots.get(name) for name in (*_PLACES, "domain", "device_class")):
        return []
    wanted = intent.MatchTargetsConstraints(
        name=_text(slots.get("name")),
        area_name=_text(slots.get("area")),
        floor_name=_text(slots.get("floor")),
        domains=_texts(slots.get("domain")),
        device_classes=_texts(slots.get("device_class")),
        allow_duplicate_names=True,
    )
    found = (
        channel_of(hass, satellites, state.entity_id)
        for state in intent.async_match_targets(hass, wanted).states
    )
    return [channel for channel in found if channel is not None and channel.driven]


def _text(value: Any) -> str | None:
    return str(value) if value else None


def _texts(value: Any) -> set[str] | None:
    if not value:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        return {str(value)}
    return {str(one) for one in value}
