"""Each skill of the library, played: its text reaches the model, its calls do their work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from custom_components.mimiclaw.skill_library.references import (
    ToolShape,
    complaints,
    references,
)
from custom_components.mimiclaw.workspace.skills import parse_skill
from tests.integration.conftest import Say, speech
from tests.providers.wire.reply import Reply
from tests.skills.conftest import LIBRARY

from .conftest import Open
from .scene import Scene, Stage, results, script, shapes_of, verify
from .scenes import SCENES


async def furnish(hass: HomeAssistant, scene: Scene, files: Path) -> None:
    """Put the household's things in place."""
    lamp = {"reading_lamp": {"name": "Reading lamp"}}
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": lamp})
    async_expose_entity(hass, "conversation", "input_boolean.reading_lamp", True)
    for entity_id, (state, attributes) in scene.states.items():
        hass.states.async_set(entity_id, state, attributes)
        async_expose_entity(hass, "conversation", entity_id, True)
    for path, text in scene.files.items():
        page = files / path.strip("/")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.skill)
async def test_played(
    hass: HomeAssistant,
    open_house: Open,
    say: Say,
    turns: list[dict[str, Any]],
    workspace: Path,
    request: pytest.FixtureRequest,
    scene: Scene,
) -> None:
    twin = request.getfixturevalue("twin") if scene.needs_twin else None
    server = await open_house(*script(scene), twin=twin)
    await furnish(hass, scene, workspace)
    for action, data in scene.first:
        await hass.services.async_call("mimiclaw", action, data, blocking=True)

    answered = await say(scene.says)

    (turn,) = turns
    verify(scene, server.asked, turn)
    assert speech(answered) == scene.answer
    assert not server.script, "every round was played"
    lamp = hass.states.get("input_boolean.reading_lamp")
    last = results(server.asked[-1])
    scene.after(Stage(workspace, twin, last, lamp.state if lamp else ""))


async def test_the_library_names_only_what_is_there(
    open_house: Open, say: Say, request: pytest.FixtureRequest
) -> None:
    """Tools, arguments and choices in every page, against the tools of a real turn."""
    server = await open_house(
        Reply(text="Hello."), twin=request.getfixturevalue("twin")
    )
    await say("hello there, how are you")
    known = shapes_of(server.asked[0])
    # There only in a house whose owner has set a search up.
    known.setdefault(
        "web_search", ToolShape(frozenset({"query"}), frozenset({"query"}))
    )
    pages = sorted(LIBRARY.rglob("*.md"))
    assert len(pages) == 14
    named_tools = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        skill = parse_skill(("skills", page.name), text)
        for one in references(text, known):
            named_tools.add(one.tool)
            assert list(complaints(one, known)) == [], page.name
            if one.parsed and one.arguments:
                missing = known[one.tool].required - one.arguments.keys()
                assert not missing, (page.name, one.text)
        assert set(skill.needs_tools) <= {*known, "home_assistant"}, page.name
    assert named_tools >= {"gpio_write", "edit_file", "append_note", "cron_add"}


@pytest.mark.parametrize(
    "page", sorted(LIBRARY.glob("*.md")), ids=lambda page: page.stem
)
def test_each_page_is_short_and_says_when(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    skill = parse_skill(("skills", page.name), text)
    assert len(text.encode()) < 2048
    assert 20 < len(skill.description) <= 100
    body = text.split("---\n", 2)[-1] if text.startswith("---") else text
    assert body.startswith(f"# {skill.title}\n\n{skill.description}")
    assert "## Pitfalls" in text


def test_each_page_is_played() -> None:
    played = {scene.skill for scene in SCENES} | {"skill-creator"}
    assert played == {page.stem for page in LIBRARY.glob("*.md")}
