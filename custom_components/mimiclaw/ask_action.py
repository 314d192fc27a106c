"""The action `mimiclaw.ask`: a turn for automations and scripts, with its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.util.ulid import ulid_now
import probatio

from .assistant import whole_turn
from .const import DOMAIN
from .message import Message
from .people import speaker_for_context, speaker_for_person
from .satellite.targets import invalid

if TYPE_CHECKING:
    from homeassistant.core import ServiceResponse

    from .runtime import MimiClawConfigEntry

ASK = "ask"
CHANNEL = "action"
ATTR_TEXT = "text"
ATTR_LANGUAGE = "language"
ATTR_CONVERSATION = "conversation_id"
ATTR_PERSON = "person"

SCHEMA = probatio.Schema(
    {
        probatio.Required(ATTR_TEXT): cv.string,
        probatio.Optional(ATTR_LANGUAGE): cv.string,
        probatio.Optional(ATTR_CONVERSATION): cv.string,
        probatio.Optional(ATTR_PERSON): cv.entity_domain("person"),
    }
)


@callback
def async_setup_ask(hass: HomeAssistant) -> None:
    """Register the action."""
    hass.services.async_register(
        DOMAIN, ASK, _ask, schema=SCHEMA, supports_response=SupportsResponse.OPTIONAL
    )


async def _ask(call: ServiceCall) -> ServiceResponse:
    """Ask the assistant.

    A text that an automation made up is no person's command: it never takes the fast
    path, and it speaks for the household unless the caller is logged in.
    """
    hass = call.hass
    entries: list[MimiClawConfigEntry] = hass.config_entries.async_loaded_entries(
        DOMAIN
    )
    if not entries:
        raise invalid("not_loaded")
    speaker = speaker_for_context(hass, call.context)
    if person := call.data.get(ATTR_PERSON):
        if call.context.user_id is not None and speaker != speaker_for_person(
            hass, person
        ):
            # Whoever is logged in cannot read another person's memory this way.
            raise invalid("not_your_memory")
        speaker = speaker_for_person(hass, person)
    message = Message(
        text=call.data[ATTR_TEXT],
        channel=CHANNEL,
        conversation_id=call.data.get(ATTR_CONVERSATION) or ulid_now(),
        language=call.data.get(ATTR_LANGUAGE) or hass.config.language,
        speaker=speaker,
        context=call.context,
        system_turn=True,
    )
    text, done = await whole_turn(entries[0].runtime_data.assistant.handle(message))
    if not call.return_response:
        return None
    return {
        "text": text,
        "conversation_id": message.conversation_id,
        "outcome": done.record["outcome"] if done else "cancelled",
    }
