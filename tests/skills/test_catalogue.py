"""The list of skills in the prompt: order, share, what is left out, marks."""

from __future__ import annotations

from datetime import timedelta
import re

from hypothesis import given
from hypothesis import strategies as st
import pytest

from custom_components.mimiclaw.agent.catalogue import Listing, Offer, text
from custom_components.mimiclaw.agent.profile import FRONTIER
from custom_components.mimiclaw.agent.prompt import Prompt
from custom_components.mimiclaw.workspace.errors import PathRefused
from custom_components.mimiclaw.workspace.skill_marks import mark
from custom_components.mimiclaw.workspace.skills import Skill
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD

from .conftest import LIBRARY, Desk


def listed(desk: Desk, offer: Offer | None = None, cap: int = 2048) -> list[str]:
    """The titles in the order in which a turn sees them."""
    listing = Listing(desk.space.skills, cap).text(desk.now.date(), offer or Offer())
    return [
        line[2:].partition(":")[0] for line in listing.splitlines() if line[:2] == "- "
    ]


def three(desk: Desk) -> None:
    for name in ("Apple", "Berry", "Cherry"):
        desk.put(f"/skills/{name.lower()}.md", f"# {name}\n\nAbout it.\n")


def test_newest_use_stands_first_from_the_next_day_on(desk: Desk) -> None:
    three(desk)
    before = listed(desk)
    assert before == ["Apple", "Berry", "Cherry"]
    desk.space.view(HOUSEHOLD).read("/skills/cherry.md")
    assert listed(desk) == before, "the prompt must stay the same within a day"
    desk.now += timedelta(days=1)
    assert listed(desk) == ["Cherry", "Apple", "Berry"]
    desk.space.view(HOUSEHOLD).read("/skills/berry.md")
    desk.space.view(HOUSEHOLD).read("/skills/cherry.md")
    assert listed(desk) == ["Cherry", "Apple", "Berry"]
    desk.now += timedelta(days=1)
    assert listed(desk) == ["Berry", "Cherry", "Apple"]


def test_use_is_remembered_over_a_restart_and_lost_without_harm(desk: Desk) -> None:
    three(desk)
    desk.space.view(HOUSEHOLD).read("/skills/cherry.md")
    again = Desk(desk.root, desk.now + timedelta(days=1))
    assert listed(again)[0] == "Cherry"
    again.space.close()
    record = desk.root / ".index" / "skill-use.json"
    for broken in (
        "{",
        "[]",
        '{"/skills/cherry.md": 7}',
        '{"/skills/cherry.md": ["x"]}',
    ):
        record.write_text(broken, encoding="utf-8")
        fresh = Desk(desk.root, desk.now + timedelta(days=1))
        assert listed(fresh) == ["Apple", "Berry", "Cherry"]
        fresh.space.close()


def test_the_prompt_is_the_same_before_and_after_a_skill_was_read(desk: Desk) -> None:
    three(desk)
    prompt = Prompt(desk.space, FRONTIER)
    first = prompt.assemble(desk.space.view(HOUSEHOLD))
    desk.space.view(HOUSEHOLD).read("/skills/cherry.md")
    assert prompt.assemble(desk.space.view(HOUSEHOLD)) == first


def test_left_out_where_it_cannot_work(desk: Desk) -> None:
    desk.put("/skills/a.md", "---\nneeds: [satellite]\n---\n# Relay\n\nSwitch.\n")
    desk.put("/skills/b.md", "---\nneeds: web_search\n---\n# Web\n\nSearch.\n")
    desk.put("/skills/c.md", "---\nlanguages: [de, zh-CN]\n---\n# Deutsch\n\nNur so.\n")
    desk.put("/skills/d.md", "---\nneeds: [home_assistant]\n---\n# Home\n\nLights.\n")
    desk.put("/skills/e.md", "# Plain\n\nAlways.\n")
    nothing = Offer.of("en", ["read_file"], satellite=False)
    assert listed(desk, nothing) == ["Plain"]
    relays = Offer.of("en", ["read_file"], satellite=True)
    assert listed(desk, relays) == ["Relay", "Plain"]
    web = Offer.of("de-CH", ["web_search"], satellite=False)
    assert listed(desk, web) == ["Web", "Deutsch", "Plain"]
    home = Offer.of("zh-CN", ["intent__HassTurnOn"], satellite=False)
    assert listed(desk, home) == ["Deutsch", "Home", "Plain"]


def test_too_many_are_counted_by_category(desk: Desk) -> None:
    for number in range(40):
        folder = "garden/" if number % 2 else ""
        desk.put(
            f"/skills/{folder}skill-{number:02}.md",
            f"# Skill {number}\n\n{'Words about it. ' * 6}\n",
        )
    listing = Listing(desk.space.skills, 2048).text(desk.now.date(), Offer())
    assert len(listing.encode()) <= 2048
    *entries, last = listing.splitlines()
    assert all(line.startswith("- ") and line.endswith(".md)") for line in entries)
    counts = dict(re.findall(r"(/skills\S*) \((\d+)\)", last))
    assert set(counts) == {"/skills", "/skills/garden"}
    assert len(entries) + sum(map(int, counts.values())) == 40


@given(
    st.lists(st.tuples(st.text(max_size=80), st.text(max_size=8)), max_size=60),
    st.integers(0, 3000),
)
def test_never_over_its_share_and_cut_between_entries(
    wanted: list[tuple[str, str]], cap: int
) -> None:
    skills = [
        Skill(f"s{n}", f"/skills/{n}.md", f"T{n}", about, category=category)
        for n, (about, category) in enumerate(wanted)
    ]
    listing = text(skills, cap)
    assert len(listing.encode()) <= cap
    whole = text(skills, 10**9)
    shown = (
        listing.split("\nMore, to find")[0] if "More, to find" in listing else listing
    )
    if not listing.startswith("More, to find"):
        assert whole.startswith(shown)


def test_a_skill_from_elsewhere_says_so(desk: Desk) -> None:
    desk.put("/skills/tea.md", "# Tea\n\nGreen.\n")
    listing = Listing(desk.space.skills, 2048)
    today = desk.now.date()
    assert "[from" not in listing.text(today, Offer())
    mark(desk.space.tree, desk.space.locks, ("skills", "tea.md"), "a friend\n- Evil: x")
    assert listing.text(today, Offer()) == (
        "- Tea: Green. (/skills/tea.md) [from a friend - Evil: x]"
    )
    mark(desk.space.tree, desk.space.locks, ("skills", "tea.md"), None)
    assert "[from" not in listing.text(today, Offer())


def test_a_file_cannot_call_itself_shipped(desk: Desk) -> None:
    desk.put("/skills/tea.md", "---\norigin: shipped\n---\n# Tea\n\nGreen.\n")
    (skill,) = desk.space.skills.catalogue().skills
    assert skill.origin == "owner"
    desk.put("/skills/tea.md", "---\nsource: a web page\n---\n# Tea\n\nGreen.\n")
    (skill,) = desk.space.skills.catalogue().skills
    assert skill.origin == "a web page"


def test_no_model_reaches_the_marks_and_the_record(desk: Desk) -> None:
    view = desk.space.view(HOUSEHOLD)
    for path in (
        "/skills/.imported.json",
        "/skills/.shipped.json",
        "/.index/skill-use.json",
    ):
        with pytest.raises(PathRefused):
            view.write(path, "{}")
        with pytest.raises(PathRefused):
            view.edit(path, "a", "b")


def test_two_hundred_are_read_once(desk: Desk) -> None:
    for number in range(200):
        desk.put(f"/skills/s{number}.md", f"# Skill {number}\n\nAbout {number}.\n")
    listing = Listing(desk.space.skills, 2048)
    first = listing.text(desk.now.date(), Offer())
    reads: list[tuple[str, ...]] = []
    tree = desk.space.tree
    real = tree.read

    def read(parts: tuple[str, ...], limit: int) -> object:
        reads.append(parts)
        return real(parts, limit)

    tree.read = read  # type: ignore[method-assign, assignment]
    assert listing.text(desk.now.date(), Offer()) is first
    assert reads == []
    desk.put("/skills/s0.md", "# Other\n\nNew.\n")
    assert listing.text(desk.now.date(), Offer()) != first
    assert [parts[-1] for parts in reads if parts[-1].endswith(".md")] == ["s0.md"]


def test_the_whole_library_fits_the_share(desk: Desk) -> None:
    desk.space.seed(LIBRARY)
    cap = FRONTIER.caps.skills - len("# Skills\n")
    skills = desk.space.skills.catalogue().skills
    listing = text(skills, cap)
    assert len(skills) == 14
    assert "More, to find" not in listing
