"""The other faces of the assistant: AI Task, the ask action, llm.py, diagnostics."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
import json
from pathlib import Path
from typing import Any

from homeassistant.components import ai_task
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers import llm, selector
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import probatio
import pytest

from custom_components.mimiclaw.const import DOMAIN
from custom_components.mimiclaw.diagnostics import async_get_config_entry_diagnostics
from custom_components.mimiclaw.trace_files import FOLDER
from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech

STRUCTURE = probatio.Schema(
    {probatio.Required("name"): selector.TextSelector(), probatio.Optional("age"): int}
)


async def ask(hass: HomeAssistant, context: Context | None = None, **data: Any) -> Any:
    return await hass.services.async_call(
        DOMAIN, "ask", data, blocking=True, return_response=True, context=context
    )


async def test_a_task_gives_text(
    hass: HomeAssistant, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(Reply(text="A rhyme."))
    await set_up(anthropic(server))
    done = await ai_task.async_generate_data(
        hass,
        task_name="rhyme",
        entity_id="ai_task.mimiclaw_task",
        instructions="Make a rhyme",
    )
    assert done.data == "A rhyme."


@pytest.mark.parametrize("text", ['{"name": "Mo"}', '```json\n{"name": "Mo"}\n```'])
async def test_a_task_gives_data(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, text: str
) -> None:
    server = await serve(Reply(text=text))
    await set_up(anthropic(server))
    done = await ai_task.async_generate_data(
        hass,
        task_name="cat",
        entity_id="ai_task.mimiclaw_task",
        instructions="Who is the cat?",
        structure=STRUCTURE,
    )
    assert done.data == {"name": "Mo"}
    assert '"name"' in str(server.asked[0]["system"])
    names = {tool["name"] for tool in server.asked[0]["tools"]}
    assert "gpio_write" not in names


async def test_a_task_that_fails_says_why(
    hass: HomeAssistant, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(
        Reply(status=401, error=("authentication_error", "bad")), Reply(text="no data")
    )
    await set_up(anthropic(server))
    for said in ("does not accept my key", "did not answer with the data"):
        with pytest.raises(HomeAssistantError, match=said):
            await ai_task.async_generate_data(
                hass,
                task_name="cat",
                entity_id="ai_task.mimiclaw_task",
                instructions="Who is the cat?",
                structure=STRUCTURE,
            )


async def test_ask_answers_and_goes_on(
    hass: HomeAssistant, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(Reply(text="Milk."), Reply(text="Two litres."))
    await set_up(anthropic(server))
    first = await ask(hass, text="What do we need?")
    assert first["text"] == "Milk."
    assert first["outcome"] == "answered"
    again = await ask(hass, text="How much?", conversation_id=first["conversation_id"])
    assert again["text"] == "Two litres."
    assert "What do we need?" in str(server.asked[1]["messages"])


async def test_ask_shows_nobody_another_persons_memory(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Hm."))
    await set_up(anthropic(server))
    own = workspace / "memory" / "users" / "anna"
    own.mkdir(parents=True)
    (own / "MEMORY.md").write_text("# Anna\nanna-secret\n")
    hass.states.async_set("person.anna", "home", {"user_id": "anna-login"})
    hass.states.async_set("person.ben", "home", {"user_id": "ben-login"})
    await ask(hass, text="Hello", person="person.anna")
    assert "anna-secret" in str(server.asked[-1]["system"])
    await ask(hass, text="Hello")
    assert "anna-secret" not in str(server.asked[-1])
    ben = Context(user_id="ben-login")
    with pytest.raises(ServiceValidationError):
        await ask(hass, ben, text="Hello", person="person.anna")
    await ask(hass, ben, text="Hello", person="person.ben")
    assert "anna-secret" not in str(server.asked[-1])


async def test_our_tools_are_offered_to_other_agents(
    hass: HomeAssistant, set_up: SetUp, workspace: Path
) -> None:
    assert await async_setup_component(hass, "llm", {})
    await set_up()
    context = llm.LLMContext("test", Context(), "en", "conversation", None)
    api = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
    names = {tool.name for tool in api.tools}
    assert {"mimiclaw__gpio_write", "mimiclaw__append_note"} <= names
    done = await api.async_call_tool(
        llm.ToolInput("mimiclaw__append_note", {"text": "from another agent"})
    )
    assert not done.error
    (daily,) = workspace.glob("memory/2*.md")
    assert "from another agent" in daily.read_text()
    failed = await api.async_call_tool(
        llm.ToolInput("mimiclaw__read_file", {"path": "/../secrets.yaml"})
    )
    assert failed.error


async def test_assists_tools_are_offered_to_ours_where_allowed(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, say: Say
) -> None:
    assert await async_setup_component(hass, "llm", {})
    assert await async_setup_component(hass, "intent", {})
    server = await serve(answer=lambda _body: Reply(text="Hm."))
    entry = await set_up(anthropic(server))
    await say("hello")
    assert not any("__" in tool["name"] for tool in server.asked[-1]["tools"])
    hass.config_entries.async_update_entry(entry, options={"llm_hass_api": ["assist"]})
    await hass.async_block_till_done()
    await say("hello")
    names = {tool["name"] for tool in server.asked[-1]["tools"]}
    assert any("__" in name for name in names)
    assert not any(name.startswith("mimiclaw__") for name in names)


async def test_diagnostics_hold_no_secret(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, say: Say, workspace: Path
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Hm."))
    entry = await set_up(anthropic(server))
    (workspace / "memory" / "secret-name.md").write_text("# Secret\n")
    await say("my-private-words")
    report = json.dumps(
        await async_get_config_entry_diagnostics(hass, entry), default=str
    )
    for secret in ("sk-test-secret", "my-private-words", "secret-name", server.url):
        assert secret not in report
    assert '"memory"' in report


async def test_a_refused_key_is_a_repair_until_it_works(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(
        Reply(status=401, error=("authentication_error", "bad")), Reply(text="Hm.")
    )
    await set_up(anthropic(server))
    await say("hello")
    issues = ir.async_get(hass)
    assert issues.async_get_issue(DOMAIN, "provider_Anthropic")
    await say("hello")
    assert not issues.async_get_issue(DOMAIN, "provider_Anthropic")


async def test_each_turn_leaves_a_readable_trace_for_a_week(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, say: Say, workspace: Path
) -> None:
    call = Call("read_file", {"path": "/memory/MEMORY.md"}, "a")
    server = await serve(Reply(calls=(call,)), Reply(text="Read."))
    await set_up(anthropic(server))
    old = workspace / FOLDER / f"{datetime.now(UTC) - timedelta(days=9):%Y-%m-%d}"
    old.mkdir(parents=True)
    await say("read your memory")
    await hass.async_block_till_done()
    today = workspace / FOLDER / f"{dt_util.now():%Y-%m-%d}"
    (file,) = today.iterdir()
    text = file.read_text()
    assert "read your memory" in text
    assert 'read_file {"path": "/memory/MEMORY.md"} → ' in text
    assert "**MimiClaw:** Read." in text
    assert "sk-test-secret" not in text
    assert not old.exists()


async def test_no_tool_reads_the_traces(
    hass: HomeAssistant,
    serve: Serve,
    set_up: SetUp,
    say: Say,
    turns: list[dict[str, Any]],
) -> None:
    calls = (
        Call("list_dir", {"path": f"/{FOLDER}"}, "a"),
        Call("search_files", {"query": "private-word"}, "b"),
    )
    server = await serve(Reply(text="Hm."), Reply(calls=calls), Reply(text="Done."))
    await set_up(anthropic(server))
    await say("a private-word", "one")
    assert speech(await say("look", "two")) == "Done."
    # They run side by side: whichever is done first stands first.
    lines = {line["tool"]: line for line in turns[1]["tools"]}
    assert lines["list_dir"]["error"]
