"""How the scripts speak: one line a step, its time, and the way out when it fails."""

from __future__ import annotations

from contextlib import contextmanager
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

#: A command that is silent for this long gets a sign of life on the terminal.
HEARTBEAT_S = 10


class StepFailed(Exception):
    """A step did not work; the message names the step and the way out."""


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)


@contextmanager
def step(title: str, way_out: str) -> Iterator[None]:
    """Print the step and how long it took; name it and the way out if it fails."""
    say(f"• {title} …")
    started = time.monotonic()
    try:
        yield
    except (OSError, subprocess.SubprocessError, StepFailed) as err:
        raise StepFailed(f"✗ {title} failed: {err}\n  Way out: {way_out}") from err
    say(f"  done in {time.monotonic() - started:.1f} s")


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 900,
) -> str:
    """Run a command and return what it printed on standard output.

    Raises StepFailed with the last lines it printed when it fails or hangs.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=dict(env) if env is not None else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = time.monotonic()
    while True:
        try:
            out, err = process.communicate(timeout=HEARTBEAT_S)
            break
        except subprocess.TimeoutExpired:
            waited = time.monotonic() - started
            if waited > timeout_s:
                process.kill()
                process.communicate()
                raise StepFailed(
                    f"{command[0]} gave no answer in {timeout_s:.0f} s"
                ) from None
            say(f"  … {waited:.0f} s")
    if process.returncode:
        tail = "\n    ".join((err or out).strip().splitlines()[-12:])
        raise StepFailed(f"{command[0]} ended with {process.returncode}\n    {tail}")
    return out


def fail(err: Exception | str) -> int:
    """Print why a script stops and return its exit code."""
    print(err, file=sys.stderr, flush=True)
    return 1
