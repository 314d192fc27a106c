"""How fast and how evenly the satellite's firmware moves a pin, against a stock ESPHome switch.

Both are ESPHome programs on this machine, asked over the native API on loopback by the same client:
the switch entity is commanded, the pin's edge is read from the device's own clock (the one of
time.monotonic_ns), and the confirmed state is the switch's next state message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import json
import os
from pathlib import Path
import statistics
import subprocess
import tempfile
import time
from typing import Any

from aioesphomeapi import APIClient, SwitchInfo

from scripts.house.twin import Twin, build_twin

STOCK_NODE = Path(__file__).with_name("io_stock_node.yaml")
STOCK_PORT = 46153
# A stock command takes 0.1 s, so the stock node gets fewer.
RUNS = 1000
STOCK_RUNS = 100
WARM_UP = 10
FROZEN_RUNS = 5
#: The firmware's LATE_WINDOW_MS, and as much again for a busy machine.
LATE_WINDOW_S = 0.2
FREEZE_MS = 1500
PULSE_MS = 500
LINK_TIMEOUT_MS = 1000
LINK_RUNS = 5
ANSWER_TIMEOUT_S = 30.0

Figure = dict[str, Any]
ActionData = dict[
    str, bool | int | float | str | list[bool] | list[int] | list[float] | list[str]
]


def now_us() -> float:
    """Microseconds of the clock the devices' edges are stamped with."""
    return time.monotonic_ns() / 1000


def percentile(values: list[float], share: float) -> float:
    """Return the value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def figure(
    values: list[float],
    unit: str,
    baseline: str | None = None,
    baseline_value: float | None = None,
) -> Figure:
    """Return one figure: its median, spread and what it is measured against."""
    return {
        "value": round(statistics.median(values), 4),
        "unit": unit,
        "baseline": baseline,
        "baseline_value": None if baseline_value is None else round(baseline_value, 4),
        "runs": len(values),
        "p50": round(statistics.median(values), 4),
        "p99": round(percentile(values, 0.99), 4),
    }


class Bench:
    """One client of one device, with its switch."""

    def __init__(self, host: str, port: int, name: str) -> None:
        self.api = APIClient(host, port, "")
        self._name = name
        self._key = 0
        self._seen: asyncio.Queue[bool] = asyncio.Queue()

    async def connect(self) -> None:
        """Connect and wait for the switch's first state."""
        await self.api.connect(login=True)
        entities, _ = await self.api.list_entities_services()
        self._key = next(
            e.key
            for e in entities
            if isinstance(e, SwitchInfo) and e.name == self._name
        )
        self.api.subscribe_states(
            lambda state: (
                self._seen.put_nowait(bool(getattr(state, "state", False)))
                if state.key == self._key
                else None
            )
        )
        await asyncio.wait_for(self._seen.get(), ANSWER_TIMEOUT_S)

    async def switch(self, on: bool) -> tuple[float, float]:
        """Command the switch; return when it was sent and when its state arrived, in µs."""
        sent = now_us()
        self.api.switch_command(self._key, on)
        while await asyncio.wait_for(self._seen.get(), ANSWER_TIMEOUT_S) is not on:
            pass
        return sent, now_us()


async def measure(
    bench: Bench, runs: int, edge_us: Callable[[int], float]
) -> tuple[list[float], list[float]]:
    """Return milliseconds to the edge and to the confirmed state, one a run."""
    edges: list[float] = []
    confirms: list[float] = []
    for run in range(WARM_UP + runs):
        sent, confirmed = await bench.switch(run % 2 == 0)
        edge = edge_us(run)
        if run >= WARM_UP:
            edges.append((edge - sent) / 1000)
            confirms.append((confirmed - sent) / 1000)
    return edges, confirms


async def stock() -> tuple[list[float], list[float]]:
    """Measure the stock node."""
    program = build_twin(STOCK_NODE, substitutions={"api_port": str(STOCK_PORT)})
    with tempfile.TemporaryDirectory(prefix="stock-") as home:
        moments = Path(home) / "edges"
        moments.touch()
        process = subprocess.Popen(
            [str(program)],
            env={**os.environ, "STOCK_EDGES": str(moments), "ESPHOME_PREFDIR": home},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await accepts(STOCK_PORT)
            bench = Bench("127.0.0.1", STOCK_PORT, "Relay")
            await bench.connect()
            measured = await measure(
                bench,
                STOCK_RUNS,
                lambda _: float(moments.read_text().splitlines()[-1]),
            )
            await bench.api.disconnect()
            return measured
        finally:
            process.terminate()
            process.wait(10)


async def accepts(port: int) -> None:
    """Wait until the port accepts."""
    deadline = time.monotonic() + ANSWER_TIMEOUT_S
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def answers(twin: Twin) -> list[float]:
    """Return milliseconds from mimiclaw_write to its answer, read back from the pin."""
    client = APIClient(twin.host, twin.port, "")
    await client.connect(login=True)
    _, actions = await client.list_entities_services()
    write = next(action for action in actions if action.name == "mimiclaw_write")
    taken = []
    for run in range(WARM_UP + RUNS):
        state = "on" if run % 2 == 0 else "off"
        data: ActionData = {
            "channel": "fan",
            "state": state,
            "duration_ms": 0,
            "actor": "fast_path",
        }
        sent = now_us()
        answer = await client.execute_service(
            write, data, return_response=True, timeout=ANSWER_TIMEOUT_S
        )
        if run >= WARM_UP:
            taken.append((now_us() - sent) / 1000)
        if answer is None or not json.loads(answer.response_data)["ok"]:
            raise RuntimeError(f"the twin refused: {answer}")
    await client.disconnect()
    return taken


async def frozen_pulses(twin: Twin) -> list[float]:
    """Return how late (ms) a 500 ms pulse ended while the main loop was frozen."""
    client = APIClient(twin.host, twin.port, "")
    await client.connect(login=True)
    _, actions = await client.list_entities_services()
    write = next(action for action in actions if action.name == "mimiclaw_write")
    late = []
    for _ in range(FROZEN_RUNS):
        before = twin.control("read pump")["edges"]
        data: ActionData = {
            "channel": "pump",
            "state": "pulse",
            "duration_ms": PULSE_MS,
            "actor": "fast_path",
        }
        await client.execute_service(
            write, data, return_response=True, timeout=ANSWER_TIMEOUT_S
        )
        await asyncio.to_thread(twin.control, f"freeze {FREEZE_MS}")
        # After a freeze the firmware refuses what may have waited, for a moment.
        await asyncio.sleep(FREEZE_MS / 1000 + LATE_WINDOW_S)
        on, off = (e["t_us"] for e in twin.control(f"edges pump {before}")["edges"])
        late.append((off - on) / 1000 - PULSE_MS)
    await client.disconnect()
    return late


async def link_losses(program: Path) -> list[float]:
    """Return how long (ms) after link_timeout the last client's relay went off."""
    late = []
    env = {"MIMICLAW_TWIN_LINK_TIMEOUT_MS": str(LINK_TIMEOUT_MS)}
    with Twin(program, env=env) as twin:
        for _ in range(LINK_RUNS):
            bench = Bench(twin.host, twin.port, "Water pump")
            await bench.connect()
            await bench.switch(True)
            before = twin.control("read pump")["edges"]
            await bench.api.disconnect(force=True)
            gone = now_us()
            while twin.control("read pump")["on"]:
                await asyncio.sleep(0.05)
            off = twin.control(f"edges pump {before}")["edges"][0]["t_us"]
            late.append((off - gone) / 1000 - LINK_TIMEOUT_MS)
    return late


async def measure_all() -> dict[str, Figure]:
    """Run everything, the baseline in the same run."""
    program = await asyncio.to_thread(build_twin)
    stock_edges, stock_confirms = await stock()
    with Twin(program) as twin:
        bench = Bench(twin.host, twin.port, "Water pump")
        await bench.connect()
        edges, confirms = await measure(
            bench,
            RUNS,
            lambda run: float(twin.control(f"edges pump {run}")["edges"][0]["t_us"]),
        )
        await bench.api.disconnect()
        answered = await answers(twin)
        late = await frozen_pulses(twin)
        stats = twin.control("stats")
    losses = await link_losses(program)
    stock_edge = statistics.median(stock_edges)
    stock_confirm = statistics.median(stock_confirms)
    name = "stock switch.template, default settings"
    jitter = figure([float(stats["jitter_p99_us"])], "µs")
    jitter |= {
        "runs": stats["ticks"],
        "p50": stats["jitter_p50_us"],
        "p99": stats["jitter_p99_us"],
    }
    return {
        "edge_ms": figure(edges, "ms", name, stock_edge),
        "confirm_ms": figure(confirms, "ms", name, stock_confirm),
        "edge_ratio": figure(
            [stock_edge / statistics.median(edges)], "stock ÷ ours", name, stock_edge
        ),
        "confirm_ratio": figure(
            [stock_confirm / statistics.median(confirms)],
            "stock ÷ ours",
            name,
            stock_confirm,
        ),
        "answer_ms": figure(answered, "ms"),
        "jitter_p99_us": jitter,
        "jitter_max_us": figure([float(stats["jitter_max_us"])], "µs")
        | {"runs": stats["ticks"]},
        "frozen_pulse_late_ms": figure(late, "ms"),
        "link_loss_late_ms": figure(losses, "ms"),
    }


def run() -> dict[str, Figure]:
    """Return the figures of `scripts/bench io`."""
    return asyncio.run(measure_all())
