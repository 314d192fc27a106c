"""Attacks on the sandbox: every path used in every way, and links exchanged meanwhile.

Used by the tests and by the benchmark. A secret lies outside the tree and another in another
person's folder; an attack wins when one of them is seen, or anything outside is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
import os
from pathlib import Path
import shutil
import threading

from custom_components.mimiclaw.workspace.errors import WorkspaceError
from custom_components.mimiclaw.workspace.speaker import Speaker
from custom_components.mimiclaw.workspace.workspace import View, Workspace

OUTSIDE = "outside-secret-4f1c"
BOBS = "bobs-secret-77aa"
SCHEDULE = '{"jobs": [{"message": "schedule-secret-91bd"}]}'
SECRETS = (OUTSIDE, BOBS, "schedule-secret-91bd", "root:")
ALICE = Speaker("alice", "Alice")


@dataclass
class Target:
    """A tree with secrets in and around it."""

    base: Path
    root: Path = field(init=False)
    space: Workspace = field(init=False)

    def __post_init__(self) -> None:
        self.root = self.base / "mimiclaw"
        self.space = Workspace(self.root)
        self.space.seed()
        (self.base / "secret.txt").write_text(OUTSIDE)
        (self.base / "folder").mkdir()
        (self.base / "folder" / "secret.txt").write_text(OUTSIDE)
        bob = self.root / "memory" / "users" / "bob"
        bob.mkdir(parents=True)
        (bob / "MEMORY.md").write_text(f"# Memory\n\n- {BOBS}\n")
        (bob / "2026-12-01.md").write_text(f"# Notes\n\n- {BOBS}\n")
        trash = self.root / ".trash" / "users" / "bob"
        trash.mkdir(parents=True)
        (trash / "20261201-143000_MEMORY.md").write_text(BOBS)
        (trash / "x.md").write_text(BOBS)
        (self.root / "cron.json").write_text(SCHEDULE)
        self.space.sessions.append("telegram", "2", "user", BOBS, person="bob")
        docs = self.root / "docs"
        links = {
            "link-to-file.md": self.base / "secret.txt",
            "link-to-folder": self.base / "folder",
            "link-up": Path("../.."),
            "link-to-root": Path("/"),
            "link-to-proc": Path("/proc"),
            "link-chain.md": docs / "link-to-file.md",
            "link-to-bob.md": bob / "MEMORY.md",
            "link-to-users": bob.parent,
            "link-to-cron.md": self.root / "cron.json",
            "link-to-session.md": self.root / "sessions" / "tg_2.jsonl",
            "link-to-device.md": Path("/dev/zero"),
            "dangling.md": self.base / "made-through-a-link.md",
        }
        for name, target in links.items():
            (docs / name).symlink_to(target)
        (self.root / "linked-top").symlink_to(self.base / "folder")
        os.mkfifo(docs / "pipe.md")
        os.mknod(docs / "socket.md", 0o140644)

    def outside(self) -> dict[str, str]:
        """Return everything around the tree, and what the model must not change in it."""
        found: dict[str, str] = {}
        for path in sorted(self.base.rglob("*")):
            inside = path.is_relative_to(self.root)
            kept = path.is_relative_to(self.root / "memory/users/bob") or path.name in (
                "cron.json",
                "tg_2.jsonl",
            )
            if path.is_symlink() or not path.is_file() or (inside and not kept):
                continue
            found[path.relative_to(self.base).as_posix()] = path.read_text()
        return found


def uses(view: View) -> Iterator[Callable[[str], object]]:
    """Give every way in which a turn can use a path."""
    yield view.read
    yield lambda path: view.read(path, 2, 5, 3)
    yield lambda path: view.read_section(path, "1")
    yield view.sections
    yield view.list
    yield lambda path: view.search("secret", path)
    yield lambda path: view.prompt_text(path)
    yield lambda path: view.edit(path, "secret", "changed")
    yield lambda path: view.append_under(path, "Facts", "planted")
    yield lambda path: view.write(path, "planted")
    yield view.split


def escapes(target: Target, path: str) -> list[str]:
    """Try a path in every way; return what got out."""
    before = target.outside()
    won: list[str] = []
    for number, use in enumerate(uses(target.space.view(ALICE))):
        try:
            answer = repr(use(path))
        except WorkspaceError as err:
            answer = str(err)
        won += [
            f"use {number} showed {secret}" for secret in SECRETS if secret in answer
        ]
    if target.outside() != before:
        won.append("something outside was changed")
    return won


def race(target: Target, rounds: int) -> list[str]:
    """Exchange a file and a folder for links while they are used; return what got out."""
    docs = target.root / "docs"
    folder = docs / "raced"
    folder.mkdir(exist_ok=True)
    stop = threading.Event()

    exchanged = 0
    real, link = docs / "raced-real", docs / "raced-link"
    file_link = docs / "file-link"

    def start_over() -> None:
        for path in (folder, real, link, file_link):
            if path.is_symlink():
                path.unlink()
            else:
                shutil.rmtree(path, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        link.symlink_to(target.base / "folder")

    def exchange() -> None:
        nonlocal exchanged
        start_over()
        while not stop.is_set():
            try:
                folder.rename(real)
                link.rename(folder)
                folder.rename(link)
                real.rename(folder)
                (folder / "secret.txt").unlink(missing_ok=True)
                file_link.symlink_to(target.base / "secret.txt")
                file_link.rename(folder / "secret.txt")
                exchanged += 1
            except OSError:
                # The tree made the folder anew while it was away.
                start_over()

    before = target.outside()
    worker = threading.Thread(target=exchange)
    worker.start()
    won: list[str] = []
    try:
        view = target.space.view(ALICE)
        for _ in range(rounds):
            for use in uses(view):
                try:
                    answer = repr(use("/docs/raced/secret.txt"))
                except WorkspaceError as err:
                    answer = str(err)
                if OUTSIDE in answer:
                    won.append("a link made between check and use was followed")
    finally:
        stop.set()
        worker.join()
    if target.outside() != before:
        won.append("a write went through a link made between check and use")
    if exchanged < rounds // 10:
        won.append("nothing was exchanged")
    return won
