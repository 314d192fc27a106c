"""AI Task: text and structured data from whatever model the assistant uses."""

from __future__ import annotations

from json import JSONDecodeError
from pathlib import Path
import re
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components import ai_task, conversation
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import json_loads
import probatio

from .agent.parts import Done
from .assistant import whole_turn
from .const import DOMAIN
from .message import Message
from .providers.protocol import Image
from .service_device import service_device

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry

PARALLEL_UPDATES = 0
CHANNEL: Final = "task"
_JSON: Final = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
STRUCTURE: Final = """\
[This is a task of Home Assistant, nobody hears the answer.] Answer with one JSON object \
and nothing else. It must fit this JSON Schema: {schema}"""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the one entity."""
    async_add_entities([MimiClawTask(entry)])


class MimiClawTask(ai_task.AITaskEntity):
    """Hands a task to the assistant as a turn beside all conversations."""

    _attr_has_entity_name = True
    _attr_translation_key = "task"
    _attr_supported_features = (
        ai_task.AITaskEntityFeature.GENERATE_DATA
        | ai_task.AITaskEntityFeature.SUPPORT_ATTACHMENTS
    )

    def __init__(self, entry: MimiClawConfigEntry) -> None:
        """Stand under the assistant's own device."""
        self._entry = entry
        self._attr_unique_id = f"{entry.entry_id}_task"
        self._attr_device_info = service_device(entry)

    async def _async_generate_data(
        self, task: ai_task.GenDataTask, chat_log: conversation.ChatLog
    ) -> ai_task.GenDataTaskResult:
        """Do one task. Raises HomeAssistantError, translated."""
        extra = ""
        if task.structure:
            serializer = (
                chat_log.llm_api.custom_serializer
                if chat_log.llm_api
                else llm.selector_serializer
            )
            schema = probatio.to_openapi(
                task.structure, custom_serializer=serializer, openapi_version="3.1.0"
            )
            extra = STRUCTURE.format(schema=json_dumps(schema))
        images = await self.hass.async_add_executor_job(_images, task)
        message = Message(
            text=task.instructions,
            channel=CHANNEL,
            conversation_id=chat_log.conversation_id,
            language=self.hass.config.language,
            images=images,
            extra_prompt=extra,
            system_turn=True,
            aside=True,
            # A task asks for data: it has no business with relays or memory.
            tools=frozenset({"read_file", "search_files", "get_current_time"}),
        )
        text, done = await whole_turn(
            self._entry.runtime_data.assistant.handle(message)
        )
        _raise_unless_answered(text, done)
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(agent_id=self.entity_id, content=text)
        )
        data = _structured(text) if task.structure else text
        return ai_task.GenDataTaskResult(
            conversation_id=chat_log.conversation_id, data=data
        )


def _images(task: ai_task.GenDataTask) -> tuple[Image, ...]:
    """Read the pictures of a task. Blocking. Raises HomeAssistantError."""
    found = []
    for one in task.attachments or ():
        if not one.mime_type.startswith("image/"):
            raise HomeAssistantError(
                translation_domain=DOMAIN,
                translation_key="attachment_no_image",
                translation_placeholders={"kind": one.mime_type},
            )
        try:
            found.append(Image(one.mime_type, Path(one.path).read_bytes()))
        except OSError as err:
            raise _failed(f"{Path(one.path).name}: {err.strerror}") from err
    return tuple(found)


def _raise_unless_answered(text: str, done: Done | None) -> None:
    if done is None or done.record["outcome"] != "answered":
        raise _failed(text)


def _failed(reason: str) -> HomeAssistantError:
    return HomeAssistantError(
        translation_domain=DOMAIN,
        translation_key="task_failed",
        translation_placeholders={"reason": reason},
    )


def _structured(text: str) -> Any:
    """Return the JSON in an answer, whether or not it stands in a code block."""
    fenced = _JSON.search(text)
    try:
        return json_loads(fenced[1] if fenced else text)
    except JSONDecodeError as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN, translation_key="task_no_json"
        ) from err
