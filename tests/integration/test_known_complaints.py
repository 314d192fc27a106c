"""What users of Home Assistant's own agents reported, by its number there."""

from __future__ import annotations

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
import pytest

from scripts.house.twin import Twin
from tests.providers.wire.reply import Reply

from .conftest import Say, Serve, SetUp, anthropic, speech
from .test_relays import ready, satellite


async def test_132392_the_model_knows_what_was_done_without_it(
    hass: HomeAssistant, twin: Twin, serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(Reply(text="I turned on the pump."))
    await ready(hass, await set_up(anthropic(server), satellite(twin)))
    await say("turn on the water pump")
    assert not server.asked
    await say("what did you just do?")
    messages = server.asked[0]["messages"]
    assert "turn on the water pump" in str(messages[0])
    assert "Water pump is on." in str(messages[1])


async def test_179964_two_pipelines_do_not_share_a_history(
    serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Hm."))
    await set_up(anthropic(server))
    await say("a word of the kitchen", "kitchen")
    await say("a word of the bedroom", "bedroom")
    assert "kitchen" not in str(server.asked[1]["messages"])


class BrokenTool(llm.Tool):
    """A tool of another integration whose schema is none."""

    name = "other__broken"
    description = "Broken."
    integration = "other"

    @property
    def parameters(self) -> Any:  # type: ignore[override]
        """Fail, as a schema of another integration may."""
        raise ValueError("no schema")

    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Do nothing."""
        return llm.ToolResult(data={})


class GoodTool(llm.Tool):
    """A tool of another integration that works."""

    name = "other__good"
    description = "Good."
    integration = "other"

    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Do nothing."""
        return llm.ToolResult(data={})


class OtherAPI(llm.API):
    """Another integration's tools."""

    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        tools: list[llm.Tool] = [BrokenTool(), GoodTool()]
        return llm.APIInstance(self, "", llm_context, tools)


async def test_160600_and_181322_one_bad_tool_does_not_break_every_turn(
    hass: HomeAssistant,
    serve: Serve,
    set_up: SetUp,
    say: Say,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert await async_setup_component(hass, "llm", {})
    llm.async_register_api(hass, OtherAPI(hass=hass, id="other", name="Other"))
    server = await serve(Reply(text="Fine."))
    await set_up(anthropic(server), options={"llm_hass_api": ["other"]})
    assert speech(await say("hello")) == "Fine."
    names = {tool["name"] for tool in server.asked[0]["tools"]}
    assert "other__good" in names
    assert "other__broken" not in names
    assert "other__broken" in caplog.text


async def test_177239_the_cache_key_is_the_assistants_and_never_a_persons(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Hm."))
    await set_up(anthropic(server))
    for number in range(2):
        await say(f"message {number}", f"conversation {number}")
    first, second = (
        [block["text"] for block in asked["system"]] for asked in server.asked
    )
    assert first == second
    marked = [block for block in server.asked[0]["system"] if "cache_control" in block]
    assert marked
