"""Policy as a client of the API meets it: answers, states, events."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from scripts.house.twin import Twin

from .conftest import Client
from .waiting import until


def level(twin: Twin, channel: str) -> bool:
    on: bool = twin.control(f"read {channel}")["on"]
    return on


async def test_write_answers_with_what_the_pin_shows(policy: Client) -> None:
    answer = await policy.write("plain", "on")
    assert answer == {
        "ok": True,
        "channel": "plain",
        "state": True,
        "code": "ok",
        "wait_ms": 0,
        "limit_ms": 0,
        "other": "",
        "deadline_ms": 0,
    }
    assert level(policy.twin, "plain")
    assert (await policy.write("plain", "toggle"))["state"] is False
    assert (await policy.read("plain"))["state"] is False


@pytest.mark.parametrize(
    ("channel", "state", "duration", "actor", "code"),
    [
        ("nothing", "on", 0, "agent", "unknown_channel"),
        ("", "on", 0, "agent", "unknown_channel"),
        ("button", "on", 0, "agent", "wrong_kind"),
        ("level", "off", 0, "agent", "wrong_kind"),
        ("plain", "on", -1, "agent", "bad_duration"),
        ("plain", "on", 86_400_001, "agent", "bad_duration"),
        ("plain", "pulse", 0, "agent", "bad_duration"),
        ("plain", "off", 500, "agent", "bad_duration"),
        ("plain", "toggle", 500, "agent", "bad_duration"),
        ("slow", "pulse", 100, "agent", "bad_duration"),
        ("plain", "ON", 0, "agent", "bad_state"),
        ("plain", "", 0, "agent", "bad_state"),
        ("plain", "on", 0, "somebody", "actor_denied"),
        ("plain", "on", 0, "", "actor_denied"),
        ("guarded", "on", 0, "agent", "actor_denied"),
        ("short", "pulse", 1001, "agent", "over_max"),
        ("bell", "on", 1001, "agent", "over_max"),
    ],
)
async def test_refused_with_a_reason_and_nothing_touched(
    policy: Client, channel: str, state: str, duration: int, actor: str, code: str
) -> None:
    edges = {
        name: policy.twin.control(f"read {name}")["edges"]
        for name in ("plain", "guarded", "short", "bell")
    }
    answer = await policy.write(channel, state, duration, actor)
    assert (answer["ok"], answer["code"]) == (False, code)
    assert edges == {
        name: policy.twin.control(f"read {name}")["edges"] for name in edges
    }
    await until(
        lambda: any(e["detail"] == code for e in policy.events), "the refusal's event"
    )


async def test_over_max_names_the_limit(policy: Client) -> None:
    assert (await policy.write("short", "pulse", 5000))["limit_ms"] == 1000


async def test_max_on_time_ends_in_off_and_an_event(policy: Client) -> None:
    answer = await policy.write("short", "on")
    assert answer["ok"]
    assert 0 < answer["deadline_ms"] <= 1000
    # Asking again does not buy more time.
    assert (await policy.write("short", "on"))["deadline_ms"] <= answer["deadline_ms"]
    await until(lambda: any(e["type"] == "max_on" for e in policy.events), "max_on")
    event = next(e for e in policy.events if e["type"] == "max_on")
    assert (event["channel"], event["ms"]) == ("short", "1000")
    assert not level(policy.twin, "short")
    on, off = policy.twin.control("edges short")["edges"]
    assert off["t_us"] - on["t_us"] >= 1_000_000
    await until(
        lambda: policy.state("short") and policy.state("short").state is False,
        "the switch is off",
    )


async def test_minimum_times_refuse_with_what_is_left(policy: Client) -> None:
    # A boot counts as having just gone off.
    assert (await policy.write("slow", "on"))["code"] == "min_off"
    await asyncio.sleep(1.0)
    assert (await policy.write("slow", "on"))["ok"]
    answer = await policy.write("slow", "off")
    assert (answer["code"], answer["state"]) == ("min_on", True)
    assert 0 < answer["wait_ms"] <= 2000
    await asyncio.sleep(answer["wait_ms"] / 1000)
    # Refused means refused: nothing was queued.
    assert level(policy.twin, "slow")
    assert (await policy.write("slow", "off"))["ok"]
    answer = await policy.write("slow", "on")
    assert answer["code"] == "min_off"
    assert 0 < answer["wait_ms"] <= 1000


async def test_interlock_names_the_other(policy: Client) -> None:
    assert (await policy.write("up", "on"))["ok"]
    answer = await policy.write("down", "on")
    assert (answer["ok"], answer["code"], answer["other"], answer["state"]) == (
        False,
        "interlock",
        "up",
        False,
    )
    await until(
        lambda: any(e["type"] == "interlock" for e in policy.events),
        "the interlock's event",
    )
    assert (await policy.write("up", "off"))["ok"]
    assert (await policy.write("down", "on"))["ok"]
    assert policy.twin.control("edges up")["count"] == 2


async def test_a_pin_that_does_not_move_is_no_success(policy: Client) -> None:
    policy.twin.control("stick plain 0")
    answer = await policy.write("plain", "on")
    assert (answer["ok"], answer["code"], answer["state"]) == (
        False,
        "not_moved",
        False,
    )
    # Stuck on, it keeps its partner off although it was told to go off.
    policy.twin.control("stick up 1")
    assert (await policy.write("up", "off"))["code"] == "not_moved"
    assert (await policy.write("down", "on"))["code"] == "interlock"


async def test_momentary_channel(policy: Client) -> None:
    answer = await policy.write("bell", "on")
    assert answer["ok"]
    assert 0 < answer["deadline_ms"] <= 1000
    assert (await policy.write("bell", "pulse"))["deadline_ms"] <= 1000
    await until(
        lambda: policy.twin.control("read bell")["edges"] == 2, "the pulse ended"
    )
    on, off = policy.twin.control("edges bell")["edges"]
    assert off["t_us"] - on["t_us"] >= 1_000_000
    policy.api.button_command(policy.keys["bell"])
    await until(
        lambda: policy.twin.control("read bell")["edges"] == 4, "the button's pulse"
    )


async def test_the_switch_entity_is_an_automation(policy: Client) -> None:
    policy.api.switch_command(policy.keys["plain"], True)
    await until(
        lambda: policy.state("plain") and policy.state("plain").state is True,
        "the switch is on",
    )
    assert level(policy.twin, "plain")
    policy.api.switch_command(policy.keys["guarded"], True)
    await until(
        lambda: any(e["channel"] == "guarded" for e in policy.events), "the refusal"
    )
    event = next(e for e in policy.events if e["channel"] == "guarded")
    assert (event["detail"], event["actor"]) == ("actor_denied", "automation")
    assert not level(policy.twin, "guarded")
    assert (await policy.write("guarded", "on", actor="fast_path"))["ok"]


async def test_inputs_and_analog(policy: Client) -> None:
    # Pulled up and inverted: an open button reads off.
    assert (await policy.read("button"))["state"] is False
    policy.twin.control("set button 0")
    await until(
        lambda: (
            policy.state("push_button") and policy.state("push_button").state is True
        ),
        "pressed",
    )
    assert (await policy.read("button"))["state"] is True
    policy.twin.control("set level 125")
    await until(
        lambda: (
            policy.state("tank_level")
            and abs(policy.state("tank_level").state - 125) < 0.1
        ),
        "125 cm",
    )
    answer = await policy.read("level")
    assert answer["ok"]
    assert answer["value"] == pytest.approx(125, abs=0.1)
    assert answer["state"] is None


async def test_bouncing_input_is_reported_once(policy: Client) -> None:
    await until(lambda: policy.history("push_button") == [False], "the first state")
    for value in (0, 1, 0, 1, 0):
        policy.twin.control(f"set button {value}")
    await until(lambda: policy.history("push_button") == [False, True], "pressed, once")


async def test_safe_state_on_and_inverted(policy: Client) -> None:
    assert policy.twin.control("read freezer") == {"level": 0, "on": True, "edges": 1}
    assert (await policy.write("freezer", "off"))["ok"]
    assert policy.twin.control("read freezer")["level"] == 1


async def test_the_policy_event_entity_tells_any_client(policy: Client) -> None:
    await policy.write("up", "on")
    await policy.write("down", "on")
    await until(
        lambda: (
            policy.state("policy_event")
            and policy.state("policy_event").event_type == "interlock"
        ),
        "the event entity",
    )


async def test_restore_comes_back_and_the_rest_is_safe(
    policy_program: Path, tmp_path: Path, loopback: None
) -> None:
    with Twin(policy_program, home=tmp_path) as twin:
        client = await Client(twin).connect()
        for channel in ("lamp", "plain"):
            assert (await client.write(channel, "on"))["ok"]
        await client.close()
        assert twin.stop() == 0
        # The shutdown put the relays into their safe states, and what comes back is what was before it.
        twin.start()
        assert level(twin, "lamp")
        assert not level(twin, "plain")
        # Twice over: a restart must not restore a state it made itself.
        twin.stop()
        twin.start()
        assert level(twin, "lamp")
        client = await Client(twin).connect()
        assert (await client.write("lamp", "off"))["ok"]
        await client.close()
        twin.stop()
        twin.start()
        assert not level(twin, "lamp")
