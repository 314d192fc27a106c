"""Each trouble ends in one sentence for the person and one line for the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from tests.providers.wire.reply import Call, Reply

from .conftest import Say, Serve, SetUp, anthropic, speech

FINE = Reply(text="All is well.")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (
            Reply(status=401, error=("authentication_error", "bad")),
            "does not accept my key",
        ),
        (
            Reply(status=402, error=("billing_error", "credit")),
            "no credit left",
        ),
        (
            Reply(status=404, error=("not_found_error", "model")),
            "does not know the chosen model",
        ),
        (Reply(page=b"<html>"), "broke off"),
    ],
)
async def test_the_provider_fails_and_the_next_message_works(
    say: Say,
    serve: Serve,
    set_up: SetUp,
    caplog: pytest.LogCaptureFixture,
    trouble: Reply,
    said: str,
) -> None:
    server = await serve(answer=lambda _body: trouble)
    await set_up(anthropic(server))
    assert said in speech(await say("are you there?"))
    assert "The turn ended early" in caplog.text
    assert "sk-test-secret" not in caplog.text
    server.answer = lambda _body: FINE
    assert speech(await say("and now?")) == "All is well."


async def test_the_provider_is_unreachable(
    say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve()
    await set_up(anthropic(server))
    await server.stop()
    assert "cannot reach" in speech(await say("are you there?"))


async def test_a_stream_that_breaks_off(say: Say, serve: Serve, set_up: SetUp) -> None:
    broken = Reply(text="This is the beginning of a long answer", cut_after=4)
    server = await serve(broken, broken, broken, broken)
    await set_up(anthropic(server))
    heard = speech(await say("tell me"))
    assert "broke off" in heard


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
async def test_an_empty_message(
    say: Say, serve: Serve, set_up: SetUp, text: str
) -> None:
    server = await serve()
    await set_up(anthropic(server))
    assert "did not hear anything" in speech(await say(text))
    assert not server.asked


async def test_a_message_of_a_hundred_thousand_characters(
    say: Say, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    server = await serve(FINE)
    await set_up(anthropic(server))
    assert "too long" in speech(await say("a" * 100_000))
    assert not server.asked
    assert speech(await say("short")) == "All is well."
    session = (workspace / "sessions" / "assist_c1.jsonl").read_text()
    assert len(session) < 5000


async def test_unknown_tool_bad_arguments_and_paths_outside(
    say: Say, serve: Serve, set_up: SetUp, turns: list[dict[str, Any]]
) -> None:
    calls = (
        Call("open_door", {}, "a"),
        Call("read_file", call_id="b", raw="{not json"),
        Call("read_file", {"path": "/../../etc/passwd"}, "c"),
        Call("read_file", {"path": "/memory/nothing-here.md"}, "d"),
        Call("write_file", {"path": "/cron.json", "content": "{}"}, "e"),
    )
    server = await serve(Reply(calls=calls), FINE)
    await set_up(anthropic(server))
    assert speech(await say("try")) == "All is well."
    errors = [line.get("error", "") for line in turns[0]["tools"]]
    assert all(errors)
    assert "no tool open_door" in errors[0]
    assert "no JSON object" in errors[1]


async def test_a_file_that_is_not_text(
    say: Say, serve: Serve, set_up: SetUp, workspace: Path, turns: list[dict[str, Any]]
) -> None:
    call = Call("read_file", {"path": "/memory/photo.md"}, "a")
    server = await serve(Reply(calls=(call,)), FINE)
    await set_up(anthropic(server))
    (workspace / "memory" / "photo.md").write_bytes(b"\xff\xd8\xff\xe0 not text")
    (workspace / "memory" / "MEMORY.md").write_bytes(b"\xff\xfe broken")
    assert speech(await say("read it")) == "All is well."
    assert turns[0]["tools"][0]["error"]
    assert (workspace / "memory" / "MEMORY.md").read_bytes() == b"\xff\xfe broken"


async def test_a_session_with_broken_lines(
    say: Say, serve: Serve, set_up: SetUp, workspace: Path
) -> None:
    server = await serve(FINE)
    await set_up(anthropic(server))
    session = workspace / "sessions" / "assist_c1.jsonl"
    session.parent.mkdir(parents=True, exist_ok=True)
    session.write_bytes(b'{"role":"user","content":"old"}\n{"role": "assi\n\xff\n')
    assert speech(await say("hello")) == "All is well."
    assert "old" in str(server.asked[0]["messages"])


async def test_one_provider_fails_another_answers_and_it_is_said_once(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp
) -> None:
    overload = Reply(status=529, error=("overloaded_error", "busy"))
    first = await serve(answer=lambda _body: overload)
    second = await serve(Reply(text="Here I am."), Reply(text="Still here."))
    await set_up(anthropic(first, "First"), anthropic(second, "Second"))
    heard = speech(await say("hello"))
    assert "First does not answer" in heard
    assert heard.endswith("Here I am.")
    assert speech(await say("hello again")) == "Still here."


async def test_unloading_leaves_nothing(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(FINE)
    entry = await set_up(anthropic(server))
    await say("hello")
    assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()
    state = hass.states.get("conversation.mimiclaw")
    assert state is not None
    assert state.state == "unavailable"
