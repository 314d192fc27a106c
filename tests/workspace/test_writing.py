"""Nothing that was written is lost: versions, edits, shrinking, limits."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.workspace import workspace as workspace_module
from custom_components.mimiclaw.workspace.errors import (
    Changed,
    EditMismatch,
    NotFound,
    NotText,
    PathRefused,
    TooLarge,
    TreeFull,
)
from custom_components.mimiclaw.workspace.paths import Limits
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD
from custom_components.mimiclaw.workspace.workspace import Workspace

from .conftest import ALICE, House

LONG = "# Memory\n\n" + "".join(
    f"- fact {number} about the house\n" for number in range(60)
)


def test_write_over_a_file_changed_since_it_was_read_is_refused(house: House) -> None:
    house.put("/memory/garden-plan.md", "# Garden\n\nroses\n")
    view = house.view()
    view.read("/memory/garden-plan.md")
    house.put("/memory/garden-plan.md", "# Garden\n\nroses and tulips\n")
    with pytest.raises(Changed, match="changed since you read it; read it again"):
        view.write("/memory/garden-plan.md", "# Garden\n\nlilies\n")
    assert house.text("/memory/garden-plan.md") == "# Garden\n\nroses and tulips\n"
    view.read("/memory/garden-plan.md")
    view.write("/memory/garden-plan.md", "# Garden\n\nroses, tulips, lilies\n")
    assert "lilies" in house.text("/memory/garden-plan.md")


def test_memory_that_was_not_read_is_not_written_over(house: House) -> None:
    house.put("/memory/MEMORY.md", LONG)
    with pytest.raises(Changed, match="read it first"):
        house.view().write("/memory/MEMORY.md", "# Memory\n\n- new\n")
    assert house.text("/memory/MEMORY.md") == LONG


def test_memory_read_in_part_is_not_written_over(house: House) -> None:
    house.put("/memory/MEMORY.md", LONG)
    view = house.view()
    view.read("/memory/MEMORY.md", 1, 10)
    with pytest.raises(Changed, match="lines 1 to 10 of 62"):
        view.write("/memory/MEMORY.md", LONG + "- new\n")
    view.read("/memory/MEMORY.md", 11)
    view.write("/memory/MEMORY.md", LONG + "- new\n")
    assert house.text("/memory/MEMORY.md").endswith("- new\n")


def test_memory_cut_in_the_prompt_does_not_count_as_read(house: House) -> None:
    house.put("/memory/MEMORY.md", LONG)
    view = house.view()
    view.prompt_text("/memory/MEMORY.md", cap=500)
    with pytest.raises(Changed):
        view.write("/memory/MEMORY.md", LONG + "- new\n")
    whole = house.view()
    whole.prompt_text("/memory/MEMORY.md", cap=50_000)
    whole.write("/memory/MEMORY.md", LONG + "- new\n")


def test_a_write_after_an_edit_of_a_text_read_in_part_is_refused(house: House) -> None:
    house.put("/memory/MEMORY.md", LONG)
    view = house.view()
    view.read("/memory/MEMORY.md", 1, 5)
    view.edit("/memory/MEMORY.md", "fact 3 about", "fact three about")
    with pytest.raises(Changed):
        view.write("/memory/MEMORY.md", "# Memory\n")


def test_shrinking_a_memory_file_by_more_than_half_keeps_the_old_text(
    house: House,
) -> None:
    house.put("/memory/MEMORY.md", LONG)
    view = house.view()
    view.read("/memory/MEMORY.md")
    said = view.write("/memory/MEMORY.md", "# Memory\n\n- short\n")
    assert house.trash() == [LONG]
    assert "/.trash/" in said


def test_an_edit_that_shrinks_keeps_the_old_text(house: House) -> None:
    house.put("/memory/MEMORY.md", LONG)
    middle = "".join(f"- fact {number} about the house\n" for number in range(5, 60))
    house.view().edit("/memory/MEMORY.md", middle, "")
    assert house.trash() == [LONG]


def test_two_shrinks_in_one_second_are_both_kept(house: House) -> None:
    for text in ("first " * 100, "second " * 100):
        house.put("/memory/a-long-story.md", text)
        view = house.view()
        view.read("/memory/a-long-story.md")
        view.write("/memory/a-long-story.md", "short")
    assert sorted(house.trash()) == ["first " * 100, "second " * 100]


def test_a_private_text_in_the_trash_stays_private(house: House) -> None:
    path = "/memory/users/alice/MEMORY.md"
    house.put(path, LONG)
    view = house.view(ALICE)
    view.read(path)
    kept = (
        view.write(path, "# Memory\n").split("kept as ")[1].split(". ")[0].rstrip(".")
    )
    assert house.view(ALICE).read(kept).text.startswith("# Memory")
    with pytest.raises(PathRefused):
        house.view(HOUSEHOLD).read(kept)


def test_a_file_written_blindly_outside_memory_is_kept_in_the_trash(
    house: House,
) -> None:
    house.put("/docs/boiler-manual-short.md", "# Boiler\n\nold\n")
    house.view().write("/docs/boiler-manual-short.md", "# Boiler\n\nquite new\n")
    assert house.trash() == ["# Boiler\n\nold\n"]


def test_a_file_deleted_since_it_was_read_is_not_silently_made_again(
    house: House,
) -> None:
    real = house.put("/memory/garden-plan.md", "# Garden\n")
    view = house.view()
    view.read("/memory/garden-plan.md")
    real.unlink()
    with pytest.raises(Changed, match="deleted"):
        view.write("/memory/garden-plan.md", "# Garden\n")
    view.write("/memory/garden-plan.md", "# Garden\n")


def test_edit_finds_its_text_in_what_is_on_disk_now(house: House) -> None:
    house.put("/memory/MEMORY.md", "# Memory\n\n- code 1\n")
    view = house.view()
    view.read("/memory/MEMORY.md")
    house.put("/memory/MEMORY.md", "# Memory\n\n- code 1\n- added by the owner\n")
    view.edit("/memory/MEMORY.md", "code 1", "code 2")
    assert (
        house.text("/memory/MEMORY.md")
        == "# Memory\n\n- code 2\n- added by the owner\n"
    )


def test_edit_of_missing_text_shows_the_nearest_lines(house: House) -> None:
    house.put(
        "/memory/MEMORY.md", "# Memory\n\n- the pump is in the shed\n- cat: Tom\n"
    )
    with pytest.raises(EditMismatch) as refused:
        house.view().edit("/memory/MEMORY.md", "- the pump is in the sheds", "x")
    assert "3: - the pump is in the shed" in str(refused.value)


def test_edit_of_text_that_stands_twice_names_the_lines(house: House) -> None:
    house.put("/memory/MEMORY.md", "milk\nbread\nmilk\n")
    with pytest.raises(EditMismatch, match=r"2 times .*lines 1, 3"):
        house.view().edit("/memory/MEMORY.md", "milk", "oat milk")
    assert house.text("/memory/MEMORY.md") == "milk\nbread\nmilk\n"


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("milk", "milk")])
def test_edit_that_says_nothing_is_refused(house: House, old: str, new: str) -> None:
    house.put("/memory/MEMORY.md", "milk\n")
    with pytest.raises(EditMismatch):
        house.view().edit("/memory/MEMORY.md", old, new)


def test_edit_keeps_line_ends_and_byte_order_mark(house: House) -> None:
    house.put("/memory/MEMORY.md", b"\xef\xbb\xbf# Memory\r\n\r\n- a\r\n- b\r\n")
    house.view().edit("/memory/MEMORY.md", "- a\n- b", "- a\n- c")
    raw = (house.root / "memory/MEMORY.md").read_bytes()
    assert raw == b"\xef\xbb\xbf# Memory\r\n\r\n- a\r\n- c\r\n"


def test_edit_of_a_missing_file_says_how_to_make_it(house: House) -> None:
    with pytest.raises(NotFound, match="write_file"):
        house.view().edit("/memory/none-of-these.md", "a", "b")


def test_a_write_suggests_a_name_and_a_title(house: House) -> None:
    said = house.view().write("/memory/note1.md", "the pump is loud")
    assert "3 to 5 words" in said
    assert "# Title" in said
    quiet = house.view().write("/memory/pump-noise-cellar.md", "# Pump noise\n\nloud\n")
    assert "words" not in quiet
    assert "Title" not in quiet


def test_a_file_over_its_limit_is_refused_whole(house: House) -> None:
    with pytest.raises(TooLarge, match="256 KB"):
        house.view().write("/memory/far-too-long-text.md", "x" * 300_000)
    assert not (house.root / "memory/far-too-long-text.md").exists()


def test_a_full_tree_is_a_sentence(house: House) -> None:
    small = Workspace(house.root, limits=Limits(files=6))
    view = small.view(HOUSEHOLD)
    for number in range(2):
        view.write(f"/memory/one-more-file-{number}.md", "# One\n")
    with pytest.raises(TreeFull, match="limit is 6"):
        view.write("/memory/one-more-file-3.md", "# One\n")
    view.append_under("/memory/MEMORY.md", "House", "still works")


def test_a_tree_over_its_bytes_is_a_sentence(house: House) -> None:
    small = Workspace(house.root, limits=Limits(tree_bytes=20_000))
    with pytest.raises(TreeFull, match="limit is 19 KB"):
        small.view(HOUSEHOLD).write("/memory/rather-long-text.md", "x" * 30_000)


@pytest.mark.parametrize("content", ["a\0b", "half \ud83d"])
def test_what_is_not_text_is_not_written(house: House, content: str) -> None:
    with pytest.raises(NotText):
        house.view().write("/memory/strange-bytes-here.md", content)


def test_a_broken_file_is_not_written_over(house: House) -> None:
    house.put("/docs/photo-of-the-boiler.md", b"\xff\xd8\xff\xe0")
    with pytest.raises(NotText):
        house.view().write("/docs/photo-of-the-boiler.md", "# Boiler\n")
    assert (
        house.root / "docs/photo-of-the-boiler.md"
    ).read_bytes() == b"\xff\xd8\xff\xe0"


@pytest.mark.parametrize(
    "path",
    [
        "/cron.json",
        "/CRON.JSON",
        "/spiffs/cron.json",
        "/sessions/tg_1.jsonl",
        "/.trash/x.md",
        "/memory/INDEX.md",
        "/docs/a.toc.md",
        "/etc/passwd",
        "/memory",
        "/memory/users",
        "/memory/users/alice",
        "/",
        "/tool.py",
    ],
)
def test_protected_paths_are_not_written(house: House, path: str) -> None:
    view = house.view(ALICE)
    with pytest.raises(PathRefused):
        view.write(path, "x")
    with pytest.raises(PathRefused):
        view.edit(path, "a", "b")
    with pytest.raises(PathRefused):
        view.append_under(path, "a", "b")


def test_changed_rules_are_kept_and_told(house: House) -> None:
    before = house.text("/config/SOUL.md")
    house.view(ALICE).edit("/config/SOUL.md", "warm, brief", "grim, brief")
    assert house.trash() == [before]
    assert [(n.kind, n.path, n.person) for n in house.notices] == [
        ("rules_changed", "/config/SOUL.md", "alice")
    ]
    view = house.view()
    view.read("/config/SOUL.md")
    view.write("/config/SOUL.md", house.text("/config/SOUL.md") + "More.\n")
    assert len(house.notices) == 2
    assert len(house.trash()) == 2


def test_the_schedule_is_replaced_by_the_house_only_when_unchanged(
    house: House,
) -> None:
    first = house.space.replace("/cron.json", '{"jobs":[]}', None)
    with pytest.raises(Changed):
        house.space.replace("/cron.json", "{}", None)
    house.put("/cron.json", '{"jobs":[1]}')
    with pytest.raises(Changed):
        house.space.replace("/cron.json", "{}", first)
    text, version = house.space.read_raw("/cron.json")
    assert text == '{"jobs":[1]}'
    assert house.space.replace("/cron.json", "{}", version) != version


def test_who_may_open_a_file_stays_as_it_was(house: House) -> None:
    real = house.put("/memory/shared-with-samba.md", "# Shared\n")
    real.chmod(0o664)
    house.view().edit("/memory/shared-with-samba.md", "Shared", "Shared too")
    assert real.stat().st_mode & 0o777 == 0o664


def test_a_write_that_fails_leaves_the_old_text(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("/memory/MEMORY.md", "# Memory\n\nold\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.rename", full)
    with pytest.raises(TreeFull, match="disk is full"):
        house.view().edit("/memory/MEMORY.md", "old", "new")
    assert house.text("/memory/MEMORY.md") == "# Memory\n\nold\n"
    assert [p.name for p in (house.root / "memory").iterdir()] == ["MEMORY.md"]


def test_the_workspace_is_one_import() -> None:
    assert workspace_module.View.__name__ == "View"
