"""Home Assistant's own Assist tools, offered to our loop where the owner allows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import json
from typing import TYPE_CHECKING, Any, Final

from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
import probatio

from ..const import DOMAIN, LOGGER
from ..providers.protocol import ToolSpec
from .base import Tool, ToolContext, ToolError

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

#: Tools come from other integrations, some over the network; a turn does not wait long.
APIS_S: Final = 5.0
_RELAY: Final = (
    "Nothing was switched: that would touch a relay of a satellite. Use gpio_write for "
    "it by its name, and name the others one by one."
)


@dataclass(frozen=True, slots=True)
class AssistTools:
    """The tools, and what Home Assistant wants the model to know of them."""

    tools: tuple[Tool, ...] = ()
    prompt: str = ""


async def async_assist_tools(
    hass: HomeAssistant,
    api_ids: list[str],
    context: llm.LLMContext,
    means_relay: Callable[[Mapping[str, Any]], bool],
) -> AssistTools:
    """Return the tools of the chosen APIs; none where one of them is gone or hangs.

    `means_relay` tells whether a call's arguments mean one of our relays: those are
    gpio_write's, which knows who may act and who has to say yes.

    A tool whose schema cannot be told to a model is left out with a log line: one bad
    tool of another integration must not break every turn (home-assistant/core 160600).
    """
    if not api_ids:
        return AssistTools()
    try:
        async with asyncio.timeout(APIS_S):
            api = await llm.async_get_api(hass, api_ids, context)
    except (HomeAssistantError, TimeoutError) as err:
        LOGGER.warning("Assist's tools are not available: %r", err)
        return AssistTools()
    # Ours come back through llm.py; the loop has them already.
    foreign = [tool for tool in api.tools if tool.integration != DOMAIN]
    tools = (_adapt(api, tool, means_relay) for tool in foreign)
    return AssistTools(tuple(tool for tool in tools if tool), api.api_prompt)


def _adapt(
    api: llm.APIInstance,
    tool: llm.Tool,
    means_relay: Callable[[Mapping[str, Any]], bool],
) -> Tool | None:
    try:
        parameters = probatio.to_openapi(
            tool.parameters,
            custom_serializer=api.custom_serializer,
            openapi_version="3.1.0",
        )
        json.dumps(parameters)
    except Exception as err:  # noqa: BLE001  foreign code; the turn goes on without it
        LOGGER.warning(
            "The tool %s is left out, its schema is broken: %r", tool.name, err
        )
        return None

    async def run(arguments: Mapping[str, Any], _context: ToolContext) -> str:
        if not tool.annotations.read_only and means_relay(arguments):
            raise ToolError(_RELAY)
        try:
            asked = llm.ToolInput(tool_name=tool.name, tool_args=dict(arguments))
            result = await api.async_call_tool(asked)
        except (HomeAssistantError, probatio.Invalid) as err:
            raise ToolError(f"{type(err).__name__}: {err}") from err
        if result.error:
            raise ToolError(json_dumps(result.data))
        return json_dumps(result.data)

    return Tool(
        ToolSpec(tool.name, tool.description or "", {"type": "object", **parameters}),
        run,
        reads_only=tool.annotations.read_only,
        checked_by_us=False,
    )
