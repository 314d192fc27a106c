"""A bad line: cut connections, duplicates, edits out of order, a second poller."""

from __future__ import annotations

import random
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Reply

from .bot_api import BotApi, User
from .conftest import Serve
from .house import ANNA, BEN, ChatHouse, until


def echo(body: dict[str, Any]) -> Reply:
    said = body["messages"][-1]["content"]
    return Reply(text=said if isinstance(said, str) else said[-1]["text"])


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_lost_or_said_twice_and_each_chat_keeps_its_order(
    house: ChatHouse, api: BotApi, serve: Serve, seed: int
) -> None:
    """Whatever happens to requests before Telegram has taken them."""
    dice = random.Random(seed)
    server = await serve(answer=echo)
    await house.add_assistant(anthropic(server))
    methods = ("sendMessage", "sendMessageDraft", "sendChatAction", "getUpdates")
    wanted: dict[User, list[str]] = {ANNA: [], BEN: []}
    for number in range(16):
        if dice.random() < 0.5:
            kind = dice.choice(("cut", "500", "429", "delay"))
            value = 1 if kind == "429" else 0.05
            api.fault(dice.choice(methods), kind, value)
        user = dice.choice((ANNA, BEN))
        text = f"message {number}"
        wanted[user].append(text)
        message_id = await api.say(text, user)
        copy = dict(api.state.updates[-1])
        if dice.random() < 0.3:
            await api.state.again(copy)
        if dice.random() < 0.3:
            wanted[user].append(f"{text} edited")
            await api.edit(f"{text} edited", user, message_id)
            if dice.random() < 0.5:
                # The first wording comes once more, after its edit.
                await api.state.again(copy)
    await api.until(
        lambda: all(
            len(api.sent(user.id)) >= len(texts) for user, texts in wanted.items()
        ),
        60,
    )
    await house.telegram.idle()
    for user, texts in wanted.items():
        assert [one.text for one in api.sent(user.id)] == texts


async def test_a_second_poller_is_a_conflict_that_passes(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    """There is one poller, telegram_bot's; another one of anybody's ends, or is ended."""
    import aiohttp

    server = await serve(answer=echo)
    await house.add_assistant(anthropic(server))
    before = api.state.calls["getupdates"]
    async with (
        aiohttp.ClientSession() as web,
        web.post(f"{api.url}/bot{api.token}/getUpdates") as answer,
    ):
        assert answer.status == 200
    await until(lambda: "getupdates" in str(api.state.refused))
    assert "Conflict" in str(api.state.refused)
    await until(lambda: api.state.calls["getupdates"] > before + 1)
    await api.say("still there?", ANNA)
    [sent] = await api.until_sent(ANNA.id, 1, 30)
    assert sent.text == "still there?"
    assert api.state.calls["setwebhook"] == 0


async def test_telegram_away_for_a_while(
    house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(answer=echo)
    await house.add_assistant(anthropic(server))
    await api.say("first", ANNA)
    await until(lambda: not api.state.updates or api.sent(ANNA.id))
    await api.stop()
    await api.start()
    await api.say("second", ANNA)
    await api.until_sent(ANNA.id, 2, 40)
    assert [one.text for one in api.sent(ANNA.id)] == ["first", "second"]
