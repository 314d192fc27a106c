"""Diagnostics, tasks and the night: what must not leak, and what must be a sentence."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from homeassistant.components import ai_task
from homeassistant.components.conversation import Attachment
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
import pytest

from custom_components.mimiclaw.ai_task import _images
from custom_components.mimiclaw.diagnostics import async_get_config_entry_diagnostics
from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech

OPTIONS = {
    "telegram_people": {"1234567": "person.anna"},
    "deliver_to": "telegram:1234567",
    "web_search": {
        "engine": "brave",
        "api_key": "brave-secret",
        "base_url": "http://u:pw@10.0.0.1",
    },
    "embeddings": {
        "base_url": "http://u:pw@10.0.0.1",
        "api_key": "emb-secret",
        "model": "m",
    },
}


async def test_diagnostics_name_nobody(
    hass: HomeAssistant, set_up: SetUp, serve: Serve
) -> None:
    server = await serve()
    entry = await set_up(anthropic(server, "Anna's account"), options=OPTIONS)
    text = str(await async_get_config_entry_diagnostics(hass, entry))
    for word in ("1234567", "anna", "Anna", "secret", "10.0.0.1", "pw"):
        assert word not in text, word


async def test_a_picture_that_is_gone_is_a_sentence(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    task = ai_task.GenDataTask(
        "t",
        "look",
        attachments=[
            Attachment(
                media_content_id="x", mime_type="image/png", path=tmp_path / "gone.png"
            )
        ],
    )
    with pytest.raises(HomeAssistantError) as err:
        _images(task)
    assert err.value.translation_key


@pytest.mark.parametrize("tool", ["append_note", "edit_file", "write_file"])
async def test_the_night_keeps_private_notes_private(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, workspace: Path, tool: str
) -> None:
    """Whatever the model does with one person's notes, nothing of it is told to all."""
    calls = {
        "append_note": [
            Call("append_note", {"text": "zebra", "section": "Anna"}, "a"),
            Call("append_note", {"text": "zebra"}, "b"),
        ],
        "write_file": [
            Call(
                "write_file",
                {"path": "/memory/anna-zebra.md", "content": "# Z\n\nzebra"},
                "a",
            )
        ],
        "edit_file": [
            Call(
                "edit_file",
                {
                    "path": "/memory/MEMORY.md",
                    "old_string": "# House",
                    "new_string": "# House\n\nzebra",
                },
                "a",
            )
        ],
    }[tool]
    server = await serve(
        answer=lambda body: (
            Reply(text="Done.")
            if "tool_result" in str(body["messages"])
            else Reply(calls=tuple(calls))
        )
    )
    own = workspace / "memory" / "users" / "anna"
    own.mkdir(parents=True)
    (own / "2026-01-02.md").write_text("# 2026-01-02\n\n- the zebra is ill\n")
    (workspace / "memory" / "MEMORY.md").write_text("# House\n")
    entry = await set_up(anthropic(server))
    await entry.runtime_data.upkeep.async_consolidate()
    for file in (workspace / "memory").glob("*.md"):
        assert "zebra" not in file.read_text(), file


async def test_what_a_cancelled_turn_cost_is_booked(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say
) -> None:
    read = Call("read_file", {"path": "/memory/MEMORY.md"}, "a")
    server = await serve(Reply(calls=(read,), output_tokens=7), Reply(hang=True))
    entry = await set_up(anthropic(server))
    turn = asyncio.ensure_future(say("read"))
    async with asyncio.timeout(10):
        while len(server.asked) < 2:
            await asyncio.sleep(0.01)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    assert entry.runtime_data.costs.today().output_tokens == 7


async def test_an_unload_while_a_summary_is_written(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say, workspace: Path
) -> None:
    asked = asyncio.Event()

    def reply(body: dict[str, Any]) -> Reply:
        if "replaced by a summary" in str(body["messages"][-1]):
            asked.set()
            return Reply(hang=True)
        return Reply(text="Fine.")

    server = await serve(answer=reply)
    entry = await set_up(anthropic(server))
    for number in range(10):
        await say(f"message {number}")
    async with asyncio.timeout(10):
        await asked.wait()
        assert await hass.config_entries.async_unload(entry.entry_id)
        await hass.async_block_till_done()
    lines = (workspace / "sessions" / "assist_c1.jsonl").read_text().splitlines()
    assert len(lines) == 20
    ours = [task for task in asyncio.all_tasks() if "mimiclaw" in task.get_name()]
    assert not ours


async def test_a_reload_in_the_middle_of_many_turns(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say, workspace: Path
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Fine.", delay_s=0.2))
    entry = await set_up(anthropic(server))
    turns = [
        asyncio.ensure_future(say(f"word-{number}", f"c{number % 3}"))
        for number in range(9)
    ]
    async with asyncio.timeout(10):
        while not server.asked:
            await asyncio.sleep(0.01)
        assert await hass.config_entries.async_reload(entry.entry_id)
        done = await asyncio.gather(*turns)
        await entry.runtime_data.assistant.async_settled()
        await hass.async_block_till_done()
    assert all(speech(one) for one in done)
    said = "".join(one.read_text() for one in (workspace / "sessions").iterdir())
    for number in range(9):
        assert said.count(f"word-{number}") == 1
    assert speech(await say("and now?")) == "Fine."


async def test_cancelled_at_any_moment(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Say, workspace: Path
) -> None:
    """However early or late a turn is cut off, the next one in it works."""
    server = await serve(answer=lambda _body: Reply(text="Fine, thank you."))
    entry = await set_up(anthropic(server))
    for steps in range(0, 60, 3):
        turn = asyncio.ensure_future(say(f"cut after {steps}"))
        for _ in range(steps):
            await asyncio.sleep(0)
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
    async with asyncio.timeout(10):
        assert speech(await say("still there?")) == "Fine, thank you."
        await entry.runtime_data.assistant.async_settled()
    roles = [
        json.loads(line)["content"]
        for line in (workspace / "sessions" / "assist_c1.jsonl")
        .read_text()
        .splitlines()
    ]
    asked = [text for text in roles if text.startswith("cut after")]
    assert len(asked) == len(set(asked))
    assert len(entry.runtime_data.assistant._conversations) <= 1
    assert not entry.runtime_data.assistant._turns
