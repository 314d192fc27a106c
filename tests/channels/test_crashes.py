"""A crash at any moment: nothing that came in is lost, nothing is done or said twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
import json
from pathlib import Path
import time
from typing import Any

from homeassistant.core import CoreState, HomeAssistant
import pytest

from custom_components.mimiclaw.channels.inbox import async_setup_inbox
from custom_components.mimiclaw.channels.journal import Journal
from custom_components.mimiclaw.channels.update import Chat, Update, from_event
from custom_components.mimiclaw.line_log import LineLog
from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Call, Reply

from .bot_api import BotApi
from .conftest import Serve
from .house import ANNA, ChatHouse, until


def event(text: str, number: int = 5, chat: int = ANNA.id) -> dict[str, Any]:
    return {
        "id": number,
        "chat_id": chat,
        "user_id": ANNA.id,
        "date": datetime.now(UTC),
        "message_thread_id": None,
        "text": text,
        "bot": {"id": 4242, "config_entry_id": "bot", "username": "mimi_claw_bot"},
    }


def update(text: str, number: int = 5) -> Update:
    found = from_event("telegram_text", event(text, number))
    assert found is not None
    return found


async def killed(house: ChatHouse, api: BotApi, when: Callable[[], Any]) -> None:
    """Take the assistant down in the middle, as the end of the process would."""
    await until(when)
    assert await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_a_turn_cut_short_is_run_again(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    hang = True
    server = await serve(answer=lambda _b: Reply(text="Yes.", hang=hang))
    await house.add_assistant(anthropic(server))
    await api.say("are you there?", ANNA)
    await killed(house, api, lambda: server.asked and '"think"' in house.journal)
    hang = False
    assert await house.hass.config_entries.async_setup(house.entry.entry_id)
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Yes."
    await house.telegram.idle()
    await house.restart_assistant()
    await house.telegram.idle()
    assert len(api.sent(ANNA.id)) == 1


async def test_a_turn_that_had_changed_something_is_not_run_again(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(
        Reply(calls=(Call("append_note", {"text": "the-fact"}, "one"),)),
        Reply(text="never", hang=True),
        Reply(text="never"),
    )
    await house.add_assistant(anthropic(server))
    await api.say("note the fact", ANNA)
    await killed(house, api, lambda: len(server.asked) == 2)
    assert await house.hass.config_entries.async_setup(house.entry.entry_id)
    [sent] = await api.until_sent(ANNA.id)
    assert "interrupted" in sent.text
    assert "note the fact" in sent.text
    assert len(server.asked) == 2


async def test_an_answer_that_was_there_is_delivered(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(Reply(text="The answer."))
    await house.add_assistant(anthropic(server))
    api.fault("sendMessage", "cut", times=100)
    await api.say("question", ANNA)
    await killed(house, api, lambda: '"out"' in house.journal)
    api.state.faults.clear()
    assert await house.hass.config_entries.async_setup(house.entry.entry_id)
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "The answer."
    assert len(server.asked) == 1


async def test_only_the_missing_pieces_are_sent(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    text = "\n\n".join(f"Part {n}. " + "word " * 700 for n in range(3))
    server = await serve(Reply(text=text, piece=2000))
    await house.add_assistant(anthropic(server))
    await api.say("question", ANNA)
    await api.until_sent(ANNA.id, 1)
    api.fault("sendMessage", "cut", times=100)
    await killed(house, api, lambda: '"sent"' in house.journal)
    api.state.faults.clear()
    before = len(api.sent(ANNA.id))
    assert await house.hass.config_entries.async_setup(house.entry.entry_id)
    await api.until_sent(ANNA.id, 3, 30)
    await house.telegram.idle()
    parts = [one.text[:7] for one in api.sent(ANNA.id)]
    assert parts == ["Part 0.", "Part 1.", "Part 2."]
    assert before <= 3


async def test_what_comes_during_a_reload_is_answered_once(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _b: Reply(text="Here."))
    await house.add_assistant(anthropic(server))
    assert await hass.config_entries.async_unload(house.entry.entry_id)
    await api.say("are you there?", ANNA)
    await until(lambda: not api.state.updates)
    assert await hass.config_entries.async_setup(house.entry.entry_id)
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Here."
    await house.telegram.idle()
    assert len(server.asked) == 1


async def test_what_came_while_down_waits_at_telegram_and_is_answered_once(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _b: Reply(text="Good morning."))
    await house.add_assistant(anthropic(server))
    assert await hass.config_entries.async_unload(house.entry.entry_id)
    assert await hass.config_entries.async_unload(house.bot.entry_id)
    for number in range(3):
        await api.say(f"night message {number}", ANNA)
    assert await hass.config_entries.async_setup(house.bot.entry_id)
    assert await hass.config_entries.async_setup(house.entry.entry_id)
    await api.until_sent(ANNA.id, 3)
    await house.telegram.idle()
    assert len(server.asked) == 3


async def test_what_telegram_bot_told_before_we_listened_is_found(
    recorder_mock: object,
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
) -> None:
    """telegram_bot was quicker at the start: only the recorder heard it."""
    server = await serve(answer=lambda _b: Reply(text="Good morning."))
    hass.set_state(CoreState.starting)
    for number in range(3):
        await api.say(f"night message {number}", ANNA)
    await until(lambda: not api.state.updates)
    await house.add_assistant(anthropic(server))
    assert api.sent(ANNA.id) == []
    hass.set_state(CoreState.running)
    hass.bus.async_fire("homeassistant_started")
    sent = await api.until_sent(ANNA.id, 3, 30)
    assert len(sent) == 3
    await house.telegram.idle()
    assert len(server.asked) == 3
    await house.restart_assistant()
    await house.telegram.idle()
    assert len(api.sent(ANNA.id)) == 3


async def test_the_bot_being_reloaded_delays_the_answer(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    asked = asyncio.Event()

    def answer(_body: dict[str, Any]) -> Reply:
        asked.set()
        return Reply(text="Here.", delay_s=0.5)

    server = await serve(answer=answer)
    await house.add_assistant(anthropic(server))
    await api.say("question", ANNA)
    await asked.wait()
    assert await hass.config_entries.async_unload(house.bot.entry_id)
    await until(lambda: '"out"' in house.journal)
    assert await hass.config_entries.async_setup(house.bot.entry_id)
    [sent] = await api.until_sent(ANNA.id, 1, 30)
    assert sent.text == "Here."


async def test_the_journal_remembers_over_any_torn_line(tmp_path: Path) -> None:
    log = LineLog(tmp_path / "telegram.jsonl")
    journal = Journal(log)
    journal.load()
    first, second = update("one", 1), update("two", 2)
    await journal.received(first)
    await journal.received(second)
    await journal.stage(first.key, "run")
    await journal.answer(first.key, [{"h": "a", "t": "a"}, {"h": "b", "t": "b"}])
    await journal.sent(first.key, 1)
    await journal.end(second.key)
    await journal.flush()
    data = log.path.read_bytes()
    for cut in range(len(data) + 1):
        log.path.write_bytes(data[:cut])
        again = Journal(LineLog(log.path))
        for one in again.load():
            assert one.stage in {"in", "run", "out"}
            assert one.sent <= len(one.pieces)
    assert again.seen(first.key)
    assert again.seen(second.key)
    [left] = again.load()
    assert (left.update, left.stage, left.sent) == (first, "out", 1)


async def test_the_journal_is_shortened_and_forgets_nothing_open(
    tmp_path: Path,
) -> None:
    log = LineLog(tmp_path / "telegram.jsonl")
    open_one = update("still open", 9)
    lines: list[dict[str, Any]] = [{"end": f"key{n}"} for n in range(60_000)]
    log.append([{"in": open_one.key, "u": open_one.as_raw()}, *lines])
    journal = Journal(log)
    assert [one.update for one in journal.load()] == [open_one]
    assert len(log.read()) < 6000
    again = Journal(log)
    assert [one.update for one in again.load()] == [open_one]
    assert again.seen("key59999")


def test_events_without_an_author_or_a_chat_are_nothing() -> None:
    assert from_event("telegram_text", {}) is None
    assert from_event("telegram_text", event("x") | {"user_id": None}) is None
    assert from_event("telegram_sent", event("x")) is None
    assert from_event("telegram_callback", event("x") | {"message": None}) is None


def test_an_update_survives_the_journal() -> None:
    one = from_event(
        "telegram_attachment",
        event("caption") | {"file_id": "f", "file_name": "n.md", "file_size": 3},
    )
    assert one is not None
    assert Update.from_raw(json.loads(json.dumps(one.as_raw()))) == one
    assert one.chat == Chat("bot", ANNA.id)
    assert abs(one.sent_at - time.time()) < 60


async def test_the_inbox_keeps_what_comes_while_nobody_reads(
    hass: HomeAssistant,
) -> None:
    from custom_components.mimiclaw.channels.inbox import async_inbox

    async_setup_inbox(hass)
    hass.bus.async_fire("telegram_text", event("early"))
    await hass.async_block_till_done()
    found: list[Update] = []
    end = async_inbox(hass).read(found.append)
    hass.bus.async_fire("telegram_text", event("later", 6))
    await hass.async_block_till_done()
    end()
    hass.bus.async_fire("telegram_text", event("between", 7))
    await hass.async_block_till_done()
    async_inbox(hass).read(found.append)
    assert [one.text for one in found] == ["early", "later", "between"]


@pytest.mark.parametrize("kind", ["cut_after"])
async def test_a_reply_whose_confirmation_is_lost_is_never_missing(
    house: ChatHouse, api: BotApi, serve: Serve, kind: str
) -> None:
    """Nobody can tell whether it went through: rather twice than not at all."""
    server = await serve(Reply(text="One."))
    await house.add_assistant(anthropic(server))
    api.fault("sendMessage", kind, times=1)
    await api.say("hello", ANNA)
    await api.until_sent(ANNA.id, 1, 30)
    await house.telegram.idle()
    assert {one.text for one in api.sent(ANNA.id)} == {"One."}
    assert len(api.sent(ANNA.id)) <= 2
