"""From a spoken sentence to a pin, over link cuts, with many satellites.

Against Home Assistant's default agent, the core ESPHome integration and a stock ESPHome
node in the same run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
import gc
import json
import logging
from pathlib import Path
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from homeassistant import loader
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import (
    Context,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_test_home_assistant,
)

from custom_components.mimiclaw.const import (
    CONF_PROVIDER,
    DOMAIN,
    PROVIDER_OFFLINE,
    SUBENTRY_PROVIDER,
    SUBENTRY_SATELLITE,
)
from scripts.house.twin import Twin, build_twin
from tests.satellite.wire import Wire

SENTENCES = ("turn on the water pump", "turn off the water pump")
#: Both paths have loaded and cached what they load and cache by then.
WARM_UP = 20
RUNS = 500
CUTS = 200
GROWTH = (1, 10, 50)
BASELINE = "default agent, core ESPHome integration, stock node"
STOCK_YAML = Path(__file__).with_name("satellite_node.yaml")
STOCK_PORT = 46154
PATIENCE_S = 60.0

type Figures = dict[str, dict[str, Any]]


@asynccontextmanager
async def home() -> AsyncIterator[HomeAssistant]:
    """Run a Home Assistant in this process, with its real conversation component."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        hass = await stack.enter_async_context(
            async_test_home_assistant(config_dir=folder)
        )
        hass.data.pop(loader.DATA_CUSTOM_COMPONENTS)
        for component in ("homeassistant", "conversation"):
            if not await async_setup_component(hass, component, {}):
                raise RuntimeError(f"{component} did not set up")
        try:
            yield hass
        finally:
            await hass.async_stop(force=True)


async def until(condition: Callable[[], Any]) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)


def assistant(ports: dict[int, str]) -> MockConfigEntry:
    """Return an entry for the assistant with a satellite for each port and MAC."""
    provider = {
        "subentry_type": SUBENTRY_PROVIDER,
        "data": {CONF_PROVIDER: PROVIDER_OFFLINE},
        "title": "Offline",
        "unique_id": None,
    }
    satellites = [
        {
            "subentry_type": SUBENTRY_SATELLITE,
            "data": {"host": "127.0.0.1", "port": port, "noise_psk": ""},
            "title": f"Satellite {port}",
            "unique_id": mac.lower(),
        }
        for port, mac in ports.items()
    ]
    return MockConfigEntry(
        domain=DOMAIN, title="MimiClaw", subentries_data=[provider, *satellites]
    )


async def set_up(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Set the assistant up and wait until every satellite answers."""
    entry.add_to_hass(hass)
    if not await hass.config_entries.async_setup(entry.entry_id):
        raise RuntimeError("the assistant did not set up")
    satellites = entry.runtime_data.satellites
    await until(lambda: all(one.available for one in satellites.satellites()))
    await hass.async_block_till_done()


@dataclass
class Spoken:
    """Says sentences and notes when the entity confirmed them."""

    hass: HomeAssistant
    agent_id: str
    entity_id: str
    confirmed: asyncio.Future[int] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Listen to the entity."""
        self.hass.bus.async_listen(EVENT_STATE_CHANGED, self._changed)

    @callback
    def _changed(self, event: Event[EventStateChangedData]) -> None:
        waiting = self.confirmed
        if event.data["entity_id"] == self.entity_id and waiting and not waiting.done():
            waiting.set_result(time.monotonic_ns())

    async def say(self, text: str) -> tuple[int, int]:
        """Say a sentence; return when it was said and when confirmed, in nanoseconds."""
        self.confirmed = asyncio.get_running_loop().create_future()
        started = time.monotonic_ns()
        result = await conversation.async_converse(
            self.hass, text, None, Context(), language="en", agent_id=self.agent_id
        )
        if result.response.error_code is not None:
            raise RuntimeError(f"{self.agent_id} did not understand {text!r}")
        async with asyncio.timeout(PATIENCE_S):
            return started, await self.confirmed


async def ours() -> tuple[list[float], list[float]]:
    """Milliseconds to the pin's edge and to the entity's confirmed state."""
    edges: list[float] = []
    confirmed: list[float] = []
    with Twin() as twin:
        async with home() as hass:
            entry = assistant({twin.port: twin.mac})
            await set_up(hass, entry)
            agent = next(
                one
                for one in hass.states.async_entity_ids("conversation")
                if one != conversation.HOME_ASSISTANT_AGENT
            )
            voice = Spoken(hass, agent, "switch.greenhouse_water_pump")
            for run in range(WARM_UP + RUNS):
                started, seen = await voice.say(SENTENCES[run % 2])
                edge = twin.control("edges pump")["edges"][-1]["t_us"]
                if run >= WARM_UP:
                    edges.append((edge * 1000 - started) / 1e6)
                    confirmed.append((seen - started) / 1e6)
            await hass.config_entries.async_unload(entry.entry_id)
    return edges, confirmed


async def stock() -> list[float]:
    """Milliseconds to the confirmed state by Home Assistant's own path."""
    program = build_twin(STOCK_YAML)
    confirmed: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        node = await asyncio.create_subprocess_exec(
            str(program), cwd=folder, stdout=asyncio.subprocess.DEVNULL
        )
        try:
            async with home() as hass:
                entry = MockConfigEntry(
                    domain="esphome",
                    unique_id="02:4d:43:00:0f:02",
                    data={
                        "host": "127.0.0.1",
                        "port": STOCK_PORT,
                        "password": "",
                        "noise_psk": "",
                        "device_name": "stock-pump",
                    },
                )
                entry.add_to_hass(hass)
                if not await hass.config_entries.async_setup(entry.entry_id):
                    raise RuntimeError("the ESPHome integration did not set up")
                entity = "switch.water_pump"
                await until(lambda: (s := hass.states.get(entity)) and s.state == "off")
                voice = Spoken(hass, conversation.HOME_ASSISTANT_AGENT, entity)
                for run in range(WARM_UP + RUNS):
                    started, seen = await voice.say(SENTENCES[run % 2])
                    if run >= WARM_UP:
                        confirmed.append((seen - started) / 1e6)
                await hass.config_entries.async_unload(entry.entry_id)
        finally:
            node.kill()
            await node.wait()
    return confirmed


async def cuts() -> tuple[list[float], int]:
    """Seconds from each return of the device to its use, and what got stuck."""
    chance = random.Random(4)  # a repeatable choice, nothing secret
    recoveries: list[float] = []
    stuck = 0
    with Twin() as twin:
        async with home() as hass, Wire(twin.port) as wire:
            entry = assistant({wire.port: twin.mac})
            await set_up(hass, entry)
            satellites = entry.runtime_data.satellites
            pump = satellites.resolve("pump")[0].key
            for _ in range(CUTS):
                await asyncio.sleep(chance.random() * 0.05)
                command = asyncio.create_task(satellites.write(pump, "toggle"))
                await asyncio.sleep(chance.random() * 0.002)
                back = await _cut(chance, twin, wire)
                # Back is when it answers; that it looks available may be old news.
                async with asyncio.timeout(PATIENCE_S):
                    while not (await satellites.read(pump)).ok:
                        await asyncio.sleep(0.005)
                recoveries.append(time.monotonic() - back)
                await asyncio.wait([command], timeout=2)
                stuck += not command.done()
                # What the entity shows is what the pin is.
                real = twin.control("read pump")["on"]
                stuck += satellites.state(pump).state != real
            await hass.config_entries.async_unload(entry.entry_id)
    return recoveries, stuck


async def _cut(chance: random.Random, twin: Twin, wire: Wire) -> float:
    """Break the link one way or another; return when the device was back."""
    away = chance.random() * 0.6
    match chance.choice(("reset", "silence", "power", "network")):
        case "reset":
            wire.cut()
        case "silence":
            # Longer than a command waits: both ends still believe in the connection.
            wire.hold()
            await asyncio.sleep(0.8 + away)
            wire.release()
        case "power":
            await asyncio.to_thread(twin.stop, kill=True)
            await asyncio.sleep(away)
            await asyncio.to_thread(twin.start)
        case "network":
            port = wire.port
            await wire.close()
            await asyncio.sleep(away)
            wire.port = port
            await wire.__aenter__()
    return time.monotonic()


async def growth(count: int) -> tuple[float, float, float]:
    """Seconds to set up, megabytes more and the milliseconds of a write, for `count`."""
    async with AsyncExitStack() as running:
        twins = [
            running.enter_context(
                Twin(
                    mac=f"02:4D:43:00:01:{number:02X}",
                    name=f"satellite-{number}",
                    friendly_name=f"House {number}",
                )
            )
            for number in range(count)
        ]
        async with home() as warm:
            # What the assistant itself and its imports take is not the satellites'.
            nobody = assistant({})
            await set_up(warm, nobody)
            await warm.config_entries.async_unload(nobody.entry_id)
        hass = await running.enter_async_context(home())
        before = _resident_mb()
        entry = assistant({twin.port: twin.mac for twin in twins})
        started = time.monotonic()
        await set_up(hass, entry)
        took = time.monotonic() - started
        more = _resident_mb() - before
        satellites = entry.runtime_data.satellites
        pumps = [one.key for one in satellites.channels() if one.id == "pump"]
        assert len(pumps) == count
        writes = []
        for run in range(100):
            begun = time.perf_counter()
            outcome = await satellites.write(pumps[run % count], "toggle")
            writes.append((time.perf_counter() - begun) * 1000)
            assert outcome.ok
        assert entry.state is ConfigEntryState.LOADED
        await hass.config_entries.async_unload(entry.entry_id)
    return took, more, statistics.median(writes)


def growth_alone(count: int) -> tuple[float, float, float]:
    """Run `growth` in a process of its own: memory once used is not given back."""
    code = (
        "import asyncio, json, logging, benchmarks.satellite as bench\n"
        "logging.getLogger().setLevel(logging.ERROR)\n"
        f"print(json.dumps(asyncio.run(bench.growth({count}))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        check=True,
    )
    took, more, write = json.loads(done.stdout.splitlines()[-1])
    return took, more, write


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def figure(
    value: float,
    unit: str,
    times: list[float] | None = None,
    baseline: float | None = None,
) -> dict[str, Any]:
    """One figure in the form all benchmarks share."""
    ordered = sorted(times or [value])
    return {
        "value": value,
        "unit": unit,
        "baseline": BASELINE if baseline is not None else None,
        "baseline_value": baseline,
        "runs": len(ordered),
        "p50": statistics.median(ordered),
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
    }


def run() -> Figures:
    """All figures of `scripts/bench satellite`."""
    logging.getLogger().setLevel(logging.ERROR)
    edges, confirmed = asyncio.run(ours())
    theirs = asyncio.run(stock())
    edge, confirm, base = map(statistics.median, (edges, confirmed, theirs))
    recoveries, stuck = asyncio.run(cuts())
    figures = {
        "edge_ms": figure(edge, "ms", edges),
        "confirm_ms": figure(confirm, "ms", confirmed, base),
        "stock_confirm_ms": figure(base, "ms", theirs),
        "confirm_ratio": figure(base / confirm, "×", None, base),
        "recovery_max_s": figure(max(recoveries), "s", recoveries),
        "stuck": figure(stuck, f"of {CUTS} cuts"),
    }
    for count in GROWTH:
        took, more, write = growth_alone(count)
        figures |= {
            f"setup_s_{count}": figure(took, "s"),
            f"memory_mb_{count}": figure(more, "MB"),
            f"write_ms_{count}": figure(write, "ms"),
        }
    return figures
