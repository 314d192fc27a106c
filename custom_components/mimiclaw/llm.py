"""Our tools, offered to every other agent of Home Assistant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
import probatio

from .agent.toolbox import answer
from .const import DOMAIN
from .people import speaker_for_context
from .providers.protocol import ToolCall
from .tools.base import Tool, ToolContext

if TYPE_CHECKING:
    from .runtime import Runtime

CHANNEL = "llm"

#: What other agents may use: the relays, and the memory of whoever speaks. Files are
#: changed through the assistant alone.
OFFERED = (
    "append_note",
    "gpio_read",
    "gpio_read_all",
    "gpio_write",
    "read_file",
    "search_files",
)

_KINDS: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": probatio.Coerce(float),
    "boolean": bool,
}


def _schema(rules: Mapping[str, Any]) -> probatio.Schema:
    """Return a tool's JSON Schema as the schema Home Assistant knows."""
    fields: dict[Any, Any] = {}
    for name, rule in rules["properties"].items():
        marker = probatio.Required if name in rules["required"] else probatio.Optional
        kind = rule.get("type", "string")
        allowed = rule.get("enum")
        field = marker(name, description=rule.get("description"))
        fields[field] = probatio.In(list(allowed)) if allowed else _KINDS[kind]
    return probatio.Schema(fields)


class MimiClawTool(llm.Tool):
    """One of our tools in the hands of another agent."""

    integration = DOMAIN

    def __init__(self, runtime: Runtime, tool: Tool) -> None:
        """Take over name, description and arguments."""
        self._runtime = runtime
        self._tool = tool
        self.name = f"{DOMAIN}__{tool.name}"
        self.description = tool.spec.description
        self.parameters = _schema(tool.spec.parameters)
        self.annotations = llm.ToolAnnotations(
            read_only=tool.reads_only, destructive=False, open_world=False
        )

    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Run the tool in the name of whoever speaks to that agent.

        Such a turn knows of no yes that a person gave, so a channel that wants one
        is refused with a sentence.
        """
        speaker = speaker_for_context(hass, llm_context.context)
        context = ToolContext(
            view=self._runtime.workspace.view(speaker),
            speaker=speaker,
            channel=CHANNEL,
            conversation_id=llm_context.platform,
            language=llm_context.language or hass.config.language,
            now=dt_util.now,
        )
        call = ToolCall(tool_input.id, self._tool.name, tool_input.tool_args)
        outcome = await answer(self._tool, call, context)
        return llm.ToolResult(data={"text": outcome.text}, error=outcome.is_error)


@callback
def async_get_tools(
    hass: HomeAssistant, llm_context: llm.LLMContext, api_id: str
) -> LLMTools | None:
    """Return our tools for the Assist API, while an assistant is loaded."""
    if api_id != llm.LLM_API_ASSIST:
        return None
    entries = hass.config_entries.async_loaded_entries(DOMAIN)
    if not entries:
        return None
    runtime: Runtime = entries[0].runtime_data
    tools: list[llm.Tool] = [
        MimiClawTool(runtime, runtime.tools[name])
        for name in OFFERED
        if name in runtime.tools
    ]
    return LLMTools(tools=tools)
