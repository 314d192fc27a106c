"""Telegram end to end: the real telegram_bot and its library against a Bot API on loopback.

Everything runs in one process with one clock, which the satellite's twin shares: from an
update lying at the server to the relay's edge, and to the first draft of a model's
answer. The baseline is telegram_bot alone, from the update to its event.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
import logging
import statistics
import time
from types import MappingProxyType
from typing import Any

import anthropic
from homeassistant.config_entries import ConfigSubentryData
from homeassistant.core import Event, HomeAssistant, callback
from pytest_homeassistant_custom_component.common import MockConfigEntry

from benchmarks.satellite import assistant as assistant_entry
from benchmarks.satellite import figure, home, until
from custom_components.mimiclaw.const import DOMAIN
from scripts.house.twin import Twin
from tests.channels.bot_api import BotApi, User
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.reply import Reply
from tests.schedule.simulation import BERLIN, Simulation, cron, every

WARM_UP = 5
RUNS = 60
CHATS = 50
MESSAGES = 1000
#: What the model takes before its first event, seconds.
PROVIDER_S = 0.05
ANNA = User(111, "Anna")
BASELINE = "telegram_bot alone, from the update to its event"

type Figures = dict[str, dict[str, Any]]


@asynccontextmanager
async def house(
    entry: MockConfigEntry, chats: list[int]
) -> AsyncIterator[tuple[HomeAssistant, BotApi]]:
    """Run a Home Assistant with the bot and the assistant."""
    api = BotApi()
    await api.start()
    try:
        async with home() as hass:
            bot = MockConfigEntry(
                domain="telegram_bot",
                version=1,
                minor_version=3,
                data={
                    "platform": "polling",
                    "api_key": api.token,
                    "api_endpoint": api.url,
                    "proxy_url": None,
                },
                options={"parse_mode": "markdown"},
                subentries_data=[
                    ConfigSubentryData(
                        data=MappingProxyType({"chat_id": chat}),
                        subentry_type="allowed_chat_ids",
                        title=str(chat),
                        unique_id=str(chat),
                    )
                    for chat in chats
                ],
            )
            for one in (bot, entry):
                one.add_to_hass(hass)
                if not await hass.config_entries.async_setup(one.entry_id):
                    raise RuntimeError(f"{one.domain} did not set up")
            await hass.async_block_till_done()
            yield hass, api
            for one in (entry, bot):
                await hass.config_entries.async_unload(one.entry_id)
    finally:
        await api.stop()


def options(chats: list[int]) -> dict[str, Any]:
    """Let everybody in these chats speak for the household."""
    return {
        "telegram_people": {str(chat): "household" for chat in chats},
        "heartbeat_minutes": 0,
    }


def with_model(server: AnthropicServer, chats: list[int]) -> MockConfigEntry:
    """Return the assistant's entry with a model on loopback."""
    return MockConfigEntry(
        domain=DOMAIN,
        title="MimiClaw",
        subentries_data=[
            ConfigSubentryData(
                data={
                    "provider": "anthropic",
                    "api_key": "sk-bench",
                    "model": "bench",
                    "base_url": server.url,
                },
                subentry_type="provider",
                title="Anthropic",
                unique_id=None,
            )
        ],
        options=options(chats),
    )


async def edges() -> tuple[list[float], list[float]]:
    """Milliseconds from update to edge, and from update to telegram_bot's event."""
    found: list[float] = []
    events: list[float] = []
    told: list[float] = []
    with Twin() as twin:
        entry = assistant_entry({twin.port: twin.mac})
        object.__setattr__(entry, "options", MappingProxyType(options([ANNA.id])))
        async with house(entry, [ANNA.id]) as (hass, api):
            satellites = entry.runtime_data.satellites
            await until(lambda: any(one.available for one in satellites.satellites()))

            @callback
            def event(_event: Event) -> None:
                told.append(time.perf_counter())

            hass.bus.async_listen("telegram_text", event)
            for run in range(WARM_UP + RUNS):
                words = "turn on" if run % 2 == 0 else "turn off"
                before = len(api.sent(ANNA.id))
                await api.say(f"{words} the water pump", ANNA)
                number = max(api.state.arrived)
                await api.until_sent(ANNA.id, before + 1)
                edge = twin.control("edges pump")["edges"][-1]["t_us"] / 1e6
                arrived = api.state.arrived[number]
                if run >= WARM_UP:
                    found.append((edge - arrived) * 1000)
                    events.append((told[-1] - arrived) * 1000)
                # The poller has to be back at the server, as it is in a house.
                await asyncio.sleep(0.02)
    return found, events


async def first_word(reply: Reply) -> float:
    """Return the seconds to a model's first word for its bare SDK: the provider's own."""
    found: list[float] = []
    async with (
        AnthropicServer(answer=lambda _body: reply) as server,
        anthropic.AsyncAnthropic(api_key="sk-bench", base_url=server.url) as client,
    ):
        for _ in range(WARM_UP + RUNS // 3):
            started = time.perf_counter()
            async with client.messages.stream(
                model="bench",
                max_tokens=64,
                messages=[{"role": "user", "content": "question"}],
            ) as stream:
                async for _text in stream.text_stream:
                    found.append(time.perf_counter() - started)
                    break
    return statistics.median(found[WARM_UP:])


async def drafts() -> list[float]:
    """Milliseconds from update to the first draft, without the provider's own time."""
    found: list[float] = []
    reply = Reply(text="A long answer. " * 20, delay_s=PROVIDER_S, pause_s=0.02)
    alone = await first_word(reply)
    async with (
        AnthropicServer(answer=lambda _body: reply) as server,
        house(with_model(server, [ANNA.id]), [ANNA.id]) as (_, api),
    ):
        for run in range(WARM_UP + RUNS // 3):
            before, sent = len(api.drafts(ANNA.id)), len(api.sent(ANNA.id))
            await api.say(f"question {run}", ANNA)
            arrived = api.state.arrived[max(api.state.arrived)]
            await api.until_sent(ANNA.id, sent + 1, 30)
            shown = api.drafts(ANNA.id)[before:]
            if run >= WARM_UP and shown:
                found.append((shown[0].at - arrived - alone) * 1000)
            await asyncio.sleep(0.02)
    return found


async def crowd() -> tuple[int, int, int, float]:
    """Return how many of 1,000 messages were lost, answered twice, out of order; seconds."""
    users = [User(1000 + number, f"User {number}") for number in range(CHATS)]
    chats = [user.id for user in users]

    def echo(body: dict[str, Any]) -> Reply:
        said = body["messages"][-1]["content"]
        return Reply(text=said if isinstance(said, str) else said[-1]["text"])

    async with (
        AnthropicServer(answer=echo) as server,
        house(with_model(server, chats), chats) as (_, api),
    ):
        started = time.perf_counter()
        wanted: dict[int, list[str]] = {chat: [] for chat in chats}
        for number in range(MESSAGES):
            user = users[number % CHATS]
            text = f"message {number}"
            wanted[user.id].append(text)
            await api.say(text, user)
        per_chat = MESSAGES // CHATS
        await api.until(
            lambda: all(len(api.sent(chat)) >= per_chat for chat in chats), 600
        )
        taken = time.perf_counter() - started
        await asyncio.sleep(1.0)
        lost = twice = disorder = 0
        for chat in chats:
            answers = [one.text for one in api.sent(chat)]
            lost += len(set(wanted[chat]) - set(answers))
            twice += len(answers) - len(set(answers))
            disorder += answers != wanted[chat]
    return lost, twice, disorder, taken


async def year() -> tuple[int, int]:
    """Return the runs of a simulated year, and how many there should be."""
    start = datetime(2026, 1, 1, tzinfo=BERLIN)
    sim = Simulation(
        datetime(2025, 12, 31, 23, 59, 59, tzinfo=BERLIN),
        [
            cron("30 2 * * *", id="1", name="night"),
            cron("0 * * * *", id="2", name="hour"),
            cron("0 7 * * 1-5", id="3", name="workday"),
            every(6 * 3600, id="4", name="six hours"),
        ],
    )
    await sim.scheduler.start()
    await sim.until(datetime(2026, 12, 31, 23, 59, 59, tzinfo=BERLIN))
    workdays = sum(
        datetime.fromordinal(start.toordinal() + day).weekday() < 5
        for day in range(365)
    )
    return len(sim.worker.runs), 365 + 8760 + workdays + 4 * 365


def run() -> Figures:
    """All figures of `scripts/bench telegram`."""
    logging.getLogger().setLevel(logging.CRITICAL)
    to_edge, to_event = asyncio.run(edges())
    to_draft = asyncio.run(drafts())
    lost, twice, disorder, taken = asyncio.run(crowd())
    runs, expected = asyncio.run(year())
    baseline = sorted(to_event)[len(to_event) // 2]
    edge = sorted(to_edge)[len(to_edge) // 2]
    draft = sorted(to_draft)[len(to_draft) // 2]
    figures = {
        "edge_ms": figure(edge, "ms", to_edge, baseline),
        "edge_ours_ms": figure(
            edge - baseline,
            "ms",
            [a - b for a, b in zip(to_edge, to_event, strict=True)],
        ),
        "draft_overhead_ms": figure(draft, "ms", to_draft, baseline),
        "lost": figure(lost, f"of {MESSAGES} messages over {CHATS} chats"),
        "twice": figure(twice, f"of {MESSAGES} messages over {CHATS} chats"),
        "out_of_order": figure(disorder, f"of {CHATS} chats"),
        "crowd_per_s": figure(MESSAGES / taken, "messages/s"),
        "year_runs": figure(runs, "runs in a simulated year", None, expected),
        "year_wrong": figure(abs(runs - expected), "runs"),
    }
    for name in ("edge_ms", "draft_overhead_ms"):
        figures[name]["baseline"] = BASELINE
    figures["year_runs"]["baseline"] = "counted from the calendar"
    return figures
