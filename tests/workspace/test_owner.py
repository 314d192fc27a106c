"""The owner's hand: edits are seen at once, broken files are named and left alone."""

from __future__ import annotations

import os
from pathlib import Path
import shutil

import pytest

from custom_components.mimiclaw.workspace.errors import TooLarge, WorkspaceError

from .conftest import ALICE, House


def test_an_edit_is_in_the_next_prompt(house: House) -> None:
    path = "/memory/MEMORY.md"
    for number in range(20):
        # Same length, same moment: no time stamp tells these apart.
        house.put(path, f"# Memory\n\n- number {number:02d}\n")
        assert f"number {number:02d}" in house.view().prompt_text(path)


def test_an_edit_that_keeps_size_and_time_is_seen(house: House) -> None:
    path = "/memory/MEMORY.md"
    real = house.put(path, "# Memory\n\n- blue\n")
    os.utime(real, (1_600_000_000, 1_600_000_000))
    assert "blue" in house.view().prompt_text(path)
    house.put(path, "# Memory\n\n- pink\n")
    os.utime(real, (1_600_000_000, 1_600_000_000))
    assert "pink" in house.view().prompt_text(path)


def test_an_unchanged_file_is_not_read_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = house.put("/memory/MEMORY.md", "# Memory\n")
    os.utime(real, (1_600_000_000, 1_600_000_000))
    house.view().prompt_text("/memory/MEMORY.md")
    monkeypatch.setattr(house.space.tree, "read", None)
    assert house.view().prompt_text("/memory/MEMORY.md") == "# Memory\n"


def test_a_prompt_file_that_is_gone_or_broken_is_empty(house: House) -> None:
    path = "/config/SOUL.md"
    assert house.view().prompt_text(path)
    house.put(path, b"\xff\xfe")
    assert house.view().prompt_text(path) == ""
    (house.root / "config/SOUL.md").unlink()
    assert house.view().prompt_text(path) == ""
    (house.root / "config/SOUL.md").mkdir()
    assert house.view().prompt_text(path) == ""


def test_a_restored_backup_is_seen_at_once(house: House, tmp_path: Path) -> None:
    house.put("/memory/old-note-here.md", "# Old\n\nzebra\n")
    assert house.view().search("zebra")
    backup = tmp_path / "backup"
    shutil.copytree(house.root, backup)
    (backup / "memory/old-note-here.md").write_text("# Old\n\ngiraffe\n")
    house.root.rename(tmp_path / "before")
    backup.rename(house.root)
    assert house.view().read("/memory/old-note-here.md").text.endswith("giraffe")
    assert house.view().search("giraffe")
    assert not house.view().search("zebra")


def test_broken_files_are_named_and_left(house: House) -> None:
    broken = {
        "/memory/not-utf-8.md": b"caf\xe9",
        "/memory/with-nul.md": b"a\0b",
        "/memory/fifty-megabytes.md": b"x" * 50_000_000,
        "/sessions/tg_1.jsonl": b'{"role":"user","content":"hi","ts":1}\n{"role":"us',
        "/cron.json": b'{"jobs":[',
        "/skills/empty-skill.md": b"",
    }
    for path, data in broken.items():
        house.put(path, data)
    (house.root / "config/USER.md").unlink()
    (house.root / "config/USER.md").mkdir()
    (house.root / "memory/folder-as-file.md").mkdir()
    (house.root / "docs/link.md").symlink_to("/etc/passwd")
    house.put("/docs/photo.jpg", b"\xff\xd8\xff")
    found = {problem.path: problem for problem in house.space.problems()}
    assert {path: problem.kind for path, problem in found.items()} == {
        "/memory/not-utf-8.md": "not_text",
        "/memory/with-nul.md": "not_text",
        "/memory/fifty-megabytes.md": "too_large",
        "/sessions/tg_1.jsonl": "broken_lines",
        "/cron.json": "broken_json",
        "/skills/empty-skill.md": "empty",
        "/config/USER.md": "not_a_file",
        "/memory/folder-as-file.md": "not_a_file",
        "/docs/link.md": "link",
    }
    assert all(problem.path in problem.detail for problem in found.values())
    for path, data in broken.items():
        assert house.text_bytes(path) == data


def test_problems_go_when_the_file_is_mended(house: House) -> None:
    house.put("/memory/not-utf-8.md", b"caf\xe9")
    assert len(house.space.problems()) == 1
    house.put("/memory/not-utf-8.md", "café")
    assert house.space.problems() == []
    assert house.view().search("café")[0].path == "/memory/not-utf-8.md"


def test_a_healthy_tree_has_no_problems(house: House) -> None:
    assert house.space.problems() == []


@pytest.mark.parametrize("data", [b"caf\xe9", b"a\0b"])
def test_reading_a_broken_file_is_a_sentence(house: House, data: bytes) -> None:
    house.put("/memory/broken-file-here.md", data)
    view = house.view()
    for use in (view.read, view.sections, lambda path: view.edit(path, "a", "b")):
        with pytest.raises(WorkspaceError, match=r"/memory/broken-file-here\.md"):
            use("/memory/broken-file-here.md")
    assert "broken-file-here.md" in [entry.name for entry in view.list("/memory")]


def test_a_note_of_fifty_megabytes_is_a_sentence(house: House) -> None:
    house.put("/memory/fifty-megabytes.md", b"x" * 50_000_000)
    with pytest.raises(TooLarge, match="48828 KB"):
        house.view().read("/memory/fifty-megabytes.md")


def test_a_missing_tree_is_a_sentence_and_comes_back(house: House) -> None:
    shutil.rmtree(house.root)
    view = house.view(ALICE)
    for use in (view.read, view.list, view.sections):
        with pytest.raises(WorkspaceError):
            use("/memory/MEMORY.md")
    assert view.search("x") == []
    assert view.recent_notes() == []
    assert house.space.skills.catalogue().skills == ()
    assert house.space.sessions.last("assist", "a") == []
    house.space.seed()
    view.append_note("again")
    assert view.search("again")


def test_long_text_is_cut_on_a_line_and_says_how_to_go_on(house: House) -> None:
    house.put(
        "/docs/long-list-of-rows.md", "".join(f"row {n} 水泵\n" for n in range(5000))
    )
    view = house.view()
    rows: list[str] = []
    offset: int | None = 1
    while offset is not None:
        part = view.read("/docs/long-list-of-rows.md", offset)
        assert len(part.text.encode()) < 8192
        rows += part.text.split("\n")
        offset = part.next_offset
    assert rows == [f"row {n} 水泵" for n in range(5000)]


def test_one_endless_line_is_cut_on_a_character_and_read_on(house: House) -> None:
    line = "水泵🏳️‍🌈é" * 5000
    house.put("/docs/one-endless-line.md", line + "\nend\n")
    view = house.view()
    text, offset, column = "", 1, 0
    while True:
        part = view.read("/docs/one-endless-line.md", offset, None, column)
        assert len(part.text.encode()) < 8192
        text += part.text
        if part.next_offset is None:
            break
        text += "" if part.next_column else "\n"
        offset, column = part.next_offset, part.next_column
    assert text == line + "\nend"


@pytest.mark.parametrize(("offset", "limit"), [(0, None), (-5, 1), (1, 0), (10**9, 5)])
def test_odd_offsets_are_no_error(house: House, offset: int, limit: int | None) -> None:
    part = house.view().read("/memory/MEMORY.md", offset, limit)
    assert part.total_lines == 3


def test_windows_line_ends_and_marks_are_not_shown(house: House) -> None:
    house.put("/memory/from-windows-pc.md", b"\xef\xbb\xbf# A\r\nb\r\n")
    assert house.view().read("/memory/from-windows-pc.md").text == "# A\nb"
