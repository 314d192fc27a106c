"""Text in, text out: who may talk, sessions, order, streaming, what is done twice never."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Call, Reply

from .bot_api import BotApi
from .conftest import Serve
from .house import ANNA, BEN, GROUP, STRANGER, ChatHouse, until


async def test_a_message_is_answered(
    house: ChatHouse, api: BotApi, serve: Serve, turns: list[dict[str, Any]]
) -> None:
    server = await serve(Reply(text="Good **morning**, Anna."))
    await house.add_assistant(anthropic(server))
    await api.say("good morning", ANNA)
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Good morning, Anna."
    assert [one["type"] for one in sent.entities] == ["bold"]
    await house.telegram.idle()
    assert (turns[0]["channel"], turns[0]["conversation_id"]) == ("telegram", "111")
    assert turns[0]["speaker"] == "anna"
    session = house.workspace / "sessions" / "tg_111.jsonl"
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    assert [(line["role"], line["content"]) for line in lines] == [
        ("user", "good morning"),
        ("assistant", "Good **morning**, Anna."),
    ]


async def test_strangers_get_silence_and_one_line(
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = await serve(Reply(text="Hello Ben."))
    await house.add_assistant(anthropic(server))
    for _ in range(3):
        await api.say("let me in", STRANGER)
    await api.say("/relays", STRANGER)
    await api.say("hello", BEN)
    await api.until_sent(BEN.id)
    assert api.sent(STRANGER.id) == []
    assert len(server.asked) == 1
    lines = [one for one in caplog.messages if "333" in one and "not answered" in one]
    assert len(lines) == 1
    assert "let me in" not in "".join(lines)


async def test_in_a_group_both_the_group_and_the_person_are_named(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Yes?"))
    await house.add_assistant(anthropic(server))
    await api.say("@mimi_claw_bot hello", STRANGER, GROUP)
    await api.say("talk among people", ANNA, GROUP)
    await api.say("/status@another_bot", ANNA, GROUP)
    await api.say("@mimi_claw_bot  who are you?", ANNA, GROUP)
    [sent] = await api.until_sent(GROUP)
    await house.telegram.idle()
    assert len(server.asked) == 1
    assert "who are you?" in str(server.asked[0]["messages"])
    assert "mimi_claw_bot" not in str(server.asked[0]["messages"])
    assert sent.reply_to is not None
    await api.reply("and why?", ANNA, sent)
    await api.until_sent(GROUP, 2)
    assert len(server.asked) == 2


async def test_what_a_group_reads_is_not_private(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Well."))
    await house.add_assistant(anthropic(server))
    own = house.workspace / "memory" / "users" / "anna"
    own.mkdir(parents=True)
    (own / "MEMORY.md").write_text("# Memory\nsecret-of-anna\n")
    await api.say("@mimi_claw_bot what do you know?", ANNA, GROUP)
    await api.until_sent(GROUP)
    assert "secret-of-anna" not in json.dumps(server.asked)
    await api.say("what do you know?", ANNA)
    await api.until_sent(ANNA.id)
    assert "secret-of-anna" in json.dumps(server.asked)
    await api.say("/memory", ANNA)
    assert "secret-of-anna" in (await api.until_sent(ANNA.id, 2))[1].text
    await api.say("/memory@mimi_claw_bot", ANNA, GROUP)
    assert "secret-of-anna" not in (await api.until_sent(GROUP, 2))[1].text


async def test_a_person_who_is_gone_is_nobody(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(Reply(text="Hello Ben."))
    await house.add_assistant(anthropic(server))
    hass.states.async_remove("person.anna")
    await api.say("hello", ANNA)
    await api.say("hello", BEN)
    await api.until_sent(BEN.id)
    assert api.sent(ANNA.id) == []


async def test_topics_are_conversations_of_their_own(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Noted."))
    await house.add_assistant(anthropic(server))
    await api.say("@mimi_claw_bot tomatoes", ANNA, GROUP, message_thread_id=7)
    await api.until_sent(GROUP)
    await api.say("@mimi_claw_bot what did I say?", ANNA, GROUP, message_thread_id=8)
    sent = await api.until_sent(GROUP, 2)
    assert [one.thread_id for one in sent] == [7, 8]
    assert "tomatoes" not in str(server.asked[1]["messages"])
    assert (house.workspace / "sessions" / f"tg_{GROUP}_7.jsonl").exists()


async def test_twenty_at_once_are_answered_in_order(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    def echo(body: dict[str, Any]) -> Reply:
        said = body["messages"][-1]["content"]
        text = said if isinstance(said, str) else said[-1]["text"]
        return Reply(text=f"re: {text}")

    server = await serve(answer=echo)
    await house.add_assistant(anthropic(server))
    for number in range(20):
        await api.say(f"message {number}", ANNA)
    sent = await api.until_sent(ANNA.id, 20, 60)
    assert [one.text for one in sent] == [f"re: message {n}" for n in range(20)]


async def test_one_chat_does_not_hold_up_another(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    slow = asyncio.Event()

    def answer(body: dict[str, Any]) -> Reply:
        if "slow" in str(body["messages"][-1]):
            slow.set()
            return Reply(text="done", delay_s=3.0)
        return Reply(text="quick")

    server = await serve(answer=answer)
    await house.add_assistant(anthropic(server))
    await api.say("slow one", ANNA)
    await slow.wait()
    await api.say("quick one", BEN)
    await api.until_sent(BEN.id)
    assert api.sent(ANNA.id) == []


async def test_an_edit_is_a_new_message_and_a_duplicate_is_none(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _body: Reply(text="Noted."))
    await house.add_assistant(anthropic(server))
    number = await api.say("buy milk", ANNA)
    first = api.state.updates[-1] if api.state.updates else None
    await api.until_sent(ANNA.id)
    await api.edit("buy oat milk", ANNA, number)
    await api.until_sent(ANNA.id, 2)
    if first is None:
        pytest.fail("the update was fetched before it could be copied")
    await api.state.again(first)
    await api.say("the end", ANNA)
    await api.until_sent(ANNA.id, 3)
    await house.telegram.idle()
    assert len(api.sent(ANNA.id)) == 3
    assert len(server.asked) == 3


async def test_a_long_answer_is_several_messages(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 150 for n in range(12))
    server = await serve(Reply(text=text, piece=400))
    await house.add_assistant(anthropic(server))
    await api.say("tell me all", ANNA)
    await until(lambda: "Paragraph 11." in "".join(s.text for s in api.sent(ANNA.id)))
    assert len(api.sent(ANNA.id)) > 1
    assert all(one.text.startswith("Paragraph") for one in api.sent(ANNA.id))


@pytest.mark.parametrize(
    "text",
    ["a stray _ and a * here", "5 < 6 & 7", "snake_case_*name", "中文回复" * 1500],
)
async def test_no_answer_is_lost_over_its_signs(
    house: ChatHouse, api: BotApi, serve: Serve, text: str
) -> None:
    server = await serve(Reply(text=text, piece=500))
    await house.add_assistant(anthropic(server))
    await api.say("say it", ANNA)
    await until(
        lambda: len("".join(s.text for s in api.sent(ANNA.id))) >= len(text) - 2
    )
    assert "message is too long" not in str(api.state.refused)
    assert "can't parse" not in str(api.state.refused)


async def test_refused_formatting_goes_as_plain_text(
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = await serve(Reply(text="It is **here**."))
    await house.add_assistant(anthropic(server))
    # Telegram changes its mind about a tag: the only way our HTML can be wrong.
    monkeypatch.delitem(
        __import__("tests.channels.bot_api.markup", fromlist=["_SIMPLE"])._SIMPLE, "b"
    )
    await api.say("where?", ANNA)
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "It is here."
    assert sent.parse_mode is None


async def test_drafts_then_the_answer(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(
        Reply(text="A long story. " * 30, piece=20, pause_s=0.12, chunk=None)
    )
    await house.add_assistant(anthropic(server))
    await api.say("tell me a story", ANNA)
    [sent] = await api.until_sent(ANNA.id, 1, 60)
    drafts = api.drafts(ANNA.id)
    assert drafts
    assert all(sent.text.startswith(one.text.rstrip("…")) for one in drafts)
    assert len({one.draft_id for one in drafts}) == 1
    assert [one.at for one in drafts] == sorted(one.at for one in drafts)
    # More than twenty pieces came in; Telegram is not asked as often.
    assert len(drafts) < 8
    assert ("typing", ANNA.id) in {(kind, chat) for chat, kind, _ in api.state.actions}


async def test_a_long_turn_says_what_it_does(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(
        Reply(calls=(Call("read_file", {"path": "/memory/MEMORY.md"}, "one"),)),
        Reply(text="It is there.", delay_s=0.5),
    )
    await house.add_assistant(anthropic(server))
    await api.say("look it up", ANNA)
    [sent] = await api.until_sent(ANNA.id, 1, 30)
    assert sent.text == "It is there."


async def test_a_command_has_no_drafts(house: ChatHouse, api: BotApi) -> None:
    await house.add_assistant()
    await api.say("/help", ANNA)
    [sent] = await api.until_sent(ANNA.id)
    assert "/relays" in sent.text
    assert api.drafts(ANNA.id) == []


async def test_without_drafts_the_answer_comes_all_the_same(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(Reply(text="Here. " * 20, pause_s=0.05))
    await house.add_assistant(anthropic(server))
    api.fault("sendMessageDraft", "500", times=50)
    api.fault("sendChatAction", "429", 5, times=50)
    await api.say("answer", ANNA)
    [sent] = await api.until_sent(ANNA.id, 1, 30)
    assert sent.text.startswith("Here.")


async def test_too_many_requests_waits_as_told(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(Reply(text="One."))
    await house.add_assistant(anthropic(server))
    api.fault("sendMessage", "429", 1, times=2)
    await api.say("hello", ANNA)
    [sent] = await api.until_sent(ANNA.id, 1, 30)
    assert sent.text == "One."
    assert [text for _, text in api.state.refused if text == "429"] == ["429", "429"]


@pytest.mark.parametrize("kind", ["cut", "500"])
async def test_a_cut_connection_loses_nothing(
    house: ChatHouse, api: BotApi, serve: Serve, kind: str
) -> None:
    server = await serve(Reply(text="One."))
    await house.add_assistant(anthropic(server))
    api.fault("sendMessage", kind, times=2)
    await api.say("hello", ANNA)
    [sent] = await api.until_sent(ANNA.id, 1, 30)
    assert sent.text == "One."


async def test_stop_ends_the_turn_and_what_waits(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _b: Reply(text="late " * 50, hang=True))
    await house.add_assistant(anthropic(server))
    await api.say("think for long", ANNA)
    await api.say("and then this", ANNA)
    await until(lambda: server.asked)
    await api.say("/stop", ANNA)
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Stopped."
    await house.telegram.idle()
    assert len(server.asked) == 1
    await api.say("/stop", ANNA)
    assert "not doing" in (await api.until_sent(ANNA.id, 2))[1].text


async def test_new_begins_anew_and_keeps_the_file(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _b: Reply(text="Fine."))
    await house.add_assistant(anthropic(server))
    await api.say("my colour is ultramarine", ANNA)
    await api.until_sent(ANNA.id)
    await api.say("/new", ANNA)
    await api.until_sent(ANNA.id, 2)
    await api.say("what is my colour?", ANNA)
    await api.until_sent(ANNA.id, 3)
    assert "ultramarine" not in str(server.asked[-1]["messages"])
    assert "ultramarine" in (house.workspace / "sessions" / "tg_111.jsonl").read_text()


async def test_a_conversation_outlives_a_restart(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=lambda _b: Reply(text="Fine."))
    await house.add_assistant(anthropic(server))
    await api.say("my colour is ultramarine", ANNA)
    await api.until_sent(ANNA.id)
    await house.telegram.idle()
    await house.restart_assistant()
    await api.say("what is my colour?", ANNA)
    await api.until_sent(ANNA.id, 2)
    assert "ultramarine" in str(server.asked[-1]["messages"])


async def test_one_context_a_chat(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    contexts: list[str] = []
    hass.bus.async_listen(
        "mimiclaw_turn", lambda event: contexts.append(event.context.id)
    )
    server = await serve(answer=lambda _b: Reply(text="Fine."))
    await house.add_assistant(anthropic(server))
    for _ in range(2):
        await api.say("hello", ANNA)
    await api.say("hello", BEN)
    await until(lambda: len(contexts) == 3)
    assert len(set(contexts)) == 2


async def test_two_bots_need_a_choice(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = BotApi("4343:loopback", "other_bot")
    await other.start()
    first = house.bot
    server = await serve(answer=lambda _b: Reply(text="Fine."))
    try:
        house.api = other
        await house.add_bot(ANNA.id, title="Other")
        await house.add_assistant(anthropic(server))
        await api.say("hello", ANNA)
        await until(lambda: "several Telegram bots" in caplog.text)
        options = {**house.entry.options, "telegram_bot": first.entry_id}
        hass.config_entries.async_update_entry(house.entry, options=options)
        await hass.async_block_till_done()
        await other.say("hello", ANNA)
        await api.say("hello again", ANNA)
        await api.until_sent(ANNA.id)
        assert other.sent(ANNA.id) == []
    finally:
        await hass.config_entries.async_unload(house.bot.entry_id)
        await other.stop()
