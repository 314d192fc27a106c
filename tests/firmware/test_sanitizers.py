"""The firmware's C++ under the address, undefined-behaviour and thread sanitizers."""

from __future__ import annotations

import random
import subprocess

from .compile_core import COMPONENT, HARNESS, compile_program, core_program
from .programs import Core, decode

ADDRESS = (
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
THREAD = ("-O1", "-fsanitize=thread", "-DUSE_HOST", "-Wno-tsan")
PROGRAMS = 200
COMMANDS = 20_000


def test_core_is_clean_under_address_and_undefined() -> None:
    chance = random.Random(3)
    with Core(core_program("core-asan", ADDRESS)) as core:
        for _ in range(PROGRAMS):
            outcome = core.run(decode(chance.randbytes(600)))
            assert not outcome.violation
        assert core.close() == 0


def test_threads_are_clean_and_every_command_is_answered_once() -> None:
    sources = [
        COMPONENT / name
        for name in (
            "io_types.cpp",
            "io_core.cpp",
            "io_command.cpp",
            "io_runner.cpp",
            "io_task_host.cpp",
            "pins_host.cpp",
        )
    ]
    program = compile_program(
        "threads-tsan", [*sources, HARNESS / "threads.cpp"], THREAD
    )
    ran = subprocess.run(
        [str(program), str(COMMANDS)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"TSAN_OPTIONS": "halt_on_error=1 exitcode=66"},
    )
    assert ran.returncode == 0, ran.stderr[-4000:] or ran.stdout
    assert ran.stdout.startswith(f"ok {COMMANDS} {COMMANDS} ")
