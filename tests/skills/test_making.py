"""check_skill and save_skill: nothing is kept that the person has not said yes to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from custom_components.mimiclaw.skill_library.limits import DRAFTS
from custom_components.mimiclaw.tools.base import Tool, ToolContext, ToolError
from custom_components.mimiclaw.tools.consent import keep
from custom_components.mimiclaw.workspace.skill_marks import mark
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD

from .conftest import Desk

PAGE = "# Turn the compost\n\nWhen somebody says turn the compost.\n\n## Steps\n\n1. Turn.\n"
KEY = keep("/skills/compost.md", PAGE)

type Contexts = Callable[..., ToolContext]


def pair(desk: Desk) -> tuple[Tool, Tool]:
    known = {tool.name: tool for tool in desk.tools()}
    return known["check_skill"], known["save_skill"]


async def test_checked_shown_kept(desk: Desk, context_of: Contexts) -> None:
    check, save = pair(desk)
    first = context_of()
    told = await check.run({"name": "compost", "text": PAGE}, first)
    assert "show the person the whole text" in told
    assert first.asked == {KEY}
    assert desk.titles() == []
    done = await save.run({"name": "compost"}, context_of(confirmed=frozenset({KEY})))
    assert "/skills/compost.md" in done
    assert desk.text("/skills/compost.md") == PAGE
    assert desk.titles() == ["Turn the compost"]


async def test_not_without_a_yes(desk: Desk, context_of: Contexts) -> None:
    check, save = pair(desk)
    await check.run({"name": "compost", "text": PAGE}, context_of())
    again = context_of()
    with pytest.raises(ToolError, match="ask for a plain yes"):
        await save.run({"name": "compost"}, again)
    assert again.asked == {KEY}, "a yes in the next message must count"
    with pytest.raises(ToolError):
        await save.run(
            {"name": "compost"},
            context_of(confirmed=frozenset({keep("/skills/x.md", PAGE)})),
        )
    assert desk.titles() == []


async def test_what_is_bad_is_no_draft(desk: Desk, context_of: Contexts) -> None:
    check, save = pair(desk)
    context = context_of()
    with pytest.raises(ToolError, match=r"Not good yet.*rocket_launch"):
        await check.run(
            {"name": "compost", "text": PAGE + "`rocket_launch()`"}, context
        )
    assert context.asked == set()
    with pytest.raises(ToolError, match="call check_skill first"):
        await save.run({"name": "compost"}, context_of(confirmed=frozenset({KEY})))


async def test_a_yes_is_for_what_was_shown(desk: Desk, context_of: Contexts) -> None:
    """The text is kept between the two calls, so the model cannot save another one."""
    check, save = pair(desk)
    await check.run({"name": "compost", "text": PAGE}, context_of())
    confirmed = context_of(confirmed=frozenset({KEY}))
    await save.run({"name": "compost", "text": "# Other\n\nOther.\n"}, confirmed)
    assert desk.text("/skills/compost.md") == PAGE
    with pytest.raises(ToolError, match="no draft"):
        await save.run({"name": "compost"}, confirmed)


async def test_a_draft_changed_after_the_yes_is_asked_about_again(
    desk: Desk, context_of: Contexts
) -> None:
    check, save = pair(desk)
    await check.run({"name": "compost", "text": PAGE}, context_of())
    confirmed = context_of(confirmed=frozenset({KEY}))
    other = PAGE.replace("1. Turn.", "1. Open the gate.")
    await check.run({"name": "compost", "text": other}, confirmed)
    with pytest.raises(ToolError, match="ask for a plain yes"):
        await save.run({"name": "compost"}, confirmed)
    assert desk.titles() == []


async def test_never_in_a_scheduled_turn(desk: Desk, context_of: Contexts) -> None:
    check, save = pair(desk)
    for tool in (check, save):
        with pytest.raises(ToolError, match="nobody is there"):
            await tool.run(
                {"name": "compost", "text": PAGE}, context_of(system_turn=True)
            )


async def test_improving_keeps_the_old_text_and_clears_the_mark(
    desk: Desk, context_of: Contexts
) -> None:
    desk.put("/skills/compost.md", "# Heap\n\nOld.\n" + "Long.\n" * 200)
    mark(desk.space.tree, desk.space.locks, ("skills", "compost.md"), "a friend")
    assert desk.space.skills.catalogue().skills[0].origin == "a friend"
    check, save = pair(desk)
    told = await check.run({"name": "compost", "text": PAGE}, context_of())
    assert "It would replace /skills/compost.md" in told
    await save.run({"name": "compost"}, context_of(confirmed=frozenset({KEY})))
    (skill,) = desk.space.skills.catalogue().skills
    assert (skill.title, skill.origin) == ("Turn the compost", "owner")
    kept = [
        one.read_text() for one in (desk.root / ".trash").rglob("*") if one.is_file()
    ]
    assert any("Old." in text for text in kept)


async def test_drafts_are_bounded(desk: Desk, context_of: Contexts) -> None:
    check, save = pair(desk)
    for number in range(DRAFTS + 1):
        page = PAGE.replace("Turn the compost", f"Job {number}")
        await check.run({"name": f"job-{number}", "text": page}, context_of())
    with pytest.raises(ToolError, match="no draft"):
        await save.run({"name": "job-0"}, context_of())
    with pytest.raises(ToolError, match="plain yes"):
        await save.run({"name": f"job-{DRAFTS}"}, context_of())


def test_a_page_written_past_the_check_is_told_what_it_lacks(desk: Desk) -> None:
    view = desk.space.view(HOUSEHOLD)
    told = view.write("/skills/garden-compost-heap.md", "Turn it.\n")
    assert "not in the list of skills yet" in told
    told = view.write("/skills/garden-compost-pile.md", "# Compost\n\nTurn it.\n")
    assert "list of skills" not in told
    told = view.edit(
        "/skills/garden-compost-pile.md", "# Compost", "---\nx: [\n---\n# C"
    )
    assert "not in the list of skills yet" in told
