"""What counts as a skill: the formats, and files that are none."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.agent.catalogue import text
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD

from .conftest import Desk

AGENT_SKILL = """---
name: compost
description: Turn the compost heap and note it.
---

# Compost

See REFERENCE.md.
"""


def test_a_blank_line_after_the_title_keeps_the_description(desk: Desk) -> None:
    """The original firmware stopped there, so all of its descriptions were empty."""
    desk.put(
        "/skills/weather.md",
        "# Weather\n\nGet the forecast.\nAlso for later.\n\nMore.\n",
    )
    (skill,) = desk.space.skills.catalogue().skills
    assert (skill.title, skill.description) == (
        "Weather",
        "Get the forecast. Also for later.",
    )
    assert text([skill], 2048) == (
        "- Weather: Get the forecast. Also for later. (/skills/weather.md)"
    )


def test_the_three_places_of_a_skill(desk: Desk) -> None:
    desk.put("/skills/tea.md", "# Tea\n\nMake tea.\n")
    desk.put("/skills/garden/lawn.md", "# Lawn\n\nMow it.\n")
    desk.put("/skills/compost/SKILL.md", AGENT_SKILL)
    desk.put("/skills/compost/REFERENCE.md", "# Reference\n\nLong.\n")
    skills = {one.path: one for one in desk.space.skills.catalogue().skills}
    assert set(skills) == {
        "/skills/tea.md",
        "/skills/garden/lawn.md",
        "/skills/compost/SKILL.md",
    }
    assert skills["/skills/garden/lawn.md"].category == "garden"
    compost = skills["/skills/compost/SKILL.md"]
    assert (compost.name, compost.description) == (
        "compost",
        "Turn the compost heap and note it.",
    )
    view = desk.space.view(HOUSEHOLD)
    assert "Long." in view.read("/skills/compost/REFERENCE.md").text


def test_a_page_of_the_original_firmware_works(desk: Desk) -> None:
    desk.put(
        "/skills/briefing.md",
        "# Daily Briefing\n\nCompile a briefing.\n\n## How\n"
        "1. Read /spiffs/memory/MEMORY.md\n",
    )
    desk.put("/memory/MEMORY.md", "# Memory\n\nThe boiler is from 2019.\n")
    view = desk.space.view(HOUSEHOLD)
    assert "/spiffs/memory" in view.read("/spiffs/skills/briefing.md").text
    assert "2019" in view.read("/spiffs/memory/MEMORY.md").text
    assert desk.titles() == ["Daily Briefing"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", "empty"),
        ("   \n\n", "empty"),
        ("Just some words.\n", "no_title"),
        ("---\nname: [x\n---\n# T\n\nD.\n", "broken_front_matter"),
        ("---\nname: x\n# T\n\nD.\n", "broken_front_matter"),
        ("---\n- a\n- b\n---\n# T\n\nD.\n", "broken_front_matter"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not_text"),
        (b"# Caf\xe9\n\nLatin-1.\n", "not_text"),
        ("# Big\n\n" + "x" * 1024 * 1024, "too_large"),
    ],
)
def test_what_is_no_skill_is_named_and_the_rest_works(
    desk: Desk, content: str | bytes, kind: str
) -> None:
    desk.put("/skills/bad.md", content)
    desk.put("/skills/good.md", "# Good\n\nWorks.\n")
    catalogue = desk.space.skills.catalogue()
    assert [one.title for one in catalogue.skills] == ["Good"]
    ((problem),) = catalogue.problems
    assert (problem.path, problem.kind) == ("/skills/bad.md", kind)
    assert "/skills/bad.md" in problem.detail


def test_two_skills_of_one_name_leave_one(desk: Desk) -> None:
    desk.put("/skills/lawn.md", "# Lawn\n\nFirst.\n")
    desk.put("/skills/garden/lawn.md", "# Mow\n\nSecond.\n")
    catalogue = desk.space.skills.catalogue()
    assert len(catalogue.skills) == 1
    (problem,) = catalogue.problems
    assert problem.kind == "duplicate"
    assert catalogue.skills[0].path in problem.detail


@pytest.mark.parametrize(
    ("content", "title", "description"),
    [
        ("# 浇花\n\n给花园浇水，先看天气。\n", "浇花", "给花园浇水，先看天气。"),
        ("# Полив\n\nПолить сад.\n", "Полив", "Полить сад."),
        ("\ufeff# Rasen\r\n\r\nMähen.\r\n", "Rasen", "Mähen."),
    ],
)
def test_languages_other_than_english(
    desk: Desk, content: str, title: str, description: str
) -> None:
    desk.put("/skills/one.md", content)
    (skill,) = desk.space.skills.catalogue().skills
    assert (skill.title, skill.description) == (title, description)


def test_a_link_out_of_the_tree_is_no_skill(desk: Desk) -> None:
    outside = desk.root.parent / "outside.md"
    outside.write_text("# Outside\n\nSecret.\n", encoding="utf-8")
    (desk.root / "skills" / "link.md").symlink_to(outside)
    catalogue = desk.space.skills.catalogue()
    assert catalogue.skills == ()
    assert [one.kind for one in catalogue.problems] == ["link"]


def test_seen_at_once_after_a_change(desk: Desk) -> None:
    page = desk.put("/skills/tea.md", "# Tea\n\nGreen.\n")
    assert desk.titles() == ["Tea"]
    page.write_text("# Coffee\n\nBlack.\n", encoding="utf-8")
    assert desk.titles() == ["Coffee"]
    desk.put("/skills/new/SKILL.md", AGENT_SKILL)
    assert sorted(desk.titles()) == ["Coffee", "Compost"]
    page.unlink()
    assert desk.titles() == ["Compost"]
