"""A turn of the agent against the bare SDK and against Home Assistant's own agents.

One server in another process answers all of them, in one run, in turns. "Overhead" is
ours minus the bare SDK's for the same requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
import json
import os
from pathlib import Path
import statistics
import subprocess
import sys
import time
from types import MappingProxyType
from typing import Any

import anthropic
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentryData
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from benchmarks.loop_watch import watched_loop
from benchmarks.satellite import home
from custom_components.mimiclaw.const import DOMAIN
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.reply import Reply

RUNS = 60
WARM_UP = 8
TOGETHER = 50
FILES = 1000
AGENT = "conversation.mimiclaw"
SDK = "the bare anthropic SDK, same server"
CORE = "Home Assistant's {} integration with Assist"

type Figures = dict[str, dict[str, Any]]
type Timed = Callable[[int], Awaitable[float]]


@contextmanager
def server() -> Iterator[tuple[str, str]]:
    """Run the model; give its two addresses."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.turn_server"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def fill(workspace: Path) -> None:
    """Write a household's memory of many files."""
    for number in range(FILES):
        file = workspace / "memory" / "topics" / f"topic-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Topic {number}\n\nA line about thing {number}.\n")


async def set_up(
    hass: HomeAssistant, address: str, kind: str = "anthropic"
) -> MockConfigEntry:
    """Set the assistant up with this model."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="MimiClaw",
        subentries_data=[
            ConfigSubentryData(
                data={
                    "provider": kind,
                    "api_key": "sk-bench",
                    "model": "bench",
                    "base_url": address,
                },
                subentry_type="provider",
                title="Anthropic",
                unique_id=None,
            )
        ],
        options={"local_intents": False},
    )
    entry.add_to_hass(hass)
    if not await hass.config_entries.async_setup(entry.entry_id):
        raise RuntimeError("the assistant did not set up")
    await hass.async_block_till_done()
    return entry


async def set_up_core(hass: HomeAssistant, kind: str, address: str) -> str:
    """Set up one of Home Assistant's own integrations; return its entity."""
    domain, variable, version, model = {
        "anthropic": ("anthropic", "ANTHROPIC_BASE_URL", (2, 4), "claude-haiku-4-5"),
        "openai": ("openai_conversation", "OPENAI_BASE_URL", (2, 7), "gpt-4o-mini"),
    }[kind]
    os.environ[variable] = address
    await async_setup_component(hass, "llm", {})
    await async_setup_component(hass, "intent", {})
    options = {"llm_hass_api": ["assist"], "chat_model": model, "recommended": False}
    entry = MockConfigEntry(
        domain=domain,
        title="Core",
        version=version[0],
        minor_version=version[1],
        data={"api_key": "sk-bench"},
        subentries_data=[
            ConfigSubentryData(
                data=MappingProxyType(options),
                subentry_type="conversation",
                title="Core agent",
                unique_id=None,
            )
        ],
    )
    entry.add_to_hass(hass)
    if not await hass.config_entries.async_setup(entry.entry_id):
        raise RuntimeError("core's integration did not set up")
    await hass.async_block_till_done()
    return next(
        one for one in hass.states.async_entity_ids("conversation") if "core" in one
    )


async def converse(
    hass: HomeAssistant, text: str, agent: str, conversation_id: str
) -> tuple[float, float]:
    """Say something; return milliseconds to the first text and to the end."""
    first = 0.0
    start = time.perf_counter()

    def heard(_log: Any, delta: dict[str, Any]) -> None:
        nonlocal first
        if not first and delta.get("content") and delta.get("role") != "tool_result":
            first = time.perf_counter() - start

    with (
        chat_session.async_get_chat_session(hass, conversation_id) as session,
        conversation.async_get_chat_log(hass, session, chat_log_delta_listener=heard),
    ):
        result = await conversation.async_converse(
            hass, text, conversation_id, Context(), "en", agent_id=agent
        )
    spoken = result.response.speech["plain"]["speech"]
    if "boiler" not in spoken:
        raise RuntimeError(f"{agent} answered {spoken!r}")
    return first * 1000, (time.perf_counter() - start) * 1000


class Bare:
    """The SDK alone, sending what a turn of ours sends."""

    def __init__(self, client: anthropic.AsyncAnthropic, body: dict[str, Any]) -> None:
        self._client = client
        self._body = {
            key: body[key] for key in body if key not in {"messages", "stream"}
        }

    async def ask(self, messages: list[dict[str, Any]]) -> tuple[float, Any]:
        """Ask once; return milliseconds to the first text and the whole message."""
        first = 0.0
        start = time.perf_counter()
        asked: Any = messages
        async with self._client.messages.stream(**self._body, messages=asked) as stream:
            async for event in stream:
                if event.type == "text" and not first:
                    first = (time.perf_counter() - start) * 1000
            return first, await stream.get_final_message()

    async def plain(self, number: int) -> float:
        """Time to the first text of a plain turn, in milliseconds."""
        first, _ = await self.ask([{"role": "user", "content": f"plain {number}"}])
        return first

    async def one_tool(self, number: int) -> float:
        """Time of a whole turn with one tool call, in milliseconds."""
        start = time.perf_counter()
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"{number} file"}]
        _, message = await self.ask(messages)
        call = next(block for block in message.content if block.type == "tool_use")
        messages.append({"role": "assistant", "content": message.content})
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "# Memory"}
        messages.append({"role": "user", "content": [result]})
        await self.ask(messages)
        return (time.perf_counter() - start) * 1000


async def in_turns(runs: int, *ways: Timed) -> list[list[float]]:
    """Time each way, one after the other, so that a slow minute hits them all."""
    times: list[list[float]] = [[] for _ in ways]
    for number in range(-WARM_UP, runs):
        for way, kept in zip(ways, times, strict=True):
            taken = await way(number)
            if number >= 0:
                kept.append(taken)
    return times


def figure(
    value: float,
    unit: str,
    times: list[float] | None = None,
    baseline: str | None = None,
    baseline_value: float | None = None,
) -> dict[str, Any]:
    """Return one figure."""
    ordered = sorted(times or [value])
    return {
        "value": value,
        "unit": unit,
        "baseline": baseline,
        "baseline_value": baseline_value,
        "runs": len(ordered),
        "p50": statistics.median(ordered),
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
    }


async def overheads(hass: HomeAssistant, address: str, body: dict[str, Any]) -> Figures:
    """Measure against the bare SDK."""
    client = anthropic.AsyncAnthropic(api_key="sk-bench", base_url=address)
    bare = Bare(client, body)

    async def ours_first(number: int) -> float:
        return (await converse(hass, f"plain {number}", AGENT, f"f{number}"))[0]

    async def ours_tool(number: int) -> float:
        return (await converse(hass, f"{number} file", AGENT, f"t{number}"))[1]

    sdk, ours = await in_turns(RUNS, bare.plain, ours_first)
    sdk_tool, ours_one = await in_turns(RUNS, bare.one_tool, ours_tool)
    await client.close()
    base, base_tool = statistics.median(sdk), statistics.median(sdk_tool)
    return {
        "ttft_overhead_ms": figure(
            statistics.median(ours) - base, "ms", ours, SDK, base
        ),
        "turn_overhead_ms": figure(
            statistics.median(ours_one) - base_tool, "ms", ours_one, SDK, base_tool
        ),
    }


async def against_core(
    hass: HomeAssistant, kind: str, address: str, key: str
) -> Figures:
    """Measure a plain turn against Home Assistant's own integration."""
    core = await set_up_core(hass, kind, address)

    def way(agent: str) -> Timed:
        async def say(number: int) -> float:
            return (await converse(hass, f"plain {number}", agent, f"{agent}{number}"))[
                1
            ]

        return say

    theirs, ours = await in_turns(RUNS, way(core), way(AGENT))
    base = statistics.median(theirs)
    ratio = base / statistics.median(ours)
    return {key: figure(ratio, "core ÷ ours", ours, CORE.format(kind), base)}


async def together(hass: HomeAssistant) -> Figures:
    """Measure many conversations at once."""
    alone = [
        (await converse(hass, f"plain {number}", AGENT, f"alone{number}"))[1]
        for number in range(20)
    ]
    single = statistics.median(alone)
    start = time.perf_counter()
    async with watched_loop() as worst:
        times = await asyncio.gather(
            *(
                converse(hass, f"plain {number}", AGENT, f"many{number}")
                for number in range(TOGETHER)
            )
        )
    whole = (time.perf_counter() - start) * 1000
    return {
        "blocked_max_ms": figure(worst[0], "ms"),
        "together_50_ratio": figure(
            whole / TOGETHER / single,
            "ms a turn among 50 ÷ ms alone",
            [end for _, end in times],
            "one turn alone",
            single,
        ),
    }


async def session_growth(hass: HomeAssistant, workspace: Path) -> Figures:
    """Measure a turn after a short and after a very long conversation."""
    long = workspace / "sessions" / "assist_long.jsonl"
    line = json.dumps({"role": "user", "content": "word " * 40, "ts": 1}) + "\n"
    answer = json.dumps({"role": "assistant", "content": "word " * 40, "ts": 1}) + "\n"
    short = workspace / "sessions" / "assist_short.jsonl"
    short.write_text((line + answer) * 10)
    long.write_text((line + answer) * 20_000)

    def way(conversation_id: str) -> Timed:
        async def say(number: int) -> float:
            return (await converse(hass, f"plain {number}", AGENT, conversation_id))[0]

        return say

    few, many = await in_turns(20, way("short"), way("long"))
    base = statistics.median(few)
    ratio = statistics.median(many) / base
    return {
        "session_40k_ratio": figure(
            ratio, "first text after 40,000 lines ÷ after 20", many, "20 lines", base
        )
    }


def shared(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the share of a request that the next one begins with, in bytes."""
    first, second = (
        json.dumps(
            [body.get("tools"), body.get("system"), body["messages"]], default=str
        ).encode()
        for body in (one, other)
    )
    # The cache marks move along with the last message; they are not text.
    first = first.replace(b', "cache_control": {"type": "ephemeral"}', b"")
    second = second.replace(b', "cache_control": {"type": "ephemeral"}', b"")
    same = next(
        (
            at
            for at, pair in enumerate(zip(first, second, strict=False))
            if pair[0] != pair[1]
        ),
        min(len(first), len(second)),
    )
    return same / len(first)


async def prefix(
    workspace_filled: Callable[[Path], None],
) -> tuple[Figures, dict[str, Any]]:
    """Measure what consecutive turns of a conversation share; return one body, too."""
    async with (
        AnthropicServer(answer=lambda _b: Reply(text="boiler")) as model,
        home() as hass,
    ):
        await set_up(hass, model.url)
        workspace_filled(Path(hass.config.path("mimiclaw")))
        for number in range(8):
            await converse(hass, f"tell me about topic {number}", AGENT, "one")
        asked = model.asked
    shares = [shared(a, b) for a, b in pairwise(asked)]
    return (
        {"prefix_shared": figure(min(shares), "share of bytes", shares)},
        asked[0],
    )


async def measure() -> Figures:
    """Run everything."""
    figures, body = await prefix(fill)
    with server() as (address, openai):
        async with home() as hass:
            await set_up(hass, address)
            workspace = Path(hass.config.path("mimiclaw"))
            fill(workspace)
            figures |= await overheads(hass, address, body)
            figures |= await together(hass)
            figures |= await session_growth(hass, workspace)
            figures |= await against_core(hass, "anthropic", address, "core_ratio")
        async with home() as hass:
            await set_up(hass, f"{openai}/v1", "openai")
            figures |= await against_core(
                hass, "openai", f"{openai}/v1", "core_openai_ratio"
            )
    return figures


def run() -> Figures:
    """Measure; see DESIGN's table of benches for the keys."""
    return asyncio.run(measure())
