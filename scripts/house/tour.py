"""The tour: what a newcomer is shown, each step checked and timed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
import json
import time
from typing import Any

from .demo_house import House, relays
from .steps import StepFailed, say
from .tour_telegram import telegram

CONVERSATION = "demo-tour"
FACT = "the boiler was serviced on 3 March"


@dataclass(frozen=True)
class Step:
    """One step of the tour and how long it took, in milliseconds."""

    title: str
    duration_ms: float
    seen: str


def expect(condition: object, complaint: str) -> None:
    """Raise StepFailed with the complaint unless the condition holds."""
    if not condition:
        raise StepFailed(complaint)


def expect_fast(turn: dict[str, Any]) -> None:
    """Check that no provider was called in this turn."""
    expect(turn["path"] == "fast_path", f"not answered by the fast path: {turn}")
    expect(turn["rounds"] == 0, f"a provider was called: {turn}")


async def turn_on(house: House) -> str:
    """'turn on the water pump': the pin goes high, no provider is called."""
    reply, turn = await house.say("turn on the water pump", CONVERSATION)
    expect(house.pin("pump"), "the twin's pin is low")
    expect("pump" in reply.lower(), f"the reply does not name the pump: {reply}")
    expect_fast(turn)
    return f"{reply} (pin high; {turn['duration_ms']} ms inside the assistant)"


async def ask_state(house: House) -> str:
    """'is the water pump on?' is answered from the satellite's state."""
    reply, turn = await house.say("is the water pump on?", CONVERSATION)
    expect("on" in reply.lower().split(" ") or "on." in reply, f"wrong: {reply}")
    expect_fast(turn)
    return f"{reply} ({turn['duration_ms']} ms inside the assistant)"


async def remember(house: House) -> str:
    """'remember that …' lands in the workspace as Markdown."""
    reply, _ = await house.say(f"remember that {FACT}", CONVERSATION)
    for file in sorted(house.workspace.glob("memory/**/*.md")):
        if "boiler" in file.read_text(encoding="utf-8"):
            return f"{reply} (in /{file.relative_to(house.workspace)})"
    raise StepFailed(f"no file under memory/ holds it; the reply was: {reply}")


async def recall(house: House) -> str:
    """'when was …' is found by opening the file; the trace names file and bytes."""
    reply, turn = await house.say("when was the boiler serviced?", CONVERSATION)
    expect("3 March" in reply, f"the date is not in the reply: {reply}")
    read = [
        line
        for line in turn["tools"]
        if line["tool"].startswith("read_file") and not line.get("error")
    ]
    expect(read, f"no file was read: {turn['trace']}")
    files = ", ".join(
        f"{line['arguments']['path']}, {line['result_bytes']} bytes" for line in read
    )
    return f"{reply} (read {files})"


async def automation(house: House) -> str:
    """An automation toggles the relay through its switch; so does gpio_write."""
    switch = next(one for one in await relays(house.home) if "pump" in one)
    before = house.pin("pump")
    await house.home.post(
        "/api/config/automation/config/demo_toggle",
        {
            "alias": "Demo toggle",
            "triggers": [{"trigger": "event", "event_type": "demo_toggle"}],
            "actions": [{"action": "switch.toggle", "target": {"entity_id": switch}}],
        },
    )
    await house.home.state_becomes("automation.demo_toggle", "on")
    await house.home.post("/api/events/demo_toggle", {})
    await house.pin_becomes("pump", not before)
    action = {"channel": "water pump", "state": "on"}
    await house.home.call("mimiclaw", "gpio_write", action)
    await house.pin_becomes("pump", True)
    await house.home.call("mimiclaw", "gpio_write", {**action, "state": "off"})
    await house.pin_becomes("pump", False)
    return f"{switch} by an automation, pump by mimiclaw.gpio_write"


async def restart(house: House) -> str:
    """After a restart memory, session and satellite are all there again."""
    await house.home.restart()
    reply, _ = await house.say("when was the boiler serviced?", CONVERSATION)
    expect("3 March" in reply, f"the memory is gone: {reply}")
    session = house.workspace / "sessions" / f"assist_{CONVERSATION}.jsonl"
    lines = session.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["content"] for line in lines]
    expect("turn on the water pump" in texts, "the session is gone")
    reply, turn = await house.say("turn on the water pump", CONVERSATION)
    expect(house.pin("pump"), f"the satellite does not answer: {reply}")
    expect_fast(turn)
    await house.say("turn off the water pump", CONVERSATION)
    return f"{len(lines)} lines of session, memory and satellite are back"


STEPS: tuple[Callable[[House], Awaitable[str]], ...] = (
    turn_on,
    ask_state,
    remember,
    recall,
    automation,
    restart,
    telegram,
)


async def play(house: House) -> list[Step]:
    """Play all steps, printing each with its time. Raises StepFailed."""
    done: list[Step] = []
    for number, step in enumerate(STEPS, start=1):
        title = (step.__doc__ or step.__name__).strip()
        started = time.perf_counter()
        try:
            seen = await step(house)
        except StepFailed as err:
            raise StepFailed(f"✗ {number}. {title}\n  {err}") from err
        duration_ms = (time.perf_counter() - started) * 1000
        say(f"✓ {number}. {title}\n    {seen}\n    {duration_ms:.0f} ms")
        done.append(Step(title, duration_ms, seen))
    return done
