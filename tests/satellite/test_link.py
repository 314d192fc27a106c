"""The native link against the real firmware, over networks good and bad."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from custom_components.mimiclaw.satellite.errors import LinkError, Trouble
from custom_components.mimiclaw.satellite.model import ChannelKind, ChannelState
from custom_components.mimiclaw.satellite.native_link import NativeLink
from custom_components.mimiclaw.satellite.session import Address, Session
from scripts.house.twin import Twin

from .noise_front import NoiseFront
from .recorder import Recorder
from .wire import Wire

KEY = "bm90IGEgc2VjcmV0LCBqdXN0IHRoaXJ0eSB0d28gYnk="
OTHER_KEY = "YW5vdGhlciBvbmUsIGFsc28gdGhpcnR5LXR3byBieXQ="

type MakeLink = Callable[..., Coroutine[Any, Any, NativeLink]]


def _spawn(target: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(target, name=name)


async def _no_zeroconf() -> Any:
    raise AssertionError("an address on loopback needs no mDNS")


@pytest.fixture
def owner() -> Recorder:
    return Recorder()


@pytest.fixture
async def make_link(owner: Recorder) -> AsyncIterator[MakeLink]:
    """Start links; afterwards none of them may have left anything behind."""
    links: list[NativeLink] = []
    before = asyncio.all_tasks()

    async def make(port: int, key: str = "", mac: str = "") -> NativeLink:
        address = Address("127.0.0.1", port, key, mac.lower())
        link = NativeLink(address, owner, _spawn, _no_zeroconf)
        links.append(link)
        await link.async_start()
        return link

    yield make
    for link in links:
        await link.async_stop()
        assert not link.up
    await asyncio.sleep(0)
    left = {
        one for one in asyncio.all_tasks() - before if "satellite" in one.get_name()
    }
    assert not left


async def _write(link: NativeLink, channel: str, state: str) -> dict[str, Any]:
    return dict(await link.write(channel, state, 0, "agent"))  # type: ignore[arg-type]


async def test_learns_what_the_device_has(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    await make_link(twin.port, mac=twin.mac)
    await owner.until(lambda: owner.up)
    assert owner.node is not None
    assert owner.description is not None
    assert owner.node.mac == twin.mac.lower()
    assert owner.description.project == "mimiclaw.satellite"
    channels = {one.id: one for one in owner.description.channels}
    assert channels["pump"].kind is ChannelKind.RELAY
    assert channels["pump"].names["de"][0] == "Wasserpumpe"
    assert channels["valve"].max_on_ms == 900_000
    assert channels["gate"].momentary
    assert channels["heater"].confirm
    assert channels["moisture"].unit == "%"
    assert owner.states["door"] == ChannelState(state=False)


async def test_write_is_read_back_from_the_pin(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    answer = await _write(link, "pump", "on")
    assert answer["state"] is True
    assert twin.control("read pump")["on"] is True
    await owner.until(lambda: owner.states["pump"].state is True)

    twin.control("stick pump 1")
    answer = await _write(link, "pump", "off")
    assert answer["ok"] is False
    assert answer["code"] == "not_moved"
    assert answer["state"] is True


async def test_reading_changes_nothing(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    await _write(link, "fan", "on")
    edges = twin.control("edges fan")["count"]
    for _ in range(20):
        assert (await link.read("fan"))["state"] is True
    assert twin.control("edges fan")["count"] == edges
    assert twin.control("read fan")["on"] is True


async def test_inputs_and_analog_values_arrive(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    await make_link(twin.port)
    await owner.until(lambda: owner.up)
    twin.control("set door 1")
    await owner.until(lambda: owner.states["door"].state is True)
    twin.control("set moisture 42")
    await owner.until(lambda: abs((owner.states["moisture"].value or 0) - 42) < 0.1)


async def test_policy_events_arrive_with_their_details(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    answer = await link.write("valve", "pulse", 1_000_000, "agent")
    assert answer["code"] == "over_max"
    await owner.until(lambda: bool(owner.events))
    event = owner.events[-1]
    assert (event.type, event.channel, event.detail) == ("refused", "valve", "over_max")
    assert event.actor == "agent"


async def test_commands_to_one_channel_keep_their_order(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    start = twin.control("edges pump")["count"]
    states = ["on", "off"] * 20 + ["on"]
    answers = await asyncio.gather(*(_write(link, "pump", one) for one in states))
    assert [one["state"] for one in answers] == [one == "on" for one in states]
    assert twin.control("edges pump")["count"] - start == len(states)
    assert twin.control("read pump")["on"] is True


async def test_fifty_commands_at_once_are_each_answered(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    assert owner.description is not None
    ids = [one.id for one in owner.description.channels]
    assert len(ids) == 8
    answers = await asyncio.gather(
        *(_write(link, ids[i % 8], "toggle") for i in range(50))
    )
    assert [one["channel"] for one in answers] == [ids[i % 8] for i in range(50)]
    assert all(one["code"] in {"ok", "wrong_kind", "bad_duration"} for one in answers)


async def test_no_answer_within_the_deadline_ends_the_connection(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    await asyncio.to_thread(twin.control, "freeze 1500")
    with pytest.raises(LinkError) as caught:
        await _write(link, "pump", "on")
    assert caught.value.trouble is Trouble.TIMEOUT
    assert not link.up
    with pytest.raises(LinkError) as caught:
        await _write(link, "pump", "on")
    assert caught.value.trouble is Trouble.UNREACHABLE
    await owner.until(lambda: owner.ups == 2)
    assert (await link.read("pump"))["ok"]


async def test_a_hung_device_does_not_act_late(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    edges = twin.control("edges pump")["count"]
    await asyncio.to_thread(twin.control, "freeze 2500")
    with pytest.raises(LinkError):
        await _write(link, "pump", "on")
    await owner.until(lambda: owner.ups == 2)
    await asyncio.sleep(0.3)
    assert twin.control("edges pump")["count"] == edges
    assert (await _write(link, "pump", "on"))["ok"]


async def test_a_failed_command_is_not_carried_out_when_the_network_returns(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with Wire(twin.port) as wire:
        link = await make_link(wire.port)
        await owner.until(lambda: owner.up)
        edges = twin.control("edges pump")["count"]
        wire.hold()
        with pytest.raises(LinkError) as caught:
            await _write(link, "pump", "on")
        assert caught.value.trouble is Trouble.TIMEOUT
        wire.release()
        await owner.until(lambda: owner.ups == 2)
        assert (await link.read("pump"))["state"] is False
        assert twin.control("edges pump")["count"] == edges


async def test_a_broken_connection_ends_the_wait_at_once(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with Wire(twin.port) as wire:
        link = await make_link(wire.port)
        await owner.until(lambda: owner.up)
        wire.hold()
        waiting = asyncio.create_task(_write(link, "pump", "on"))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        wire.cut()
        with pytest.raises(LinkError) as caught:
            await waiting
        # Had it waited for its deadline, it would be a timeout.
        assert caught.value.trouble is Trouble.UNREACHABLE
        wire.release()


async def test_a_silent_peer_is_noticed_without_a_command(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with Wire(twin.port) as wire:
        await make_link(wire.port)
        await owner.until(lambda: owner.up)
        wire.hold()
        await owner.until(lambda: not owner.up)
        wire.release()
        await owner.until(lambda: owner.up)


async def test_comes_back_after_the_device(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port)
    await owner.until(lambda: owner.up)
    await asyncio.to_thread(twin.stop, kill=True)
    await owner.until(lambda: not owner.up)
    with pytest.raises(LinkError) as caught:
        await _write(link, "pump", "on")
    assert caught.value.trouble is Trouble.UNREACHABLE
    await asyncio.to_thread(twin.start)
    await owner.until(lambda: owner.up)
    assert twin.control("read pump")["on"] is False
    assert not owner.troubles


async def test_one_bad_attempt_is_not_the_last(
    twin: Twin,
    owner: Recorder,
    make_link: MakeLink,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken = owner.link_up
    monkeypatch.setattr(
        "custom_components.mimiclaw.satellite.native_link.RETRY_TROUBLE_S", 0
    )

    def fail(*args: Any) -> None:
        monkeypatch.setattr(owner, "link_up", taken)
        raise RuntimeError("a fault in whoever is told")

    monkeypatch.setattr(owner, "link_up", fail)
    await make_link(twin.port)
    await owner.until(lambda: owner.up)
    assert "a fault in whoever is told" in caplog.text


async def test_a_device_that_is_away_is_no_trouble(
    owner: Recorder, make_link: MakeLink, socket_enabled: None
) -> None:
    async with Wire(1) as wire:
        wire.snap = True
        link = await make_link(wire.port)
        while wire.accepted < 4:
            await asyncio.sleep(0.05)
        assert not link.up
        assert not owner.troubles


async def test_another_device_is_not_taken_for_it(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    link = await make_link(twin.port, mac="02:4D:43:00:00:99")
    await owner.until(lambda: bool(owner.troubles))
    assert owner.troubles == [Trouble.WRONG_DEVICE]
    assert not link.up


async def test_encrypted_end_to_end(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front:
        link = await make_link(front.port, KEY, twin.mac)
        await owner.until(lambda: owner.up)
        assert (await _write(link, "pump", "on"))["state"] is True
        assert twin.control("read pump")["on"] is True


async def test_wrong_key_is_the_devices_word(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front:
        await make_link(front.port, OTHER_KEY, twin.mac)
        await owner.until(lambda: bool(owner.troubles))
        assert owner.troubles == [Trouble.KEY_WRONG]


async def test_a_handshake_that_breaks_off_is_not_a_wrong_key(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with (
        NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front,
        Wire(front.port) as wire,
    ):
        wire.snap = True
        await make_link(wire.port, KEY, twin.mac)
        while wire.accepted < 4:
            await asyncio.sleep(0.05)
        assert not owner.troubles
        wire.snap = False
        await owner.until(lambda: owner.up)
        assert not owner.troubles


async def test_encryption_added_and_removed_are_told_apart(
    twin: Twin, owner: Recorder, make_link: MakeLink
) -> None:
    async with NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front:
        await make_link(front.port, "", twin.mac)
        await owner.until(lambda: bool(owner.troubles))
        assert owner.troubles == [Trouble.KEY_NEEDED]
    owner.troubles.clear()
    link = await make_link(twin.port, KEY, twin.mac)
    await owner.until(lambda: bool(owner.troubles))
    # Never a fall-back to plain text: that would let anybody take its place.
    assert owner.troubles == [Trouble.KEY_REMOVED]
    assert not link.up


async def test_a_session_that_fails_leaves_no_socket(
    twin: Twin, socket_enabled: None
) -> None:
    for address in (
        Address("127.0.0.1", twin.port, mac="02:00:00:00:00:00"),
        Address("127.0.0.1", twin.port, KEY),
    ):
        with pytest.raises(LinkError):
            await Session.open(address)
    async with asyncio.timeout(10):
        while await asyncio.to_thread(_clients, twin):
            await asyncio.sleep(0.02)


def _clients(twin: Twin) -> int:
    return int(twin.control("stats")["clients"])
