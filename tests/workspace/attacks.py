"""Paths that try to leave the tree, to reach a protected file, or another person's.

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

_UP = (
    "..",
    "../",
    "/..",
    "/../",
    "../../../../../../../../etc/passwd",
    "/../../../../../../etc/passwd",
    "/memory/../../secret.txt",
    "/memory/../../../secret.txt",
    "/memory/users/../../../secret.txt",
    "/memory/./../../secret.txt",
    "/memory//..//..//secret.txt",
    "/memory/..",
    "/memory/../..",
    "/memory/../cron.json",
    "/memory/users/alice/../bob/MEMORY.md",
    "/memory/users/alice/./../bob/MEMORY.md",
    "/memory/users/./bob/MEMORY.md",
    "/memory/users//bob/MEMORY.md",
    "//memory//users//bob//MEMORY.md",
    "/spiffs/../secret.txt",
    "/spiffs/../../etc/passwd",
    "/spiffs/memory/../../../secret.txt",
    "/spiffs//memory/users/bob/MEMORY.md",
    "/spiffs/spiffs/../../secret.txt",
    "spiffs/../secret.txt",
    "./../secret.txt",
    "memory/../../secret.txt",
    ".. ",
    " ..",
    "/.. /secret.txt",
    "/... /secret.txt",
    "/.../secret.txt",
    "/..../secret.txt",
    "/. ./secret.txt",
    "/memory/.. /.. /secret.txt",
    "/memory/..\t/..\t/secret.txt",
    "/memory/..\n/secret.txt",
    "/memory/..\r/secret.txt",
    "/memory/..;/secret.txt",
    "/memory/..\u00a0/secret.txt",
    "/memory/..\u3000/secret.txt",
    "/docs/../../secret.txt",
    "/skills/../../secret.txt",
    "/config/../../secret.txt",
    "/sessions/../../secret.txt",
    "/sessions/../memory/users/bob/MEMORY.md",
)
_ENCODED = (
    "/%2e%2e/secret.txt",
    "/%2E%2E/secret.txt",
    "/memory/%2e%2e/%2e%2e/secret.txt",
    "/memory/.%2e/.%2e/secret.txt",
    "/memory/%2e./secret.txt",
    "/memory%2f..%2f..%2fsecret.txt",
    "/memory%2F..%2Fsecret.txt",
    "/memory/%252e%252e/secret.txt",
    "/memory/%25252e%25252e/secret.txt",
    "/memory/..%2fsecret.txt",
    "/memory/..%5csecret.txt",
    "/memory/..%255csecret.txt",
    "/memory/%c0%ae%c0%ae/secret.txt",
    "/memory/%c0%af..%c0%afsecret.txt",
    "/memory/%e0%80%ae/secret.txt",
    "/memory/..%00/secret.txt",
    "/memory/%00/secret.txt",
    "/memory/%u002e%u002e/secret.txt",
    "/memory/%u2215..%u2215secret.txt",
    "/memory/\\x2e\\x2e/secret.txt",
    "/memory/\\u002e\\u002e/secret.txt",
    "/memory/&#46;&#46;/secret.txt",
    "/memory/0x2e0x2e/secret.txt",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "http://localhost/etc/passwd",
    "data:text/plain,x",
)
_BACKSLASH = (
    "\\..\\secret.txt",
    "/memory\\..\\..\\secret.txt",
    "/memory/..\\..\\secret.txt",
    "/memory/users\\bob\\MEMORY.md",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "c:secret.txt",
    "\\\\server\\share\\secret.txt",
    "\\\\?\\C:\\secret.txt",
    "\\etc\\passwd",
)
_LOOK_ALIKES = (
    "/memory/\uff0e\uff0e/secret.txt",
    "/memory/\u2024\u2024/secret.txt",
    "/memory/\u2025/secret.txt",
    "/memory/\ufe52\ufe52/secret.txt",
    "/memory/\u3002\u3002/secret.txt",
    "/memory/\uff61\uff61/secret.txt",
    "/memory/\u0701\u0701/secret.txt",
    "/memory/.\u200b./secret.txt",
    "/memory/.\u200d./secret.txt",
    "/memory/.\u2060./secret.txt",
    "/memory/\ufeff../secret.txt",
    "/memory/..\u202e/secret.txt",
    "/memory/..\u00ad/secret.txt",
    "/memory\u2215..\u2215..\u2215secret.txt",
    "/memory\u2044..\u2044secret.txt",
    "/memory\uff0f..\uff0fsecret.txt",
    "/memory\u29f8..\u29f8secret.txt",
    "/memory\uff3c..\uff3csecret.txt",
    "/memory\u2216..\u2216secret.txt",
    "/memory\ufe68..\ufe68secret.txt",
    "/memory/users/b\u043eb/MEMORY.md",
    "/memory/users/\uff42\uff4f\uff42/MEMORY.md",
    "/memory/users/bo\u200bb/MEMORY.md",
    "/memory/users/b\u00f6b/MEMORY.md",
    "/memory/u\u017fers/bob/MEMORY.md",
    "/memory/user\u017f/bob/MEMORY.md",
    "/cron\uff0ejson",
    "/cron.j\u017fon",
    "/\uff43ron.json",
    "/cron.json\u200b",
    "/se\u017fsions/tg_2.jsonl",
)
_CASE = (
    "/memory/users/Bob/MEMORY.md",
    "/memory/users/BOB/MEMORY.md",
    "/memory/users/BOB/memory.md",
    "/Memory/users/bob/MEMORY.md",
    "/MEMORY/USERS/BOB/MEMORY.MD",
    "/memory/Users/bob/MEMORY.md",
    "/CRON.JSON",
    "/Cron.Json",
    "/cron.JSON",
    "/spiffs/CRON.json",
    "/SESSIONS/tg_2.jsonl",
    "/Sessions/TG_2.jsonl",
    "/.TRASH/users/bob/x.md",
)
_ALIASES = (
    "/memory/users/bob/MEMORY.md.",
    "/memory/users/bob/MEMORY.md ",
    "/memory/users/bob./MEMORY.md",
    "/memory/users/bob /MEMORY.md",
    "/memory/users/ bob/MEMORY.md",
    "/memory/users/bob/MEMORY.md::$DATA",
    "/memory/users/bob:stream/MEMORY.md",
    "/memory/USERS~1/bob/MEMORY.md",
    "/memory/users/BOB~1/MEMORY.md",
    "/MEMORY~1/users/bob/MEMORY.md",
    "/cron.json.",
    "/cron.json ",
    "/cron.json/",
    "/cron.json/.",
    "/./cron.json",
    "//cron.json",
    "/cron.json::$DATA",
    "/CRON~1.JSO",
    "/cron.json\0.md",
    "/spiffs/cron.json",
    "cron.json",
)
_PRIVATE = (
    "/memory/users/bob/MEMORY.md",
    "/memory/users/bob",
    "/memory/users/bob/",
    "/memory/users/bob/2026-12-01.md",
    "/memory/users/bob/none.md",
    "/memory/users/nobody/MEMORY.md",
    "/spiffs/memory/users/bob/MEMORY.md",
    "memory/users/bob/MEMORY.md",
    "/.trash/users/bob",
    "/.trash/users/bob/20261201-143000_MEMORY.md",
    "/sessions/tg_2.jsonl",
    "/sessions/tg_2.jsonl/",
    "/spiffs/sessions/tg_2.jsonl",
)
_SYSTEM = (
    "/etc/passwd",
    "/etc/shadow",
    "etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/secret.txt",
    "/proc/self/fd/0",
    "/proc/1/root/etc/passwd",
    "/proc/self/mem",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/stdin",
    "/dev/fd/0",
    "/dev/tty",
    "/sys/kernel/notes",
    "/root/.ssh/id_rsa",
    "/home/user/.bashrc",
    "/config/secrets.yaml",
    "/config/configuration.yaml",
    "/config/.storage/auth",
    "/config/mimiclaw/memory/users/bob/MEMORY.md",
    "~/secret.txt",
    "~root/secret.txt",
    "/~/secret.txt",
    "$HOME/secret.txt",
    "${HOME}/secret.txt",
    "`id`",
    "$(id)",
    "|id",
    "-rf",
)
_DEVICES = (
    "/memory/CON",
    "/memory/con.md",
    "/memory/NUL",
    "/memory/nul.txt",
    "/memory/aux.md",
    "/memory/PRN.md",
    "/memory/COM1",
    "/memory/com\u00b9.md",
    "/memory/LPT9.md",
    "/memory/CONIN$",
)
_HIDDEN = (
    "/.index/search.sqlite",
    "/.index",
    "/.locks/00",
    "/.locks",
    "/.git/config",
    "/.ssh/id_rsa",
    "/.env",
    "/skills/.shipped.json",
    "/memory/.hidden.md",
    "/memory/.mimiclaw-1-2",
    "/docs/.secret/x.md",
    "/memory/\uff0ehidden.md",
)
_ODD = (
    "/" + "a" * 256,
    "/" + "a" * 5000,
    "/memory/" + "\u6c34" * 90 + ".md",
    "/memory/" + "x/" * 600 + "y.md",
    "/a/b/c/d/e/f/g/h/i/j/k/l.md",
    "/memory/\0",
    "\0",
    "/memory/x\0/../../secret.txt",
    "/memory/\x01.md",
    "/memory/\x7f.md",
    "/memory/\x85.md",
    "/memory/\ud800.md",
    "/memory/\udcff.md",
    "/memory/\ue000.md",
    "/memory/a\nb.md",
    "/memory/a\u2028b.md",
    "/memory/a\u2029b.md",
)
_LINKS = (
    "/docs/link-to-file.md",
    "/docs/link-to-folder/secret.txt",
    "/docs/link-to-folder",
    "/docs/link-up/secret.txt",
    "/docs/link-to-root/etc/passwd",
    "/docs/link-to-proc/self/environ",
    "/docs/link-chain.md",
    "/docs/link-to-bob.md",
    "/docs/link-to-users/bob/MEMORY.md",
    "/docs/link-to-cron.md",
    "/docs/link-to-session.md",
    "/docs/link-to-device.md",
    "/docs/dangling.md",
    "/linked-top/secret.txt",
    "/docs/pipe.md",
    "/docs/socket.md",
)
PATHS = tuple(
    dict.fromkeys(
        _UP
        + _ENCODED
        + _BACKSLASH
        + _LOOK_ALIKES
        + _CASE
        + _ALIASES
        + _PRIVATE
        + _SYSTEM
        + _DEVICES
        + _HIDDEN
        + _ODD
        + _LINKS
    )
)


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
