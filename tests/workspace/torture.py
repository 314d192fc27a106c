"""Writers that are killed and writers that race; used by the tests and by the benchmark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import json
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import time
from typing import NoReturn

from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD
from custom_components.mimiclaw.workspace.workspace import Workspace

_HOUSE = Path(__file__).parents[2]
_START = "import sys; import tests.bare; from tests.workspace.torture import {0}; {0}(sys.argv[1], sys.argv[2])"
TARGETS = ("/memory/MEMORY.md", "/docs/killed-while-written.md")


def child(function: str, root: Path, argument: str) -> subprocess.Popen[str]:
    """Start a function of this module in a process of its own, without Home Assistant."""
    return subprocess.Popen(
        [sys.executable, "-c", _START.format(function), str(root), argument],
        cwd=_HOUSE,
        stdout=subprocess.PIPE,
        text=True,
    )


def body(number: int) -> str:
    """Return a text that is whole only with its last line."""
    return f"# Text {number}\n\n" + f"line of {number}\n" * 500 + f"end of {number}\n"


def is_whole(text: str) -> bool:
    """Say whether a text is exactly one that was written."""
    number = text.split("\n", 1)[0].removeprefix("# Text ")
    return number.isdecimal() and text == body(int(number))


def write_forever(root: Path, tell: int) -> NoReturn:
    """Write whole files, notes and session lines until killed; tell when it begins."""
    try:
        space = Workspace(root)
        os.write(tell, b"x")
        number = 0
        while True:
            number += 1
            view = space.view(HOUSEHOLD)
            for path in TARGETS:
                view.prompt_text(path, 1 << 20)
                view.write(path, body(number))
            view.append_note(f"note {number}")
            text = f"message {number} " + "x" * 4000
            space.sessions.append("assist", "k", "user", text)
    finally:
        # Only an error comes here, and it must not run the parent's code.
        os._exit(1)


def kill_writers(root: Path, kills: int, seed: int = 1) -> dict[str, int]:
    """Kill a writing process at random instants; count what is torn, empty or left over."""

    chance = random.Random(seed)
    space = Workspace(root)
    space.seed()
    view = space.view(HOUSEHOLD)
    for path in TARGETS:
        view.read(path) if space.tree.stamp(tuple(path[1:].split("/"))) else None
        view.write(path, body(0))
    counts = {
        "torn": 0,
        "empty": 0,
        "leftovers": 0,
        "swept": 0,
        "kills": 0,
        "messages": 0,
    }
    for _ in range(kills):
        # The child shares nothing with us but the files; it never returns.
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(told)
            write_forever(root, tell)
        os.close(tell)
        os.read(told, 1)
        time.sleep(chance.random() * 0.05)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(told)
        counts["kills"] += 1
        for path in TARGETS:
            text = (root / path[1:]).read_text()
            counts["empty"] += not text
            counts["torn"] += bool(text) and not is_whole(text)
        for note in (root / "memory").glob("2*.md"):
            lines = note.read_text().split("\n")
            counts["torn"] += (
                lines[0].startswith("# Notes of") is False or lines[-1] != ""
            )
        counts["swept"] += space.seed().swept
        counts["leftovers"] += sum(1 for path in root.rglob(".mimiclaw-*"))
        # A half line must not take the next whole one with it.
        space.sessions.append("assist", "k", "user", "after the kill")
        last = space.sessions.last("assist", "k", 1)
        counts["torn"] += not last or last[0].content != "after the kill"
    for raw in (root / "sessions/assist_k.jsonl").read_bytes().split(b"\n"):
        try:
            json.loads(raw)
        except ValueError:
            continue
        counts["messages"] += 1
    return counts


def edit_counter(root: str, argument: str) -> None:
    """Add one to a counter in a file, many times, by edits that may have to be tried again."""

    name, times = argument.split(",")
    print("ready", flush=True)
    _count_up(Workspace(Path(root)), name, int(times))


def _count_up(space: Workspace, name: str, times: int) -> None:
    """Edit a line of one's own and add a shared one, as a turn's tools do."""

    for number in range(times):
        view = space.view(HOUSEHOLD)
        view.edit(
            "/memory/MEMORY.md", f"- {name}: {number}.", f"- {name}: {number + 1}."
        )


def race_edits(root: Path, threads: int, processes: int, times: int) -> dict[str, int]:
    """Let threads and processes edit one file; count the edits that are not in it."""

    space = Workspace(root)
    space.seed()
    names = [f"t{number}" for number in range(threads)]
    others = [f"p{number}" for number in range(processes)]
    text = "# Memory\n\n" + "".join(f"- {name}: 0.\n" for name in names + others)
    (root / "memory/MEMORY.md").write_text(text)
    children = [child("edit_counter", root, f"{name},{times}") for name in others]
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for future in [pool.submit(_count_up, space, name, times) for name in names]:
            future.result()
    for process in children:
        process.communicate()
    final = (root / "memory/MEMORY.md").read_text()
    done = 0
    for line in final.split("\n")[2:-1]:
        done += int(line.rsplit(" ", 1)[1].rstrip("."))
    wanted = (threads + processes) * times
    return {"wanted": wanted, "lost": wanted - done}
