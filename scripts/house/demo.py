"""`scripts/demo`: a house to try; `--once` plays the tour and leaves."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
from pathlib import Path
import sys
import time

from . import tour
from .demo_house import House, open_house
from .home_assistant import PASSWORD, USER
from .steps import StepFailed, fail, say
from .twin import TwinError

ROOT = Path(__file__).resolve().parents[2]

EXAMPLES = (
    "turn on the water pump · run the fan for 10 seconds · turn everything off",
    "is the greenhouse door open? · what is the soil moisture?",
    "schalte die Pumpe ein · allume la lampe de culture · 打开水泵",
    "remember that the spare key hangs in the shed · where is the spare key?",
)
#: Who answered, in words.
WAYS = {
    "fast_path": "fast path, no model",
    "local_intents": "a sentence of Home Assistant's own",
    "agent": "the agent with its files",
}


class Terminal:
    """Lines from the terminal, read by the event loop so that Ctrl-C ends at once."""

    def __init__(self) -> None:
        """Begin with nothing typed."""
        self._typed = bytearray()
        self._ready = asyncio.Event()
        self._ended = False

    def _read(self) -> None:
        piece = os.read(sys.stdin.fileno(), 4096)
        self._ended = self._ended or not piece
        self._typed += piece
        self._ready.set()

    async def line(self, prompt: str) -> str | None:
        """Return the next line, None at the end."""
        print(prompt, end="", flush=True)
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin, self._read)
        try:
            while b"\n" not in self._typed and not self._ended:
                self._ready.clear()
                await self._ready.wait()
        finally:
            loop.remove_reader(sys.stdin)
        if b"\n" not in self._typed:
            return None
        line, _, rest = bytes(self._typed).partition(b"\n")
        self._typed = bytearray(rest)
        return line.decode(errors="replace")


async def talk(house: House) -> None:
    """Read lines from the terminal and answer them until it ends."""
    if not sys.stdin.isatty():
        say("No terminal: the house runs until Ctrl-C.")
        await asyncio.Event().wait()
    say("Say something in one of ten languages (an empty line shows examples,")
    say("Ctrl-D ends; a new demo begins with an empty memory):")
    terminal = Terminal()
    while (text := await terminal.line("> ")) is not None:
        if not text.strip():
            for example in EXAMPLES:
                say(f"  {example}")
            continue
        reply, turn = await house.say(text, "demo-terminal")
        say(reply)
        for line in turn["trace"]:
            say(f"    {line}")
        say(
            f"    [{WAYS.get(turn['path'], turn['path'])}, {turn['duration_ms']:.0f} ms]"
        )


async def demo(*, once: bool, folder: Path) -> None:
    """Open the house; play the tour, or let a person look around."""
    started = time.monotonic()
    async with open_house(folder) as house:
        home = house.home
        say(f"• Ready after {time.monotonic() - started:.0f} s.")
        say(f"\n  {home.address}   user: {USER}   password: {PASSWORD}")
        say(f"  provider: {house.provider}   files: {house.workspace}\n")
        if once:
            await tour.play(house)
            say("\nAll steps passed.")
        else:
            await talk(house)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="play the tour and leave")
    options = parser.parse_args()
    folder = ROOT / ".demo"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return fail("A demo of this checkout is running already; end it first.")
        return run_demo(folder, once=options.once)


def run_demo(folder: Path, *, once: bool) -> int:
    """Run the demo and return its exit code."""
    try:
        asyncio.run(demo(once=once, folder=folder))
    except (StepFailed, TwinError) as err:
        return fail(err)
    except KeyboardInterrupt:
        say("\nStopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
