"""Assist talks to the assistant: streaming, tools, history, the chat log."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session
import pytest

from tests.providers.wire.reply import Call, Reply

from .conftest import AGENT, Say, Serve, SetUp, anthropic, speech


async def test_an_answer(say: Say, serve: Serve, set_up: SetUp) -> None:
    server = await serve(Reply(text="Good morning."))
    await set_up(anthropic(server))
    assert speech(await say("good morning")) == "Good morning."


async def test_the_prompt_is_files_and_holds_no_conversation(
    say: Say, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    server = await serve(Reply(text="One."), Reply(text="Two."))
    await set_up(anthropic(server))
    (workspace / "memory" / "MEMORY.md").write_text("# Memory\nthe-cat-is-Mo\n")
    await say("first words")
    await say("second words")
    system = "".join(block["text"] for block in server.asked[1]["system"])
    assert "the-cat-is-Mo" in system
    assert "first words" not in system
    texts = str(server.asked[1]["messages"])
    assert (
        texts.index("first words") < texts.index("One.") < texts.index("second words")
    )


async def test_system_prompt_is_the_same_from_turn_to_turn(
    say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(Reply(text="One."), Reply(text="Two."))
    await set_up(anthropic(server))
    await say("first")
    await say("second")
    strip = [[block["text"] for block in one["system"]] for one in server.asked]
    assert strip[0] == strip[1]


async def test_tools_run_and_stand_in_the_chat_log(
    hass: HomeAssistant,
    say: Say,
    serve: Serve,
    set_up: SetUp,
    turns: list[dict[str, Any]],
) -> None:
    call = Call("append_note", {"text": "The fuse box is in the hall."}, "one")
    server = await serve(Reply(text="I note it.", calls=(call,)), Reply(text="Noted."))
    await set_up(anthropic(server))
    seen: list[Any] = []
    conversation.chat_log.async_subscribe_chat_logs(
        hass, lambda _id, kind, data: seen.append((kind, data))
    )
    result = await say("the fuse box is in the hall")
    assert speech(result) == "Noted."
    (turn,) = turns
    assert [line["tool"] for line in turn["tools"]] == ["append_note"]
    assert turn["rounds"] == 2
    log = hass.data[conversation.chat_log.DATA_CHAT_LOGS]["c1"]
    roles = [content.role for content in log.content]
    assert roles == ["system", "user", "assistant", "tool_result", "assistant"]
    called = log.content[2]
    assert isinstance(called, conversation.AssistantContent)
    assert called.tool_calls
    assert called.tool_calls[0].tool_name == "append_note"


async def test_deltas_arrive_as_they_are_made(
    hass: HomeAssistant, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(Reply(text="one two three four five six", piece=4))
    await set_up(anthropic(server))
    deltas: list[dict[str, Any]] = []
    with (
        chat_session.async_get_chat_session(hass, "c1") as session,
        conversation.async_get_chat_log(
            hass,
            session,
            chat_log_delta_listener=lambda _log, delta: deltas.append(delta),
        ),
    ):
        await conversation.async_converse(
            hass, "count", "c1", Context(), "en", agent_id=AGENT
        )
    assert deltas[0]["role"] == "assistant"
    pieces = [delta["content"] for delta in deltas if delta.get("content")]
    assert len(pieces) > 3
    assert "".join(pieces) == "one two three four five six"


async def test_a_voice_hears_no_markdown(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(Reply(text="**Two** things:\n- `one`\n- two"))
    await set_up(anthropic(server))
    heard = speech(await say("list", device_id="a-satellite"))
    assert heard == "Two things:\none\ntwo"


async def test_a_question_back_keeps_the_conversation_open(
    say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(Reply(text="Which one?"), Reply(text="Done."))
    await set_up(anthropic(server))
    assert (await say("do it")).continue_conversation
    assert not (await say("the left")).continue_conversation


async def test_one_turn_at_a_time_in_a_conversation_and_others_beside_it(
    serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(Reply(hang=True), Reply(text="beside"), Reply(text="after"))
    await set_up(anthropic(server))
    first = asyncio.create_task(say("first", "a"))
    while not server.open_streams:
        await asyncio.sleep(0.01)
    waiting = asyncio.create_task(say("after", "a"))
    assert speech(await say("beside", "b")) == "beside"
    assert not first.done()
    assert not waiting.done()
    assert len(server.asked) == 2
    first.cancel()
    assert speech(await waiting) == "after"


async def test_cancelling_stops_the_stream_and_leaves_the_session_whole(
    serve: Serve, set_up: SetUp, say: Say, workspace: Path
) -> None:
    server = await serve(Reply(text="word " * 500, pause_s=0.01), Reply(text="Again."))
    await set_up(anthropic(server))
    task = asyncio.create_task(say("talk"))
    while not server.open_streams:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.idle()
    assert server.broken_off
    assert speech(await say("and now?")) == "Again."
    roles = [one["role"] for one in server.asked[-1]["messages"]]
    assert roles == ["user", "assistant", "user"]


async def test_the_session_outlives_a_reload(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, say: Say
) -> None:
    server = await serve(Reply(text="One."), Reply(text="Two."))
    entry = await set_up(anthropic(server))
    await say("remember this sentence")
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    await say("what did I say?")
    assert "remember this sentence" in str(server.asked[1]["messages"])


async def test_every_language_is_supported(
    hass: HomeAssistant, set_up: SetUp, say: Say
) -> None:
    await set_up()
    agent = conversation.async_get_agent(hass, AGENT)
    assert agent is not None
    assert agent.supported_languages == "*"
    assert speech(await say("bonjour", language="fr"))


async def test_nothing_is_kept_of_an_idle_conversation(
    hass: HomeAssistant, set_up: SetUp, say: Say
) -> None:
    entry = await set_up()
    for number in range(3):
        await say("remember that it rained", f"c{number}")
    await hass.async_block_till_done()
    assert not entry.runtime_data.assistant._conversations
