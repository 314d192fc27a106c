"""No path leads out of the tree, to a protected file, or to another person's."""

from __future__ import annotations

from pathlib import Path

import pytest

from custom_components.mimiclaw.workspace.errors import PathRefused, WorkspaceError

from . import attack_paths, attacks
from .conftest import ALICE, House


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> attacks.Target:
    return attacks.Target(tmp_path_factory.mktemp("base"))


def test_there_are_enough_attacks() -> None:
    assert len(attack_paths.PATHS) >= 150


@pytest.mark.parametrize("path", attack_paths.PATHS, ids=ascii)
def test_an_attack_gets_nothing(target: attacks.Target, path: str) -> None:
    assert attacks.escapes(target, path) == []


def test_the_attacks_would_win_without_the_sandbox(target: attacks.Target) -> None:
    """The secrets are where the attacks look for them."""
    reached = 0
    for path in attack_paths.PATHS:
        try:
            real = target.root / path.lstrip("/")
            text = real.read_text(errors="replace") if real.is_file() else ""
        except OSError, ValueError:
            continue
        reached += any(secret in text for secret in attacks.SECRETS)
    assert reached >= 20


def test_links_made_between_check_and_use_lead_nowhere(tmp_path: Path) -> None:
    assert attacks.race(attacks.Target(tmp_path), 150) == []


def test_the_root_may_be_a_link_of_its_owner(tmp_path: Path) -> None:
    (tmp_path / "nas").mkdir()
    (tmp_path / "mimiclaw").symlink_to(tmp_path / "nas")
    house = House(tmp_path / "mimiclaw")
    house.space.seed()
    house.view().append_note("works")
    assert list((tmp_path / "nas" / "memory").glob("2026-*.md"))


@pytest.mark.parametrize(
    "path",
    [
        "/memory/MEMORY.md",
        "memory/MEMORY.md",
        "/spiffs/memory/MEMORY.md",
        "spiffs/memory/MEMORY.md",
        "//memory//MEMORY.md",
        "./memory/MEMORY.md",
        " /memory/MEMORY.md\n",
        "/memory/memory.md",
        "/MEMORY/Memory.MD",
    ],
)
def test_one_file_has_several_spellings(house: House, path: str) -> None:
    part = house.view().read(path)
    assert part.path == "/memory/MEMORY.md"


@pytest.mark.parametrize(
    "path",
    [
        "/memory/花园浇水计划.md",
        "/memory/garten-größe-und-plan.md",
        "/memory/ガーデン 計画.md",
        "/memory/plan (new).md",
        "/memory/v1.2-release-notes.md",
        "/skills/garden/watering.md",
        "/docs/manuals/boiler/part-1.md",
        "/memory/конспект.md",
    ],
)
def test_ordinary_names_in_any_language_work(house: House, path: str) -> None:
    view = house.view()
    view.write(path, "# Title\n\ntext\n")
    assert view.read(path).text == "# Title\n\ntext"
    assert path in [entry.path for entry in view.list(path.rsplit("/", 1)[0])]


def test_a_name_with_accents_from_another_system_is_found(house: House) -> None:
    house.put("/memory/cafe\u0301-hours.md", "# Café\n")
    view = house.view()
    assert view.read("/memory/caf\u00e9-hours.md").text == "# Café"
    view.edit("/memory/caf\u00e9-hours.md", "Café", "Cafe")
    assert len(list((house.root / "memory").glob("caf*"))) == 1


@pytest.mark.parametrize("name", ["a*b.md", 'a"b.md', "a<b.md", "a|b.md", "why?.md"])
def test_names_other_systems_cannot_open_are_not_made(house: House, name: str) -> None:
    with pytest.raises(PathRefused):
        house.view().write(f"/memory/{name}", "# x\n")
    house.put(f"/memory/{name}", "# x\n")
    assert house.view().read(f"/memory/{name}").text == "# x"


def test_a_missing_file_suggests_the_one_that_was_meant(house: House) -> None:
    house.put("/memory/garden-watering-schedule.md", "# x\n")
    with pytest.raises(WorkspaceError, match=r"/memory/garden-watering-schedule\.md"):
        house.view().read("/memory/garden-watering-shedule.md")


def test_whether_another_person_s_file_exists_is_not_told(house: House) -> None:
    house.put("/memory/users/bob/MEMORY.md", "# x\n")
    said = []
    for path in ("/memory/users/bob/MEMORY.md", "/memory/users/bob/none.md"):
        with pytest.raises(PathRefused) as refused:
            house.view(ALICE).read(path)
        said.append(str(refused.value).replace(path, ""))
    assert said[0] == said[1]
