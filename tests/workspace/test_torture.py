"""Kills and races: the old text or the new one, and every edit in it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import errno
import fcntl
import json
import os
from pathlib import Path
import stat

import pytest

from custom_components.mimiclaw.workspace.errors import Changed
from custom_components.mimiclaw.workspace.tree import Tree

from . import torture
from .conftest import House


def test_a_killed_writer_leaves_whole_files(tmp_path: Path) -> None:
    counts = torture.kill_writers(tmp_path / "mimiclaw", 12)
    assert counts["kills"] == 12
    assert (counts["torn"], counts["empty"], counts["leftovers"]) == (0, 0, 0)


def test_edits_of_threads_and_processes_are_all_there(tmp_path: Path) -> None:
    counts = torture.race_edits(tmp_path / "mimiclaw", threads=6, processes=2, times=15)
    assert counts == {"wanted": 120, "lost": 0}


def test_notes_and_messages_of_many_threads_are_all_there(house: House) -> None:
    def work(name: int) -> None:
        for number in range(10):
            house.view().append_note(f"note {name}-{number}")
            house.space.sessions.append("assist", "k", "user", f"{name}-{number}")
            house.view().append_under(
                "/memory/MEMORY.md", f"S{name % 3}", f"fact {name}-{number}"
            )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    notes = house.text("/memory/2026-12-01.md")
    memory = house.text("/memory/MEMORY.md")
    lines = house.text("/sessions/assist_k.jsonl").splitlines()
    said = {json.loads(line)["content"] for line in lines}
    for name in range(8):
        for number in range(10):
            assert f"note {name}-{number}\n" in notes
            assert f"fact {name}-{number}\n" in memory
            assert f"{name}-{number}" in said
    assert memory.count("## S") == 3


def test_of_two_turns_that_read_the_same_text_one_has_to_read_again(
    house: House,
) -> None:
    house.put("/memory/MEMORY.md", "# Memory\n")
    first, second = house.view(), house.view()
    first.read("/memory/MEMORY.md")
    second.read("/memory/MEMORY.md")
    first.write("/memory/MEMORY.md", "# Memory\n\n- of the first\n")
    refused = False
    try:
        second.write("/memory/MEMORY.md", "# Memory\n\n- of the second\n")
    except Changed:
        refused = True
    assert refused
    assert "of the first" in house.text("/memory/MEMORY.md")


def test_a_living_writer_s_temporary_file_is_not_swept(house: House) -> None:
    dead = house.put("/memory/.mimiclaw-dead", "half")
    living = house.put("/memory/.mimiclaw-living", "half")
    fd = os.open(living, os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert house.space.seed().swept == 1
        assert not dead.exists()
        assert living.exists()
    finally:
        os.close(fd)
    assert house.space.seed().swept == 1


def test_a_disk_that_cannot_sync_a_folder_is_written_all_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def no_folders(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(fd)

    monkeypatch.setattr(os, "fsync", no_folders)
    house.view().write("/memory/deep/new-folder-there.md", "# New\n")
    house.space.sessions.append("assist", "n", "user", "hello")
    assert house.text("/memory/deep/new-folder-there.md") == "# New\n"


def test_a_repository_in_the_tree_is_not_watched_or_searched(house: House) -> None:
    for number in range(20):
        house.put(f"/.git/objects/{number:02x}/note.md", "# zebra\n")
    view = house.view()
    assert not view.search("zebra")
    assert all(
        not name.startswith(".")
        for folder in house.space.watch._folders.values()
        for name in folder
    )
    house.put("/memory/.obsidian/plugins/note.md", "# zebra\n")
    assert not view.search("zebra")
    assert [entry.name for entry in view.list("/memory")] == ["MEMORY.md"]


def test_a_write_survives_its_temporary_file_being_swept(house: House) -> None:
    """A clean-up may come between making the file and locking it."""
    from custom_components.mimiclaw.workspace import disk

    real = disk.write_all
    swept = 0

    def sweeping(fd: int, data: bytes) -> None:
        nonlocal swept
        if not swept:
            swept = 1
            next((house.root / "memory").glob(".mimiclaw-*")).unlink()
        real(fd, data)

    disk.write_all = sweeping
    try:
        Tree(house.root).write(("memory", "swept-and-written.md"), b"text")
    finally:
        disk.write_all = real
    assert swept
    assert house.text("/memory/swept-and-written.md") == "text"
