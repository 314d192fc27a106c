"""Who is speaking: a Home Assistant person, or the household."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.core import split_entity_id

from .workspace.paths import PERSON_PATTERN
from .workspace.speaker import HOUSEHOLD, Speaker

if TYPE_CHECKING:
    from homeassistant.core import Context, HomeAssistant

PERSON = "person"


def speaker_for_user(hass: HomeAssistant, user_id: str | None) -> Speaker:
    """Return the person whose login this is; without one, the household.

    A voice satellite, an automation and a login without a person speak for the
    household: they see nobody's private files.
    """
    if user_id is None:
        return HOUSEHOLD
    for state in hass.states.async_all(PERSON):
        if state.attributes.get("user_id") == user_id:
            return speaker_for_person(hass, state.entity_id)
    return HOUSEHOLD


def speaker_for_person(hass: HomeAssistant, entity_id: str) -> Speaker:
    """Return the speaker for a person entity; the household if there is no such.

    An id that is no name of a folder has no private files either.
    """
    state = hass.states.get(entity_id)
    person = split_entity_id(entity_id)[1]
    if state is None or not PERSON_PATTERN.fullmatch(person):
        return HOUSEHOLD
    return Speaker(person=person, name=state.name)


def speaker_for_context(hass: HomeAssistant, context: Context | None) -> Speaker:
    """Return who stands behind a context."""
    return speaker_for_user(hass, context.user_id if context else None)
