"""The second step after a miss: Home Assistant's own sentences, still without a model.

"Turn off the kitchen light" works from every channel this way. What concerns our relays
is left alone: the fast path has decided that it is not certainly a command for one, and
their confirmations are asked for by the fast path and the agent only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from hassil.recognize import RecognizeResult
from homeassistant.components import conversation
from homeassistant.components.intent import async_device_supports_timers
from homeassistant.core import Context
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent

from .const import LOGGER

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .message import Message

#: Answered better by whoever knows the conversation, or not worth an answer.
_NOT_HERE: Final = frozenset({intent.INTENT_NEVERMIND, intent.INTENT_RESPOND})
#: A timer rings on the device that was spoken to; one that cannot ring has none.
_TIMERS: Final = frozenset(
    {
        intent.INTENT_START_TIMER,
        intent.INTENT_CANCEL_TIMER,
        intent.INTENT_CANCEL_ALL_TIMERS,
        intent.INTENT_INCREASE_TIMER,
        intent.INTENT_DECREASE_TIMER,
        intent.INTENT_PAUSE_TIMER,
        intent.INTENT_UNPAUSE_TIMER,
        intent.INTENT_TIMER_STATUS,
    }
)
#: Without a model, Home Assistant's short answer is better than none.
_STATE: Final = frozenset({intent.INTENT_GET_STATE})


def _rings(hass: HomeAssistant, device_id: str | None) -> bool:
    """Tell whether the device that was spoken to can have timers."""
    return device_id is not None and async_device_supports_timers(hass, device_id)


async def async_answer(
    hass: HomeAssistant,
    message: Message,
    names: Iterable[str],
    means_relay: Callable[[Mapping[str, Any]], bool],
    *,
    has_model: bool,
) -> str | None:
    """Let Home Assistant carry out what it certainly understands; None for the rest.

    `names` are those of our channels, in any language. `means_relay` tells whether the
    slots of an intent mean an entity of one, whatever it is called there.
    """
    ours = {name.casefold() for name in names}

    def keep_out(result: RecognizeResult) -> bool:
        name = result.intent.name
        if name in _NOT_HERE or (has_model and name in _STATE):
            return True
        if name in _TIMERS and not _rings(hass, message.device_id):
            return True
        # "Turn the fan off in ten seconds": a command for later would come back past
        # the fast path, its names and its confirmations.
        if "conversation_command" in result.entities:
            return True
        slots = {key: slot.value for key, slot in result.entities.items()}
        if name not in _STATE and means_relay(slots):
            return True
        target = result.entities.get("name")
        if target is not None:
            said = {str(target.value).casefold(), str(target.text or "").casefold()}
            return not said.isdisjoint(ours)
        # "Everything in the garden" would take relays along.
        domain = result.entities.get("domain")
        return name in {intent.INTENT_TURN_ON, intent.INTENT_TURN_OFF} and (
            domain is None or "switch" in str(domain.value)
        )

    asked = conversation.ConversationInput(
        text=message.text,
        context=message.context or Context(),
        conversation_id=message.conversation_id,
        device_id=message.device_id,
        satellite_id=None,
        language=message.language,
        agent_id=conversation.HOME_ASSISTANT_AGENT,
    )
    # What Home Assistant notes down on the way is not part of the conversation.
    scratch = conversation.ChatLog(hass, message.conversation_id)
    try:
        response = await conversation.async_handle_intents(
            hass, asked, scratch, intent_filter=keep_out
        )
    except HomeAssistantError as err:
        LOGGER.warning("Home Assistant's own sentences failed: %s", err)
        return None
    if response is None:
        return None
    speech = response.speech.get("plain", {}).get("speech", "")
    return str(speech) or None
