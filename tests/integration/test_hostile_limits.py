"""Floods, odd agents and odd calls: bounded, private, and always an answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
import pytest

from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech


async def test_another_agent_sees_only_who_speaks_to_it(
    hass: HomeAssistant, set_up: SetUp, workspace: Path
) -> None:
    assert await async_setup_component(hass, "llm", {})
    await set_up()
    hass.states.async_set("person.anna", "home", {"user_id": "anna-login"})
    own = workspace / "memory" / "users" / "anna"
    own.mkdir(parents=True)
    (own / "MEMORY.md").write_text("# Anna\n\nzebra\n")
    (workspace / "sessions" / "assist_c9.jsonl").write_text(
        '{"role":"user","content":"zebra","ts":1,"person":"anna"}\n'
    )

    async def call(user: str | None, tool: str, **arguments: Any) -> str:
        context = llm.LLMContext(
            "test", Context(user_id=user), "en", "conversation", None
        )
        api = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
        done = await api.async_call_tool(llm.ToolInput(f"mimiclaw__{tool}", arguments))
        return str(done.data)

    for user, sees in (("anna-login", True), ("ben-login", False), (None, False)):
        path = "/memory/users/anna/MEMORY.md"
        assert ("zebra" in await call(user, "read_file", path=path)) is sees
        found = await call(user, "search_files", query="zebra")
        assert ("users/anna" in found) is sees
        found = await call(user, "search_files", query="zebra", path="/sessions")
        assert ("assist_c9" in found) is sees
        text = await call(user, "read_file", path="/sessions/assist_c9.jsonl")
        assert ('"person"' in text) is sees
    assert "not known who speaks" in await call(
        None, "append_note", text="zebra", private=True
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 5000,
        "<tool_call>" + '{"name": "read_file", "arguments": ' * 3000,
        "{" * 20000,
        "[TOOL_CALLS]" * 2000,
    ],
)
async def test_a_model_that_prints_madness(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say, text: str
) -> None:
    server = await serve(answer=lambda _body: Reply(text=text, piece=4000))
    await set_up(anthropic(server))
    heard = speech(await say("hello"))
    assert heard
    assert "went wrong inside" not in heard


async def test_a_model_that_calls_without_end(
    hass: HomeAssistant,
    set_up: SetUp,
    serve: Serve,
    say: Say,
    turns: list[dict[str, Any]],
) -> None:
    many = tuple(
        Call("append_note", {"text": f"note {number}"}, f"c{number}")
        for number in range(200)
    )
    server = await serve(
        answer=lambda body: (
            Reply(text="Enough.")
            if body.get("tool_choice", {}).get("type") == "none"
            else Reply(calls=many)
        )
    )
    await set_up(anthropic(server))
    assert speech(await say("write it all down")) == "Enough."
    assert len(turns[0]["tools"]) == 10


async def test_many_conversations_leave_nothing(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Fine."))
    entry = await set_up(anthropic(server))
    for number in range(200):
        await say("hello", f"conversation-{number}")
    upkeep = entry.runtime_data.upkeep
    async with asyncio.timeout(10):
        while upkeep._tasks or upkeep._flushing:
            await asyncio.sleep(0.01)
    await entry.runtime_data.assistant.async_settled()
    await hass.async_block_till_done()
    assert len(entry.runtime_data.assistant._conversations) == 0


async def test_what_follows_a_turn_does_not_take_its_answer(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Fine."))
    entry = await set_up(anthropic(server))

    def broken(_message: object, _record: object) -> None:
        raise RuntimeError("broken")

    entry.runtime_data.assistant.async_listen(broken)
    assert speech(await say("hello")) == "Fine."
