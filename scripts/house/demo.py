"""`scripts/demo`: a house to try; `--once` plays the tour and leaves."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
import sys
import time

from . import tour
from .demo_house import House, open_house
from .home_assistant import PASSWORD, USER
from .steps import StepFailed, fail, say

ROOT = Path(__file__).resolve().parents[2]


async def talk(house: House) -> None:
    """Read lines from the terminal and answer them until it ends."""
    if not sys.stdin.isatty():
        await asyncio.Event().wait()
    say("Say something (an empty line shows examples, Ctrl-D ends):")
    while True:
        try:
            text = await asyncio.to_thread(input, "> ")
        except EOFError:
            return
        if not text.strip():
            say(
                "  turn on the water pump · run the fan for 10 seconds · is the gate open?"
            )
            say(
                "  remember that the spare key hangs in the shed · where is the spare key?"
            )
            continue
        reply, turn = await house.say(text, "demo-terminal")
        say(reply)
        for line in turn["trace"]:
            say(f"    {line}")
        say(f"    [{turn['path']}, {turn['duration_ms']:.0f} ms]")


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
    try:
        asyncio.run(demo(once=options.once, folder=folder))
    except StepFailed as err:
        return fail(err)
    except KeyboardInterrupt:
        say("\nStopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
