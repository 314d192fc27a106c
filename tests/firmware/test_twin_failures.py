"""What the relays do when the main loop, the clients or the I/O task are not well."""

from __future__ import annotations

import asyncio
from pathlib import Path
import signal
import sys
import time

from scripts.house.twin import Twin

from .conftest import Client
from .waiting import until

# As in nodes/policy.yaml
OTA_PORT = 18266


def edges(twin: Twin, channel: str) -> list[tuple[int, int]]:
    """Edges of a pin as (microseconds of the monotonic clock, level)."""
    return [(e["t_us"], e["level"]) for e in twin.control(f"edges {channel}")["edges"]]


def now_us() -> int:
    return time.monotonic_ns() // 1000


async def test_a_pulse_ends_while_the_main_loop_is_frozen(client: Client) -> None:
    twin = client.twin
    for _ in range(5):
        before = twin.control("read pump")["edges"]
        assert (await client.write("pump", "pulse", 500))["ok"]
        twin.control("freeze 5000")
        frozen_from = now_us()
        # Nothing of ESPHome runs for five seconds; its next answer ends them.
        assert (await client.read("pump"))["state"] is False
        thawed = now_us()
        (on, _), (off, _) = edges(twin, "pump")[before:]
        if off > frozen_from:
            break
        # A machine so busy that the freeze came after the pulse proves nothing; again.
    assert thawed - frozen_from > 4_000_000
    assert frozen_from < off < thawed - 3_000_000
    assert off - on >= 500_000


async def test_max_on_time_ends_while_the_main_loop_is_frozen(policy: Client) -> None:
    assert (await policy.write("short", "on"))["ok"]
    policy.twin.control("freeze 3000")
    assert (await policy.read("short"))["state"] is False
    (on, _), (off, _) = edges(policy.twin, "short")
    assert off - on < 2_500_000
    await until(
        lambda: any(e["type"] == "max_on" for e in policy.events),
        "told once it can be told",
    )


async def test_all_clients_gone_every_relay_is_safe(
    twin_program: Path, loopback: None
) -> None:
    with Twin(twin_program, env={"MIMICLAW_TWIN_LINK_TIMEOUT_MS": "700"}) as twin:
        first = await Client(twin).connect()
        second = await Client(twin).connect()
        for channel in ("pump", "fan", "grow_light", "valve", "heater"):
            assert (await first.write(channel, "on"))["ok"]
        await first.close()
        # One client is a link: nothing happens.
        await asyncio.sleep(1.0)
        assert twin.control("read pump")["on"]
        losses = twin.control("stats")["link_losses"]
        await second.close()
        gone = now_us()
        await until(
            lambda: twin.control("stats")["link_losses"] > losses, "the link is lost"
        )
        for channel in ("pump", "fan", "grow_light", "valve", "heater"):
            assert not twin.control(f"read {channel}")["on"]
            assert edges(twin, channel)[-1][0] - gone > 500_000
        # Whoever comes back hears what happened, and nothing is switched on behind his back.
        third = await Client(twin).connect()
        await until(
            lambda: any(e["type"] == "link_lost" for e in third.events),
            "the loss is told",
        )
        event = next(e for e in third.events if e["type"] == "link_lost")
        assert int(event["age_ms"]) > 0
        assert not twin.control("read pump")["on"]
        assert (await third.write("pump", "on"))["ok"]
        await third.close()


async def test_dropped_clients_count_as_gone(
    twin_program: Path, loopback: None
) -> None:
    with Twin(twin_program, env={"MIMICLAW_TWIN_LINK_TIMEOUT_MS": "300"}) as twin:
        client = await Client(twin).connect()
        assert (await client.write("pump", "on"))["ok"]
        twin.control("drop")
        await until(lambda: not twin.control("read pump")["on"], "safe after the drop")
        await client.close()


async def test_a_bare_socket_is_no_client(twin_program: Path, loopback: None) -> None:
    with Twin(twin_program, env={"MIMICLAW_TWIN_LINK_TIMEOUT_MS": "300"}) as twin:
        client = await Client(twin).connect()
        assert (await client.write("pump", "on"))["ok"]
        _, scanner = await asyncio.open_connection(twin.host, twin.port)
        await client.close()
        await until(
            lambda: not twin.control("read pump")["on"],
            "safe although a socket is open",
        )
        scanner.close()


async def test_a_client_that_vanishes_without_a_word_is_gone(
    twin_program: Path, loopback: None
) -> None:
    """A machine that loses power closes no socket. Its program is stopped here, socket and all."""
    with Twin(twin_program, env={"MIMICLAW_TWIN_LINK_TIMEOUT_MS": "1000"}) as twin:
        holder = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("silent_client.py")),
            str(twin.port),
            stdout=asyncio.subprocess.PIPE,
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"on\n"
        # Quiet, but alive: it answers when it is asked.
        await asyncio.sleep(2.5)
        assert twin.control("read pump")["on"]
        holder.send_signal(signal.SIGSTOP)
        silent = now_us()
        await until(lambda: not twin.control("read pump")["on"], "safe in the silence")
        assert edges(twin, "pump")[-1][0] - silent > 500_000
        assert twin.control("stats")["clients"] == 1
        holder.kill()
        await holder.wait()


async def test_a_stalled_task_is_forced_safe_and_answers(client: Client) -> None:
    assert (await client.write("pump", "on"))["ok"]
    client.twin.control("stall 1500")
    started = now_us()
    answer = await client.write("fan", "on")
    assert (answer["ok"], answer["code"]) == (False, "stalled")
    assert not client.twin.control("read pump")["on"]
    assert edges(client.twin, "pump")[-1][0] - started < 1_400_000
    await until(
        lambda: any(e["type"] == "stalled" for e in client.events), "the stall is told"
    )
    # Awake again it works, and the command it slept through stays undone.
    await until(
        lambda: any(
            e["detail"] == "stalled" and e["type"] == "fail_safe" for e in client.events
        ),
        "awake",
    )
    assert client.twin.control("read fan")["edges"] == 0
    assert (await client.write("fan", "on"))["ok"]


SAFE_SHUTDOWN = "Shutting down with every relay in its safe state"


async def test_a_shutdown_puts_every_relay_safe_first(policy: Client) -> None:
    twin = policy.twin
    assert (await policy.write("plain", "on"))["ok"]
    assert (await policy.write("freezer", "off"))["ok"]
    # One that otherwise would have to stay on for two seconds
    await asyncio.sleep(1.0)
    assert (await policy.write("slow", "on"))["ok"]
    assert twin.stop() == 0
    assert SAFE_SHUTDOWN in twin.log_path.read_text()


async def test_a_restart_puts_every_relay_safe_first(policy: Client) -> None:
    assert (await policy.write("plain", "on"))["ok"]
    policy.api.button_command(policy.keys["restart"])
    await until(
        lambda: SAFE_SHUTDOWN in policy.twin.log_path.read_text(),
        "safe before the restart",
    )


async def test_an_update_puts_every_relay_safe_first(policy: Client) -> None:
    assert (await policy.write("plain", "on"))["ok"]
    assert (await policy.write("lamp", "on"))["ok"]
    assert (await policy.write("freezer", "off"))["ok"]
    reader, writer = await asyncio.open_connection(policy.twin.host, OTA_PORT)
    # The upload protocol's greeting, its features, then the size of an image that never comes
    writer.write(bytes((0x6C, 0x26, 0xF7, 0x5C, 0x45)))
    assert (await reader.readexactly(2))[0] == 0
    writer.write(b"\x00")
    await reader.readexactly(2)
    writer.write((4_000_000).to_bytes(4, "big"))
    await until(
        lambda: not policy.twin.control("read plain")["on"],
        "safe while the update runs",
    )
    assert policy.twin.control("read freezer")["on"]
    # It fails; the relays are usable again and stay as they are.
    writer.close()
    await until(
        lambda: any(e["detail"] == "shutting_down" for e in policy.events), "told"
    )
    assert not policy.twin.control("read plain")["on"]
    assert (await policy.write("plain", "on"))["ok"]
    # What a restart brings back is the state the failed update left.
    await policy.close()
    policy.twin.stop()
    policy.twin.start()
    assert not policy.twin.control("read lamp")["on"]


async def test_ten_thousand_commands_of_four_clients(twin: Twin) -> None:
    clients = [await Client(twin).connect() for _ in range(4)]
    channels = ("pump", "fan", "grow_light", "heater")
    answers: list[str] = []

    async def talk(client: Client, channel: str) -> None:
        for burst in range(250):
            # Ten at once from each of the four, all in flight together
            results = await asyncio.gather(
                *(
                    client.write(channel, "on" if (burst * 10 + i) % 2 == 0 else "off")
                    for i in range(10)
                )
            )
            for i, result in enumerate(results):
                assert result["channel"] == channel
                assert result["state"] is (i % 2 == 0)
                answers.append(result["code"])

    await asyncio.gather(
        *(
            talk(client, channel)
            for client, channel in zip(clients, channels, strict=True)
        )
    )
    assert answers == ["ok"] * 10_000
    # Every one of them moved its pin: none was lost, none was merged with its neighbour.
    for channel in channels:
        assert twin.control(f"read {channel}")["edges"] == 2_500
    assert twin.control("stats")["lost_messages"] == 0
    for client in clients:
        await client.close()


async def test_a_full_queue_refuses_at_once(policy: Client) -> None:
    """While the I/O task sleeps, its queue fills; what does not fit is refused, the rest is answered."""
    policy.twin.control("stall 3000")
    results = await asyncio.gather(*(policy.write("plain", "on") for _ in range(300)))
    codes = [result["code"] for result in results]
    assert len(codes) == 300
    assert set(codes) == {"queue_full", "stalled"}
    assert (
        codes.count("stalled")
        == policy.twin.control("stats")["queue_high_water"]
        == 128
    )


async def test_describe_names_every_channel_and_its_policy(client: Client) -> None:
    described = await client.action("mimiclaw_describe")
    assert described["name"] == "mimiclaw-twin"
    assert described["friendly_name"] == "Greenhouse"
    assert (described["project"], described["version"]) == (
        "mimiclaw.satellite",
        "0.1.0",
    )
    assert (described["v"], described["core"], described["tick_us"]) == (1, 0, 1000)
    channels = {channel["id"]: channel for channel in described["channels"]}
    assert list(channels) == [
        "pump",
        "fan",
        "grow_light",
        "valve",
        "gate",
        "heater",
        "door",
        "moisture",
    ]
    assert channels["valve"]["max_on_ms"] == 900_000
    assert channels["gate"]["momentary_ms"] == 500
    assert channels["heater"]["confirm"] is True
    assert channels["pump"]["names"]["th"] == ["ปั๊มน้ำ", "ปั๊ม"]
    assert len(channels["pump"]["names"]) == 10
    assert channels["moisture"]["unit"] == "%"
    assert channels["door"]["actors"] == []
    # The key ties a channel to its entity, whatever either is called.
    for channel in channels.values():
        assert client.keys[channel["object_id"]] == channel["key"]
