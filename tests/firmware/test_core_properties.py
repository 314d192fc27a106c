"""The I/O core under random programs, every rule checked after every tick."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import shutil

from hypothesis import HealthCheck, Phase, given, settings
import pytest

from .compile_core import COMPONENT, core_program
from .programs import TICKS_A_PROGRAM, Core, Program, programs

PROGRAMS = 1500
# A spoilt core is found after some 50 programs; the rest is for the rarest of them.
HUNT = 1500
TICKS_WANTED = 5_000_000


@pytest.fixture(scope="module")
def core() -> Iterator[Core]:
    with Core(core_program("core")) as running:
        yield running


class Tally:
    ticks = 0
    commands = 0
    accepted = 0


@settings(
    max_examples=PROGRAMS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
@given(program=programs())
def _random_programs(core: Core, program: Program) -> None:
    outcome = core.run(program)
    assert not outcome.violation, outcome.violation
    assert outcome.ticks >= TICKS_A_PROGRAM
    Tally.ticks += outcome.ticks
    Tally.commands += outcome.commands
    Tally.accepted += outcome.accepted


def test_no_rule_is_ever_broken(core: Core) -> None:
    _random_programs(core)
    print(
        f"{Tally.ticks} ticks, {Tally.commands} commands, {Tally.accepted} of them accepted"
    )
    assert Tally.ticks >= TICKS_WANTED
    # A run that refuses everything would prove nothing.
    assert Tally.accepted > Tally.commands / 20


# One line of the core spoilt at a time: the checker must see each of them.
SPOILT = {
    "interlock ignored": ("io_core.cpp", "if (group == 0)", "if (group != 255)"),
    "max_on_time renewed": (
        "io_command.cpp",
        "since + us(config.max_on_ms) : NEVER_US",
        "now + us(config.max_on_ms) : NEVER_US",
    ),
    "min_off_time ignored": (
        "io_command.cpp",
        "if (now < ready) {\n      result.wait_ms",
        "if (false && now < ready) {\n      result.wait_ms",
    ),
    "min_on_time ignored": (
        "io_command.cpp",
        "if (now < ready) {\n      result.wait_ms = ms_until(ready, now);\n      return this->refuse_(result, Code::MIN_ON",
        "if (false && now < ready) {\n      result.wait_ms = ms_until(ready, now);\n      return this->refuse_(result, Code::MIN_ON",
    ),
    "link loss ignored": (
        "io_core.cpp",
        "this->enter_hold_(HOLD_LINK, now)",
        "this->holds_ |= HOLD_LINK",
    ),
    "safe state on first": (
        "io_core.cpp",
        "for (bool wanted : {false, true})",
        "for (bool wanted : {true, false})",
    ),
    "actors ignored": (
        "io_command.cpp",
        "(config.actors & command.actor) != command.actor",
        "false",
    ),
    "debounce ignored": (
        "io_core.cpp",
        "now - state.candidate_us >= us(config.debounce_ms)",
        "true",
    ),
    "pulse never ends": (
        "io_core.cpp",
        "if (now < state.end_us)",
        "if (!state.max_on_end || now < state.end_us)",
    ),
    "restore past the interlock": (
        "io_core.cpp",
        "if (on && this->blocked_by_(i) != NO_CHANNEL)",
        "if (false)",
    ),
    "a pin that does not follow": (
        "io_command.cpp",
        "result.code == Code::OK && result.state != state.on",
        "false",
    ),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_the_checker_sees_a_spoilt_core(fault: str, tmp_path: Path) -> None:
    file, good, bad = SPOILT[fault]
    spoilt = tmp_path / "component"
    shutil.copytree(
        COMPONENT, spoilt, ignore=shutil.ignore_patterns("*.py", "__pycache__")
    )
    text = (spoilt / file).read_text()
    assert good in text, "the line to spoil is gone; choose another"
    (spoilt / file).write_text(text.replace(good, bad))
    program = core_program(
        f"spoilt-{list(SPOILT).index(fault)}", ("-O1", "-Wno-error"), spoilt
    )
    found: list[str] = []

    @settings(
        max_examples=HUNT,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(program=programs())
    def hunt(program: Program) -> None:
        if found:
            return
        outcome = broken.run(program)
        if outcome.violation:
            found.append(outcome.violation)

    with Core(program) as broken:
        hunt()
    assert found, f"{HUNT} programs passed although: {fault}"
