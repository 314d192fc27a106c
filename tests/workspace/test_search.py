"""Search: what it finds, in which languages, and that it follows the files whoever changes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import sqlite3
import time

import pytest

from custom_components.mimiclaw.workspace import watch as watch_module
from custom_components.mimiclaw.workspace.errors import NotFound, PathRefused
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD
from custom_components.mimiclaw.workspace.tokens import for_index, words_of
from custom_components.mimiclaw.workspace.workspace import Workspace

from .conftest import ALICE, House


def paths_of(house: House, query: str, path: str | None = None) -> list[str]:
    """Return the files found, best first, each once."""
    return list(dict.fromkeys(hit.path for hit in house.view().search(query, path)))


NOTES = {
    "/memory/garden-watering-schedule.md": "# Garden watering\n\nTulips at 7, every second day.\n",
    "/memory/spare-key-place.md": "# Keys\n\n## Spare key\nIt lies under the third flower pot.\n\n## Bike\nBlue.\n",
    "/memory/备用钥匙.md": "# 钥匙\n\n备用钥匙在门口的花盆下面。水泵坏了要找王师傅。\n",
    "/memory/ガレージ.md": "# ガレージ\n\n自転車の鍵は引き出しの中です。\n",
    "/memory/café-hours.md": "# Café\n\nGeöffnet ab 8 Uhr, Straße 5.\n",
    "/docs/boiler.md": "# Boiler manual\n\n## Error codes\n\n- E4: ignition failed\n- E7: water pressure low\n",
}


@pytest.fixture
def full(house: House) -> House:
    for path, text in NOTES.items():
        house.put(path, text)
    return house


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("tulips", "/memory/garden-watering-schedule.md"),
        ("watered tulip", "/memory/garden-watering-schedule.md"),
        ("Where is the spare key?", "/memory/spare-key-place.md"),
        ("flower pots", "/memory/spare-key-place.md"),
        ("备用钥匙在哪里？", "/memory/备用钥匙.md"),
        ("水泵", "/memory/备用钥匙.md"),
        ("泵", "/memory/备用钥匙.md"),
        ("坏了的水泵怎么办", "/memory/备用钥匙.md"),
        ("自転車の鍵はどこ", "/memory/ガレージ.md"),
        ("鍵", "/memory/ガレージ.md"),
        ("ｶﾞﾚｰｼﾞ", "/memory/ガレージ.md"),
        ("cafe", "/memory/café-hours.md"),
        ("CAFÉ", "/memory/café-hours.md"),
        ("strasse geoffnet", "/memory/café-hours.md"),
        ("E7", "/docs/boiler.md"),
        ("ignit", "/docs/boiler.md"),
        ("boiler", "/docs/boiler.md"),
        ("schedule", "/memory/garden-watering-schedule.md"),
    ],
)
def test_a_question_finds_its_note_first(full: House, query: str, path: str) -> None:
    assert paths_of(full, query)[0] == path


def test_a_hit_names_line_heading_and_text(full: House) -> None:
    hit = full.view().search("flower pot")[0]
    assert (hit.line, hit.heading) == (4, "Spare key")
    assert hit.snippet == "It lies under the third flower pot."
    assert full.view().read(hit.path, hit.line, 1).text == hit.snippet


def test_titles_and_headings_weigh_more_than_text(house: House) -> None:
    house.put("/memory/a-note-of-things.md", "# Things\n\n" + "compost " * 5 + "heap\n")
    house.put("/memory/compost-heap-rules.md", "# Compost heap\n\nNo bread.\n")
    assert paths_of(house, "compost heap")[0] == "/memory/compost-heap-rules.md"


def test_search_in_a_folder_or_a_file(full: House) -> None:
    assert set(paths_of(full, "key water pot", "/docs")) == {"/docs/boiler.md"}
    assert paths_of(full, "pressure", "/docs/boiler.md") == ["/docs/boiler.md"]
    assert paths_of(full, "pressure", "/memory") == []
    with pytest.raises(PathRefused):
        full.view().search("x", "/docs/../..")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "???",
        '"',
        "a AND",
        "NEAR(",
        "body:key",
        "*",
        "key*",
        "-key",
        "(((",
        "key OR",
        "'; DROP",
        "🙂",
        "\0",
        "x" * 5000,
    ],
)
def test_a_query_is_words_never_a_command(full: House, query: str) -> None:
    full.view().search(query)
    assert paths_of(full, "tulips") == ["/memory/garden-watering-schedule.md"]


def test_long_lines_are_cut_around_the_word(house: House) -> None:
    house.put(
        "/memory/one-long-line-note.md",
        "# x\n\n" + "word " * 400 + "zebra " + "word " * 400,
    )
    hit = house.view().search("zebra")[0]
    assert "zebra" in hit.snippet
    assert len(hit.snippet) < 260


def test_the_index_follows_every_kind_of_change(house: House) -> None:
    view = house.view(ALICE)
    real = house.put("/memory/first-of-all-notes.md", "# One\n\nzebra\n")
    assert view.search("zebra")
    # In place, as an editor on a network folder does: same inode, same size.
    with real.open("r+") as file:
        file.write("# One\n\npanda\n")
    assert not view.search("zebra")
    assert view.search("panda")
    real.rename(house.root / "memory" / "renamed-by-hand-note.md")
    assert [hit.path for hit in view.search("panda")] == [
        "/memory/renamed-by-hand-note.md"
    ]
    (house.root / "docs/deep/deeper").mkdir(parents=True)
    house.put("/docs/deep/deeper/far-down-below.md", "# Far\n\nlemur\n")
    assert [hit.path for hit in view.search("lemur")] == [
        "/docs/deep/deeper/far-down-below.md"
    ]
    (house.root / "docs/deep").rename(house.root / "docs/moved")
    assert [hit.path for hit in view.search("lemur")] == [
        "/docs/moved/deeper/far-down-below.md"
    ]
    (house.root / "docs/moved").rename(house.root / "out-of-the-way")
    (house.root / "memory/renamed-by-hand-note.md").unlink()
    assert not view.search("panda")
    view.write("/memory/written-by-the-model.md", "# Otter\n\notter\n")
    assert view.search("otter")
    view.edit("/memory/written-by-the-model.md", "\notter", "\nbadger")
    assert view.search("badger")[0].snippet == "badger"
    view.append_note("a walrus came by")
    assert view.search("walrus")


def test_changes_made_while_nobody_looked_are_found(house: House) -> None:
    house.put("/memory/first-of-all-notes.md", "# One\n\nzebra\n")
    house.put("/memory/second-of-all-notes.md", "# Two\n\nlion\n")
    assert house.view().search("zebra")
    house.space.close()
    house.put("/memory/first-of-all-notes.md", "# One\n\npanda\n")
    (house.root / "memory/second-of-all-notes.md").unlink()
    later = Workspace(house.root).view(HOUSEHOLD)
    assert not later.search("zebra")
    assert not later.search("lion")
    assert later.search("panda")


def test_without_a_kernel_that_tells_changes_are_found_by_looking(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_is_deaf", lambda root: True)
    space = Workspace(house.root)
    view = space.view(HOUSEHOLD)
    assert not space.watch.reliable
    real = house.put("/memory/first-of-all-notes.md", "# One\n\nzebra\n")
    space.index._scan_took = 0.0
    assert view.search("zebra")
    with real.open("r+") as file:
        file.write("# One\n\npanda\n")
    space.index._scan_took = 0.0
    assert view.search("panda")
    view.append_note("a walrus came by")
    space.index._scan_took = 1e9
    assert view.search("walrus")


def test_a_kernel_that_has_watches_again_is_asked_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.space.close()
    with monkeypatch.context() as patch:
        patch.setattr(watch_module, "_libc_call", lambda name, *args: -1)
        space = Workspace(house.root)
        assert not space.view(HOUSEHOLD).search("zebra")
        before = space.watch.reliable
    house.put("/memory/first-of-all-notes.md", "# One\n\nzebra\n")
    space.watch._try_at = 0.0
    space.index._scan_took = 1e9
    silent, other_end = os.pipe2(os.O_NONBLOCK)
    watched = iter(range(1, 100))
    answers = {
        "inotify_init1": lambda: silent,
        "inotify_add_watch": lambda: next(watched),
    }
    monkeypatch.setattr(watch_module, "_libc_call", lambda name, *args: answers[name]())
    assert space.view(HOUSEHOLD).search("zebra")
    assert (before, space.watch.reliable) == (False, True)
    space.close()
    os.close(other_end)


def test_network_disks_are_known_as_such(tmp_path: Path) -> None:
    assert watch_module._is_deaf(tmp_path) is False
    assert watch_module._is_deaf(Path("/proc")) is False


def test_a_flood_of_changes_loses_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert house.view().search("x") == []
    watch = house.space.watch
    house.put("/memory/after-the-flood-note.md", "# Ark\n\ndove\n")
    overflow = watch_module._HEADER.pack(-1, watch_module._OVERFLOW, 0, 0)
    reads = iter([overflow])
    monkeypatch.setattr(os, "read", lambda fd, size: next(reads))
    watch.subscribe()
    with watch._lock:
        watch._drain()
    monkeypatch.undo()
    assert house.view().search("dove")


@pytest.mark.parametrize(
    "damage", ["delete", "zeros", "truncate", "text", "other", "folder", "middle"]
)
def test_a_missing_or_damaged_index_is_made_anew(full: House, damage: str) -> None:
    assert paths_of(full, "tulips")
    file = full.root / ".index/search.sqlite"
    full.space.index._db.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = file.stat().st_size
    if damage == "delete":
        for path in (full.root / ".index").iterdir():
            path.unlink()
    elif damage == "zeros":
        file.write_bytes(b"\0" * size)
    elif damage == "truncate":
        file.write_bytes(file.read_bytes()[: size // 2])
    elif damage == "text":
        file.write_text("this is no database")
    elif damage == "middle":
        raw = bytearray(file.read_bytes())
        raw[4096:] = bytes(value ^ 0xFF for value in raw[4096:])
        file.write_bytes(bytes(raw))
    elif damage == "other":
        file.unlink()
        with sqlite3.connect(file) as other:
            other.execute("CREATE TABLE mine(x)")
    else:
        file.unlink()
        file.mkdir()
    # In the running process, and in one that starts on what is left.
    assert paths_of(full, "tulips") == ["/memory/garden-watering-schedule.md"]
    assert paths_of(full, "boiler pressure") == ["/docs/boiler.md"]
    fresh = Workspace(full.root).view(HOUSEHOLD)
    assert [hit.path for hit in fresh.search("tulips")] == [
        "/memory/garden-watering-schedule.md"
    ]


def test_the_whole_index_folder_may_go_while_running(full: House) -> None:
    assert paths_of(full, "tulips")
    for path in (full.root / ".index").iterdir():
        path.unlink()
    (full.root / ".index").rmdir()
    assert paths_of(full, "tulips")
    full.put("/memory/one-more-note-here.md", "# More\n\nheron\n")
    assert paths_of(full, "heron")


def test_an_index_held_by_another_program_does_not_stop_a_search(full: House) -> None:
    assert paths_of(full, "tulips")
    other = sqlite3.connect(full.root / ".index/search.sqlite", isolation_level=None)
    full.space.index._db.sql.execute("PRAGMA busy_timeout=50")
    other.execute("BEGIN IMMEDIATE")
    full.put("/memory/one-more-note-here.md", "# More\n\nheron\n")
    assert paths_of(full, "tulips")
    other.execute("ROLLBACK")
    other.close()
    assert paths_of(full, "heron")


def test_conversations_are_searched_when_asked_for(house: House) -> None:
    sessions = house.space.sessions
    sessions.append("telegram", "1", "user", "we talked of the zebra", person="alice")
    sessions.append("assist", "k", "user", "the zebra again", person=None)
    assert not house.view(ALICE).search("zebra")
    own = house.view(ALICE).search("zebra", "/sessions")
    assert sorted(hit.snippet for hit in own) == [
        "the zebra again",
        "we talked of the zebra",
    ]
    others = house.view().search("zebra", "/sessions")
    assert [hit.snippet for hit in others] == ["the zebra again"]
    with pytest.raises((PathRefused, NotFound)):
        house.view().read("/sessions/tg_1.jsonl")


def test_the_schedule_indexes_and_section_lists_are_not_found(house: House) -> None:
    house.put("/cron.json", '{"jobs":[{"message":"zebra"}]}')
    house.put("/docs/long.md", "# Zebra\n\n" + "zebra stripes\n\n" * 800)
    for number in range(60):
        house.put(f"/memory/animal-number-{number}.md", "# Zebra\n")
    house.view().list("/memory")
    house.view().list("/docs")
    names = {path.rsplit("/", 1)[1] for path in paths_of(house, "zebra")}
    assert (house.root / "memory/INDEX.md").exists()
    assert (house.root / "docs/long.toc.md").exists()
    assert not names & {"cron.json", "INDEX.md", "long.toc.md"}


def test_grams_are_of_one_and_two_characters() -> None:
    assert for_index("开水泵").split() == ["开", "水", "泵", "开水", "水泵"]
    assert words_of("开水泵 now") == ["开水", "水泵", "now"]
    assert words_of("泵") == ["泵"]
    assert for_index("plain") == "plain"


def test_indexing_goes_on_where_it_was_stopped(house: House) -> None:
    for number in range(700):
        house.put(
            f"/memory/note-of-animal-{number}.md",
            f"# Animal {number}\n\nzebra{number}\n",
        )
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return True

    left = house.space.index.refresh(stop=stop)
    assert left > 0
    assert asked == 1
    assert house.space.build_index() == 0
    assert paths_of(house, "zebra699") == ["/memory/note-of-animal-699.md"]


def test_many_turns_search_while_files_change_and_the_index_is_damaged(
    house: House,
) -> None:
    def turn(number: int) -> None:
        view = house.view(ALICE)
        for step in range(12):
            path = f"/memory/turn-{number}-step-note.md"
            view.write(path, f"# Turn {number}\n\nheron{number}x{step}\n")
            assert path in [hit.path for hit in view.search(f"heron{number}x{step}")]
            house.space.skills.catalogue()
            view.list("/memory")

    def spoil() -> None:
        for _ in range(6):
            time.sleep(0.02)
            (house.root / ".index/search.sqlite").unlink(missing_ok=True)

    with ThreadPoolExecutor(7) as pool:
        jobs = [pool.submit(turn, number) for number in range(6)] + [pool.submit(spoil)]
        for job in jobs:
            job.result()
