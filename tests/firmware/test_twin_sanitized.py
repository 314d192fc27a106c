"""The whole twin, ESPHome included, under the sanitizers: traffic, freezes, stalls, dropped clients."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from scripts.house.twin import Twin, build_twin

from .conftest import NODES, Client
from .waiting import until

SANITIZERS = {
    "address and undefined": (
        "-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer",
        # ESPHome never frees what lives as long as the device.
        {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
    ),
    "thread": ("-O1 -fsanitize=thread", {"TSAN_OPTIONS": "halt_on_error=0"}),
}


@pytest.fixture(scope="module", params=SANITIZERS)
def sanitized(request: pytest.FixtureRequest) -> tuple[Path, dict[str, str]]:
    flags, env = SANITIZERS[request.param]
    return build_twin(
        NODES / "policy.yaml", log=lambda _: None, compiler_flags=flags
    ), env


async def traffic(client: Client) -> None:
    for channel in (
        "plain",
        "up",
        "down",
        "short",
        "bell",
        "freezer",
        "slow",
        "button",
        "level",
        "nothing",
    ):
        for state in ("on", "toggle", "pulse", "off", "rubbish"):
            for duration in (0, 20, -1):
                await client.write(channel, state, duration)
        await client.read(channel)
    await client.action("mimiclaw_describe")
    await client.action("mimiclaw_describe_page", page=7)


async def test_clean(
    sanitized: tuple[Path, dict[str, str]], loopback: None, tmp_path: Path
) -> None:
    program, env = sanitized
    with Twin(
        program, env={**env, "MIMICLAW_TWIN_LINK_TIMEOUT_MS": "5000"}, home=tmp_path
    ) as twin:
        clients = [await Client(twin).connect() for _ in range(3)]
        await asyncio.gather(*(traffic(client) for client in clients))
        for line in (
            "set button 0",
            "set level 100",
            "stick plain 1",
            "edges plain",
            "stats",
        ):
            twin.control(line)
        twin.control("freeze 300")
        await clients[0].write("plain", "on")
        twin.control("stall 3000")
        assert (await clients[0].write("plain", "on"))["code"] == "stalled"
        await until(
            lambda: twin.control("stats")["refusals"]["stalled"] > 0, "awake again"
        )
        twin.control("drop")
        for client in clients:
            await client.close()
        await until(lambda: twin.control("stats")["link_losses"] > 0, "link lost")
        last = await Client(twin).connect()
        await traffic(last)
        await last.close()
        code = twin.stop()
        text = twin.log_path.read_text(errors="replace")
    for word in ("AddressSanitizer", "runtime error", "ThreadSanitizer"):
        assert word not in text, text[text.index(word) - 200 :][:6000]
    assert code == 0
