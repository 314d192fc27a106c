"""The catalogue of skills and the seeding of the shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from custom_components.mimiclaw.workspace.errors import NotFound, NotText
from custom_components.mimiclaw.workspace.seeding import settle_skill
from custom_components.mimiclaw.workspace.skills import Skill, check_skill

from .conftest import House


def skills_of(house: House) -> dict[str, Skill]:
    return {skill.path: skill for skill in house.space.skills.catalogue().skills}


def test_all_three_formats_are_read(house: House) -> None:
    house.put(
        "/skills/weather.md",
        "# Weather\n\nTell the weather of a place.\nShortly.\n\n## How\n\nx\n",
    )
    house.put("/skills/garden/watering.md", "# Watering\n\nWater the garden.\n")
    house.put(
        "/skills/report/SKILL.md",
        "---\nname: energy-report\ndescription: Report the energy used.\n---\n\n# Energy\n\nx\n",
    )
    house.put("/skills/report/table.md", "# A further file\n")
    house.put("/skills/report/scripts/more.md", "# A further file\n")
    found = skills_of(house)
    assert sorted(found) == [
        "/skills/garden/watering.md",
        "/skills/report/SKILL.md",
        "/skills/weather.md",
    ]
    weather = found["/skills/weather.md"]
    assert (weather.name, weather.title, weather.category) == ("weather", "Weather", "")
    assert weather.description == "Tell the weather of a place. Shortly."
    assert found["/skills/garden/watering.md"].category == "garden"
    report = found["/skills/report/SKILL.md"]
    assert (report.name, report.title) == ("energy-report", "Energy")
    assert report.description == "Report the energy used."


def test_a_blank_line_after_the_title_does_not_lose_the_description(
    house: House,
) -> None:
    """The original's loader stopped there, and every description was empty."""
    house.put(
        "/skills/daily.md", "# Daily briefing\n\n\nCompile a briefing.\n\n## When\n"
    )
    assert skills_of(house)["/skills/daily.md"].description == "Compile a briefing."


def test_front_matter_says_when_a_skill_applies(house: House) -> None:
    house.put(
        "/skills/pump.md",
        "---\nlanguages: [en, zh-CN]\nneeds: satellite\nneeds_tools: [gpio_write]\norigin: clawhub\n---\n# Pump\n\nRun it.\n",
    )
    pump = skills_of(house)["/skills/pump.md"]
    assert pump.applies(language="zh")
    assert not pump.applies(language="de")
    assert not pump.applies(satellite=False)
    assert pump.applies(tools=["gpio_write", "x"])
    assert not pump.applies(tools=["x"])
    assert pump.origin == "clawhub"


@pytest.mark.parametrize(
    ("front", "meta"),
    [
        (
            "name: a\ndescription: Do it well, and soon",
            {"name": "a", "description": "Do it well, and soon"},
        ),
        ("name: 'a: b'", {"name": "a: b"}),
        ("n: 5\nb: true\nl: [a, b]", {"n": 5, "b": True, "l": ["a", "b"]}),
        ("d: >\n  folded\n  text\n", {"d": "folded text\n"}),
        ("# only a comment", {}),
        ("", {}),
        ("d: 2026 is a year", {"d": "2026 is a year"}),
        ("d: yes", {"d": True}),
    ],
)
def test_front_matter_is_yaml(front: str, meta: dict[str, object]) -> None:
    skill = check_skill("/skills/a.md", f"---\n{front}\n---\n# A\n\nx\n")
    assert skill.meta == meta


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("no-title.md", b"just text\n", "no_title"),
        ("open-front.md", b"---\nname: x\n# A\n", "broken_front_matter"),
        ("bad-yaml.md", b"---\nname: [x\n---\n# A\n", "broken_front_matter"),
        ("list-yaml.md", b"---\n- x\n---\n# A\n", "broken_front_matter"),
        (
            "bomb.md",
            b"---\na: !!python/object/apply:os.system [id]\n---\n# A\n",
            "broken_front_matter",
        ),
        ("huge.md", b"# A\n" + b"x" * 1_000_000, "too_large"),
        ("empty.md", b"", "empty"),
        ("blank.md", b" \n\n", "empty"),
        ("binary.md", b"\x7fELF\x00\xff", "not_text"),
    ],
)
def test_a_bad_skill_is_named_and_left_out(
    house: House, name: str, data: bytes, kind: str
) -> None:
    house.put("/skills/good.md", "# Good\n\nWorks.\n")
    house.put(f"/skills/{name}", data)
    catalogue = house.space.skills.catalogue()
    assert [skill.name for skill in catalogue.skills] == ["good"]
    assert [(one.path, one.kind) for one in catalogue.problems] == [
        (f"/skills/{name}", kind)
    ]
    assert f"/skills/{name}" in catalogue.problems[0].detail
    assert any(problem.path == f"/skills/{name}" for problem in house.space.problems())


def test_of_two_skills_of_one_name_the_first_is_used(house: House) -> None:
    house.put("/skills/a/pump.md", "# Pump A\n\nx\n")
    house.put("/skills/b/pump.md", "# Pump B\n\nx\n")
    catalogue = house.space.skills.catalogue()
    assert [skill.title for skill in catalogue.skills] == ["Pump A"]
    assert [(one.path, one.kind) for one in catalogue.problems] == [
        ("/skills/b/pump.md", "duplicate")
    ]


def test_a_skill_may_be_in_any_language(house: House) -> None:
    house.put("/skills/浇水.md", "# 浇水\n\n给花园浇水。\n")
    assert skills_of(house)["/skills/浇水.md"].description == "给花园浇水。"


def test_changes_are_in_the_next_catalogue(house: House) -> None:
    real = house.put("/skills/pump.md", "# Pump\n\nold!\n")
    assert skills_of(house)["/skills/pump.md"].description == "old!"
    with real.open("r+") as file:
        file.write("# Pump\n\nnew!\n")
    assert skills_of(house)["/skills/pump.md"].description == "new!"
    house.put("/skills/new/deep.md", "# Deep\n\nx\n")
    assert "/skills/new/deep.md" in skills_of(house)
    real.unlink()
    assert list(skills_of(house)) == ["/skills/new/deep.md"]


def test_an_unchanged_catalogue_reads_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("/skills/pump.md", "# Pump\n\nx\n")
    first = house.space.skills.catalogue()
    monkeypatch.setattr(house.space.tree, "read", None)
    assert house.space.skills.catalogue() is first


def test_a_skill_is_found_by_name_title_or_path(house: House) -> None:
    house.put("/skills/pump.md", "# Run the pump\n\nx\n")
    catalogue = house.space.skills.catalogue()
    for name in ("pump", "Run the pump", "/skills/pump.md", " PUMP "):
        assert catalogue.get(name) is catalogue.skills[0]
    assert catalogue.get("none") is None


def test_a_skill_is_checked_before_it_is_saved() -> None:
    with pytest.raises(NotText, match="no title"):
        check_skill("/skills/a.md", "text")
    assert check_skill("/skills/a.md", "# A\n\nDoes a.\n").description == "Does a."


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    (folder / "garden").mkdir(parents=True)
    (folder / "weather.md").write_text("# Weather\n\nversion 1\n")
    (folder / "garden" / "watering.md").write_text("# Watering\n\nversion 1\n")
    (folder / "reminders.md").write_text("# Reminders\n\nversion 1\n")
    return folder


def test_shipped_skills_are_seeded(house: House, shipped: Path) -> None:
    report = house.space.seed(shipped)
    assert sorted(report.created) == [
        "/skills/garden/watering.md",
        "/skills/reminders.md",
        "/skills/weather.md",
    ]
    assert {skill.origin for skill in skills_of(house).values()} == {"shipped"}
    assert house.space.seed(shipped).created == ()


def test_an_update_replaces_what_its_owner_never_touched(
    house: House, shipped: Path
) -> None:
    house.space.seed(shipped)
    house.put("/skills/weather.md", "# Weather\n\nmine\n")
    (house.root / "skills/reminders.md").unlink()
    for path in shipped.rglob("*.md"):
        path.write_text(path.read_text().replace("version 1", "version 2"))
    report = house.space.seed(shipped)
    assert report.replaced == ("/skills/garden/watering.md",)
    assert report.deleted == ("/skills/reminders.md",)
    assert [(one.path, one.new_text) for one in report.conflicts] == [
        ("/skills/weather.md", "# Weather\n\nversion 2\n")
    ]
    assert house.text("/skills/weather.md") == "# Weather\n\nmine\n"
    assert not (house.root / "skills/reminders.md").exists()
    assert skills_of(house)["/skills/weather.md"].origin == "owner"


def test_a_changed_skill_without_an_update_is_no_conflict(
    house: House, shipped: Path
) -> None:
    house.space.seed(shipped)
    house.put("/skills/weather.md", "# Weather\n\nmine\n")
    assert house.space.seed(shipped).conflicts == ()


@pytest.mark.parametrize("take_new", [True, False])
def test_a_conflict_lasts_until_it_is_settled(
    house: House, shipped: Path, take_new: bool
) -> None:
    house.space.seed(shipped)
    house.put("/skills/weather.md", "# Weather\n\nmine\n")
    (shipped / "weather.md").write_text("# Weather\n\nversion 2\n")
    assert len(house.space.seed(shipped).conflicts) == 1
    assert len(house.space.seed(shipped).conflicts) == 1
    settle_skill(
        house.space.tree,
        house.space.locks,
        shipped,
        "/skills/weather.md",
        take_new=take_new,
    )
    assert house.space.seed(shipped).conflicts == ()
    assert ("version 2" in house.text("/skills/weather.md")) is take_new
    with pytest.raises(NotFound):
        settle_skill(
            house.space.tree,
            house.space.locks,
            shipped,
            "/skills/none.md",
            take_new=True,
        )


def test_a_lost_manifest_overwrites_nothing(house: House, shipped: Path) -> None:
    house.space.seed(shipped)
    house.put("/skills/weather.md", "# Weather\n\nmine\n")
    house.put("/skills/.shipped.json", "{broken")
    report = house.space.seed(shipped)
    assert [one.path for one in report.conflicts] == ["/skills/weather.md"]
    assert house.text("/skills/weather.md") == "# Weather\n\nmine\n"


def test_seeding_never_writes_over_the_owner_s_files(house: House) -> None:
    house.put("/config/SOUL.md", "mine")
    house.put("/memory/MEMORY.md", b"\xff")
    (house.root / "HEARTBEAT.md").unlink()
    (house.root / "HEARTBEAT.md").mkdir()
    assert house.space.seed().created == ()
    assert house.text("/config/SOUL.md") == "mine"
    assert house.text_bytes("/memory/MEMORY.md") == b"\xff"


def test_the_first_heartbeat_asks_for_nothing(house: House) -> None:
    for line in house.text("/HEARTBEAT.md").splitlines():
        assert not line.strip() or line.startswith("#")
