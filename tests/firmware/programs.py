"""Random programs for the I/O core: a policy, then commands, time, edges, losses and restarts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
import subprocess
from types import TracebackType
from typing import Self

from hypothesis import strategies as st

RELAY, OUTPUT, INPUT = 0, 1, 2
READ, ON, OFF, TOGGLE, PULSE, UNKNOWN = range(6)
ACTORS = (1, 2, 4)
# Times are short so that a program of some seconds meets every timer many times.
TIMES = (0, 0, 0, 1, 5, 20, 120, 400)
TICKS_A_PROGRAM = 4000


@dataclass(frozen=True)
class Channel:
    """One channel's policy, as the YAML could say it."""

    kind: int
    inverted: bool
    safe: bool = False
    restore: bool = False
    actors: int = 7
    group: int = 0
    max_on_ms: int = 0
    min_on_ms: int = 0
    min_off_ms: int = 0
    pulse_ms: int = 0
    debounce_ms: int = 0

    def line(self) -> str:
        values = (
            self.kind,
            int(self.inverted),
            int(self.safe),
            int(self.restore),
            self.actors,
            self.group,
            self.max_on_ms,
            self.min_on_ms,
            self.min_off_ms,
            self.pulse_ms,
            self.debounce_ms,
        )
        return "channel " + " ".join(map(str, values))


@dataclass
class Program:
    """Instructions of one run; shows itself when hypothesis reports a failure."""

    lines: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return "Program:\n  " + "\n  ".join(self.lines)


class _Choices:
    """Turns bytes into choices. Zero is always the plainest one, so that a failure shrinks well."""

    def __init__(self, data: bytes) -> None:
        self._data = iter(data)
        self.over = False

    def byte(self) -> int:
        """The next byte, 0 once there are no more."""
        value = next(self._data, None)
        if value is None:
            self.over = True
            return 0
        return value

    def pick[T](self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.byte() % len(options)]


def _output(choose: _Choices) -> Channel:
    """A relay or output whose options the YAML would accept together."""
    rests = choose.pick(("off", "off", "off", "safe on", "restored", "restored"))
    min_on = choose.pick(TIMES)
    max_on = choose.pick(TIMES) if rests == "off" else 0
    if max_on:
        max_on += min_on
    pulse = choose.pick((0, 0, 0, 10, 60)) if rests == "off" else 0
    if pulse:
        pulse = min(pulse + min_on, max_on) if max_on else pulse + min_on
    return Channel(
        kind=choose.pick((RELAY, OUTPUT)),
        inverted=choose.pick((False, True)),
        safe=rests == "safe on",
        restore=rests == "restored",
        actors=choose.pick((7, 7, 7, 1, 6)),
        group=choose.pick((0, 1, 1, 2)),
        max_on_ms=max_on,
        min_on_ms=min_on,
        min_off_ms=choose.pick(TIMES) if rests != "restored" else 0,
        pulse_ms=pulse,
    )


def _channels(choose: _Choices) -> list[Channel]:
    channels = [_output(choose) for _ in range(2 + choose.byte() % 5)]
    for index, channel in enumerate(channels):
        # As the YAML has it: one safe_state: on an interlock
        if channel.safe and any(
            c.safe and c.group == channel.group != 0 for c in channels[:index]
        ):
            channels[index] = replace(channel, safe=False)
    for _ in range(choose.byte() % 3):
        channels.append(
            Channel(
                INPUT,
                choose.pick((False, True)),
                actors=0,
                debounce_ms=choose.pick((0, 3, 20)),
            )
        )
    return channels


def _instruction(choose: _Choices, channels: list[Channel]) -> str:
    outputs = [i for i, c in enumerate(channels) if c.kind != INPUT]
    guarded = {c.group for c in channels if c.safe}
    kind = choose.pick(
        (
            *["ticks"] * 8,
            *["command"] * 14,
            "late",
            "lose",
            "lose",
            "hold",
            "restart",
            "input",
            "stick",
        )
    )
    if kind == "ticks":
        return f"ticks {choose.pick((1, 1, 2, 5, 5, 20, 60, 150))}"
    if kind == "command":
        # Now and then a channel that is not there
        channel = choose.pick([*range(len(channels))] * 4 + [len(channels)])
        op = choose.pick(
            (READ, *[ON] * 6, OFF, OFF, OFF, TOGGLE, PULSE, PULSE, UNKNOWN)
        )
        actor = choose.pick((*ACTORS * 4, 0))
        return f"command {channel} {op} {actor} {choose.pick((*[0] * 8, 1, 7, 33, 150, 500, -1, 86_400_001))}"
    if kind == "late":
        return f"late {1 + choose.byte() * 200}"
    if kind == "lose":
        # Long enough for the shorter timeout, or for both
        return (
            f"link 0\nticks {choose.pick((40, 60, 310))}\nlink {choose.pick((1, 1, 0))}"
        )
    if kind == "hold":
        return f"hold 1\nticks {choose.pick((1, 30))}\nhold 0"
    if kind == "input":
        return (
            f"input {choose.pick(inputs)} {choose.byte() % 2}"
            if (inputs := [i for i in range(len(channels)) if i not in outputs])
            else "ticks 1"
        )
    if kind == "stick":
        # A pin stuck on beside a partner that must be on to be safe: nobody can keep that interlock
        free = [i for i in outputs if channels[i].group not in guarded]
        return (
            f"stick {choose.pick(free)} {choose.pick((0, 0, 1))}" if free else "ticks 1"
        )
    return kind


def decode(data: bytes) -> Program:
    """The program these bytes stand for: a policy and what happens to it, TICKS_A_PROGRAM ticks at least."""
    choose = _Choices(data)
    tick = choose.pick((1000, 1000, 1000, 5000))
    timeout = choose.pick((0, 50, 50, 300))
    program = Program(
        [f"device {tick} {timeout} {choose.pick((0, 0, 1))} {choose.pick((0, 0, 30))}"]
    )
    channels = _channels(choose)
    program.lines += [channel.line() for channel in channels]
    program.lines.append(f"begin {choose.byte()}")
    while not choose.over:
        program.lines.append(_instruction(choose, channels))
    program.lines += ["hold 0", "link 1", f"ticks {TICKS_A_PROGRAM}", "run"]
    return program


def programs() -> st.SearchStrategy[Program]:
    """Programs of some 100 instructions; as bytes, because those are drawn and shrunk fastest."""
    return st.binary(min_size=250, max_size=900).map(decode)


@dataclass(frozen=True)
class Outcome:
    """What one program did, or the first rule it broke."""

    violation: str
    ticks: int
    commands: int
    accepted: int


class Core:
    """A running harness program: programs in, outcomes out."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, program: Program) -> Outcome:
        """Run one program to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n".join(program.lines) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        kind, _, rest = answer.partition(" ")
        if kind == "violation":
            return Outcome(rest, 0, 0, 0)
        assert kind == "ok", (
            f"the harness died: {answer!r} (exit {self._process.poll()})"
        )
        ticks, commands, accepted = map(int, rest.split())
        return Outcome("", ticks, commands, accepted)

    def close(self) -> int:
        """End the program; its exit code is not 0 if a sanitizer spoke."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(30)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
