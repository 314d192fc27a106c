"""Compile the firmware's plain C++ for the tests, once a set of sources and flags."""

from __future__ import annotations

from collections.abc import Sequence
import fcntl
import hashlib
from pathlib import Path
import subprocess

REPO = Path(__file__).resolve().parents[2]
COMPONENT = REPO / "esphome" / "components" / "mimiclaw_io"
HARNESS = Path(__file__).parent / "harness"
CACHE = REPO / ".cache" / "firmware"

WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
BUILD_TIMEOUT_S = 300


def compile_program(
    name: str,
    sources: Sequence[Path],
    flags: Sequence[str] = (),
    component: Path = COMPONENT,
) -> Path:
    """Return the program built from the sources; build it if they changed.

    `component` is where the firmware's headers are, so a test can build a broken copy.
    Fails the test with the compiler's output.
    """
    digest = hashlib.sha256(repr((name, sorted(flags))).encode())
    for folder in (component, HARNESS):
        for path in sorted(folder.glob("*.[ch]*")):
            digest.update(path.name.encode() + path.read_bytes())
    CACHE.mkdir(parents=True, exist_ok=True)
    program = CACHE / f"{name}-{digest.hexdigest()[:16]}"
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists():
            return program
        for old in CACHE.glob(f"{name}-{'?' * 16}"):
            old.unlink()
        part = program.with_suffix(".part")
        command = [
            "g++",
            "-std=gnu++20",
            "-g",
            *WARNINGS,
            *flags,
            f"-I{component}",
            f"-I{HARNESS}",
        ]
        built = subprocess.run(
            [*command, *map(str, sources), "-o", str(part), "-pthread"],
            capture_output=True,
            text=True,
            timeout=BUILD_TIMEOUT_S,
            check=False,
        )
        assert built.returncode == 0, (
            f"{name} does not compile:\n{built.stderr[-4000:]}"
        )
        part.rename(program)
    return program


def core_program(
    name: str, flags: Sequence[str] = ("-O2",), component: Path = COMPONENT
) -> Path:
    """The property tests' program: the I/O core and its checker."""
    core = [
        component / file for file in ("io_types.cpp", "io_core.cpp", "io_command.cpp")
    ]
    harness = [HARNESS / file for file in ("checker.cpp", "model.cpp", "program.cpp")]
    return compile_program(name, [*core, *harness], flags, component)
