"""The assistant in Assist: a conversation entity that streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Literal

from homeassistant.components import conversation
from homeassistant.const import MATCH_ALL
from homeassistant.helpers import llm

from .agent.parts import Called, Calling, Part, RoundStart, Text, Thinking
from .agent.speech import SpeechText
from .areas import area_of_device
from .message import Message
from .people import speaker_for_context
from .service_device import service_device

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry

PARALLEL_UPDATES = 0
CHANNEL = "assist"

type Delta = (
    conversation.AssistantContentDeltaDict | conversation.ToolResultContentDeltaDict
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the one conversation entity."""
    async_add_entities([MimiClawConversation(entry)])


class MimiClawConversation(conversation.ConversationEntity):
    """Hands what Assist hears to the assistant and its reply to the chat log."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_supports_streaming = True
    _attr_supported_features = conversation.ConversationEntityFeature.CONTROL

    def __init__(self, entry: MimiClawConfigEntry) -> None:
        """Name the entity after the entry."""
        self._entry = entry
        self._attr_unique_id = entry.entry_id
        self._attr_device_info = service_device(entry)

    @property
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return that any language will do."""
        return MATCH_ALL

    async def _async_handle_message(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
    ) -> conversation.ConversationResult:
        """Answer one message."""
        message = Message(
            text=user_input.text,
            channel=CHANNEL,
            conversation_id=chat_log.conversation_id,
            language=user_input.language or self.hass.config.language,
            speaker=speaker_for_context(self.hass, user_input.context),
            context=user_input.context,
            device_id=user_input.device_id,
            area=area_of_device(self.hass, user_input.device_id),
            extra_prompt=user_input.extra_system_prompt or "",
        )
        reply = self._entry.runtime_data.assistant.handle(message)
        voice = user_input.device_id is not None or user_input.satellite_id is not None
        async with aclosing(_deltas(reply, SpeechText() if voice else None)) as deltas:
            async for _content in chat_log.async_add_delta_content_stream(
                self.entity_id, deltas
            ):
                pass
        return conversation.async_get_result_from_chat_log(user_input, chat_log)


async def _deltas(
    reply: AsyncGenerator[Part], speech: SpeechText | None
) -> AsyncGenerator[Delta]:
    """Turn the parts of a reply into the chat log's deltas.

    The tools run on our side, so their calls are marked as external. `speech` takes
    Markdown out of what will be heard.
    """
    async with aclosing(reply):
        open_message = False
        async for part in reply:
            match part:
                case RoundStart():
                    if speech and (left := speech.flush()):
                        yield {"content": left}
                    yield {"role": "assistant"}
                    open_message = True
                case Text(text=text):
                    if not open_message:
                        yield {"role": "assistant"}
                        open_message = True
                    if heard := speech.feed(text) if speech else text:
                        yield {"content": heard}
                case Thinking(text=text):
                    yield {"thinking_content": text}
                case Calling(call=call):
                    if speech and (left := speech.flush()):
                        yield {"content": left}
                    called = llm.ToolInput(
                        tool_name=call.name,
                        tool_args=dict(call.arguments or {}),
                        id=call.call_id,
                        external=True,
                    )
                    yield {"tool_calls": [called]}
                case Called(call=call, text=text, is_error=is_error):
                    yield {
                        "role": "tool_result",
                        "tool_call_id": call.call_id,
                        "tool_name": call.name,
                        "result": llm.ToolResult(data={"text": text}, error=is_error),
                    }
                    open_message = False
                case _:
                    pass
        if speech and (left := speech.flush()):
            yield {"content": left}
