"""Profile `small`: the skills a message is about stand in the prompt."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from custom_components.mimiclaw.agent.catalogue import Offer
from custom_components.mimiclaw.agent.profile import FRONTIER, SMALL
from custom_components.mimiclaw.agent.prompt import Prompt
from custom_components.mimiclaw.agent.relevance import relevant
from custom_components.mimiclaw.workspace.skill_marks import mark
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD

from .conftest import LIBRARY, Desk

ALL = Offer()


def chosen(desk: Desk, message: str, most: int = 4) -> list[str]:
    skills = desk.space.skills.newest_first(desk.now.date()).skills
    found = relevant(skills, desk.space.skills, desk.now.date(), message, most)
    return [one.name for one in found]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Please water the lawn", "watering"),
        ("put milk on the shopping list", "shopping-list"),
        ("remind me to call mum at six", "reminders"),
        ("what's the weather tomorrow", "weather"),
        ("switch the relay on", "gpio-control"),
        ("why does the pump sensor show nonsense", "device-troubleshooting"),
        ("give me my briefing", "daily-briefing"),
        ("how much power did we use", "energy-report"),
        ("make a new skill", "skill-creator"),
        ("I came home", "presence-greeting"),
        ("there is a leak at the valve", "irrigation-safety"),
        ("import my OpenClaw memory", "import-openclaw"),
        ("forget what I told you", "memory-keeper"),
        ("turn the heating up", "home-control"),
    ],
)
def test_the_library_is_found_by_what_people_say(
    desk: Desk, message: str, name: str
) -> None:
    desk.space.seed(LIBRARY)
    found = chosen(desk, message)
    assert name in found[:2]
    assert 3 <= len(found) <= 4


def test_nothing_to_do_with_any_of_them(desk: Desk) -> None:
    desk.space.seed(LIBRARY)
    assert chosen(desk, "hello") == []
    assert chosen(desk, "") == []
    assert chosen(desk, "weather", most=0) == []


def test_chinese_is_found_without_spaces(desk: Desk) -> None:
    desk.put("/skills/a.md", "# 浇花\n\n给花园浇水。\n")
    desk.put("/skills/b.md", "# 天气\n\n今天的天气预报。\n")
    assert chosen(desk, "明天天气怎么样", most=1) == ["b"]
    assert chosen(desk, "帮我浇水", most=1) == ["a"]


def test_last_use_decides_between_equals(desk: Desk) -> None:
    for name in ("one", "two"):
        desk.put(f"/skills/{name}.md", f"# Tea {name}\n\nMake tea.\n")
    assert chosen(desk, "tea", most=1) == ["one"]
    desk.space.view(HOUSEHOLD).read("/skills/two.md")
    desk.now += timedelta(days=1)
    assert chosen(desk, "tea", most=1) == ["two"]


def test_small_gets_the_text_and_frontier_only_the_list(desk: Desk) -> None:
    desk.space.seed(LIBRARY)
    view = desk.space.view(HOUSEHOLD)
    message = "water the lawn"
    parts = Prompt(desk.space, SMALL).assemble(view, offer=ALL, message=message)
    assert "## Water now" in parts[-1].text
    assert not parts[-1].stable, "it changes with the message, so it must not be cached"
    assert all("## Water now" not in part.text for part in parts[:-1])
    assert len("\n\n".join(part.text for part in parts).encode()) <= SMALL.caps.whole
    frontier = Prompt(desk.space, FRONTIER).assemble(view, offer=ALL, message=message)
    assert "## Water now" not in "".join(part.text for part in frontier)


def test_what_stays_is_the_same_whatever_is_said(desk: Desk) -> None:
    desk.space.seed(LIBRARY)
    prompt = Prompt(desk.space, SMALL)
    view = desk.space.view(HOUSEHOLD)
    one = prompt.assemble(view, offer=ALL, message="water the lawn")
    two = prompt.assemble(view, offer=ALL, message="what's the weather")
    assert [part for part in one if part.stable] == [
        part for part in two if part.stable
    ]
    assert one[-1] != two[-1]


def test_a_named_skill_stands_there_in_any_profile(desk: Desk) -> None:
    desk.space.seed(LIBRARY)
    mark(desk.space.tree, desk.space.locks, ("skills", "weather.md"), "a friend")
    desk.put("/skills/weather.md", desk.text("/skills/weather.md") + "\nMine.\n")
    view = desk.space.view(HOUSEHOLD)
    parts = Prompt(desk.space, FRONTIER).assemble(view, skills=("/skills/weather.md",))
    assert "## /skills/weather.md [from a friend]" in parts[-1].text
    assert "They grant nothing" in parts[-1].text
    assert not parts[-1].stable


def test_long_pages_are_cut_with_what_to_call(desk: Desk) -> None:
    desk.put("/skills/long.md", "# Tea\n\nMake tea.\n\n" + "Step after step.\n" * 2000)
    view = desk.space.view(HOUSEHOLD)
    parts = Prompt(desk.space, SMALL).assemble(view, offer=ALL, message="tea")
    assert parts[-1].text.endswith("[cut here; the rest: read_file /skills/long.md]")
    assert len(parts[-1].text.encode()) <= SMALL.caps.inline_skills
    none = replace(SMALL, inline_skills=0)
    parts = Prompt(desk.space, none).assemble(view, offer=ALL, message="tea")
    assert all(part.stable for part in parts)
