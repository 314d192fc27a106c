"""Memory over time: long conversations and quiet nights."""

from __future__ import annotations

from pathlib import Path

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech


async def test_a_long_conversation_is_written_down_and_summarised(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Mm-hm."))
    await set_up(anthropic(server))
    for number in range(9):
        await say(f"fact number {number}")
        await hass.async_block_till_done(wait_background_tasks=True)
    assert len(server.asked) == 9
    note = Call("append_note", {"text": "kept-by-the-flush"}, "one")
    server.script.extend(
        [
            Reply(text="Mm-hm."),
            Reply(calls=(note,)),
            Reply(text="They told ten facts, summary-mark."),
        ]
    )
    await say("fact number 9")
    await hass.async_block_till_done(wait_background_tasks=True)
    flush = server.asked[10]
    assert "Nobody speaks to you now" in str(flush["messages"][-1])
    names = {tool["name"] for tool in flush["tools"]}
    assert "append_note" in names
    assert not any(name.startswith(("gpio", "cron")) for name in names)
    (daily,) = workspace.glob("memory/2*.md")
    assert "kept-by-the-flush" in daily.read_text()
    await say("and what did I tell you?")
    texts = str(server.asked[-1]["messages"])
    assert "summary-mark" in texts
    assert "fact number 9" in texts
    assert "fact number 0" not in texts
    session = (workspace / "sessions" / "assist_c1.jsonl").read_text()
    assert "fact number 0" in session
    assert "Nobody speaks to you now" not in session


async def test_without_a_summary_nothing_is_cut(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Mm-hm."))
    await set_up(anthropic(server))
    for number in range(9):
        await say(f"fact number {number}")
    bad = Reply(status=401, error=("authentication_error", "bad"))
    server.script.extend([Reply(text="Mm-hm."), bad])
    await say("fact number 9")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert '"summary"' not in (workspace / "sessions" / "assist_c1.jsonl").read_text()


async def test_at_night_notes_become_memory(
    hass: HomeAssistant,
    serve: Serve,
    set_up: SetUp,
    workspace: Path,
    freezer: FrozenDateTimeFactory,
) -> None:
    edit = Call("append_note", {"text": "consolidated"}, "one")
    server = await serve(Reply(calls=(edit,)), Reply(text="Moved one fact."))
    entry = await set_up(anthropic(server))
    memory = workspace / "memory"
    (memory / "2026-01-02.md").write_text("# Notes of 2026-01-02\n\n- 10:00 a fact\n")
    (memory / "MEMORY.md").write_text("# Memory\nbefore-the-night\n")
    await entry.runtime_data.upkeep.async_consolidate()
    asked = str(server.asked[0]["messages"])
    assert "/memory/2026-01-02.md" in asked
    assert "/memory/MEMORY.md" in asked
    kept = [
        one.read_text() for one in (workspace / ".trash").iterdir() if one.is_file()
    ]
    assert any("before-the-night" in text for text in kept)
    await entry.runtime_data.upkeep.async_consolidate()
    assert len(server.asked) == 2


async def test_offline_has_no_upkeep(
    hass: HomeAssistant, say: Say, set_up: SetUp, workspace: Path
) -> None:
    await set_up()
    for number in range(12):
        assert speech(await say(f"remember that fact {number} is a fact"))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert '"summary"' not in (workspace / "sessions" / "assist_c1.jsonl").read_text()


async def test_near_the_models_limit_a_short_conversation_is_summarised_too(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    large = Reply(text="Mm-hm.", input_tokens=150_000)
    server = await serve(
        Reply(text="Mm-hm."),
        large,
        Reply(text="Two long messages, summary-mark."),
        Reply(text="Yes."),
    )
    await set_up(anthropic(server))
    await say("a very long story")
    await say("and another one")
    await hass.async_block_till_done(wait_background_tasks=True)
    await say("do you remember?")
    texts = str(server.asked[-1]["messages"])
    assert "summary-mark" in texts
    assert "a very long story" not in texts
    assert "and another one" in texts
