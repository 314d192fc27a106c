"""Updates of shipped skills and files that are no skills, as their owner meets them."""

from __future__ import annotations

from http import HTTPStatus
import json
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.mimiclaw import runtime
from tests.integration.conftest import Say
from tests.providers.wire.reply import Reply

from .conftest import Open

OLD = "# Tea\n\nMake tea.\n\n1. Boil.\n"
MINE = "# Tea\n\nMake tea.\n\n1. Boil, with milk.\n"
NEW = "# Tea\n\nMake tea.\n\n1. Boil at 80 degrees.\n"
PATH = "/skills/tea.md"
ISSUE = "skill_changed.skills.tea.md"


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library of a release, which the test writes."""
    folder = tmp_path / "release"
    folder.mkdir()
    monkeypatch.setattr(runtime, "library", lambda: folder)
    return folder


def issue(hass: HomeAssistant, issue_id: str) -> ir.IssueEntry | None:
    return ir.async_get(hass).async_get_issue("mimiclaw", issue_id)


async def restart(hass: HomeAssistant) -> None:
    (entry,) = hass.config_entries.async_entries("mimiclaw")
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()


async def test_untouched_is_replaced_deleted_stays_deleted(
    hass: HomeAssistant, open_house: Open, release: Path, workspace: Path
) -> None:
    (release / "tea.md").write_text(OLD)
    (release / "gone.md").write_text("# Gone\n\nGone.\n")
    await open_house()
    (workspace / "skills" / "gone.md").unlink()
    (release / "tea.md").write_text(NEW)
    (release / "gone.md").write_text("# Gone\n\nBack?\n")
    (release / "fresh.md").write_text("# Fresh\n\nNew.\n")
    await restart(hass)
    assert (workspace / "skills" / "tea.md").read_text() == NEW
    assert not (workspace / "skills" / "gone.md").exists()
    assert (workspace / "skills" / "fresh.md").exists()
    assert issue(hass, ISSUE) is None


async def changed(
    hass: HomeAssistant, open_house: Open, release: Path, workspace: Path
) -> Path:
    """Bring about an update of a skill that its owner has changed."""
    (release / "tea.md").write_text(OLD)
    await open_house(Reply(text="Hello."))
    mine = workspace / "skills" / "tea.md"
    mine.write_text(MINE)
    await restart(hass)
    assert issue(hass, ISSUE) is None, "a change alone is no conflict"
    (release / "tea.md").write_text(NEW)
    await restart(hass)
    return mine


async def flow(hass: HomeAssistant, hass_client: ClientSessionGenerator) -> Any:
    assert await async_setup_component(hass, "repairs", {})
    client = await hass_client()
    begun = await client.post(
        "/api/repairs/issues/fix", json={"handler": "mimiclaw", "issue_id": ISSUE}
    )
    assert begun.status == HTTPStatus.OK
    return client, await begun.json()


async def choose(client: Any, flow_id: str, step: str) -> dict[str, Any]:
    done = await client.post(
        f"/api/repairs/issues/fix/{flow_id}", json={"next_step_id": step}
    )
    result: dict[str, Any] = await done.json()
    return result


async def test_a_changed_one_is_kept_and_the_new_one_laid_beside(
    hass: HomeAssistant,
    open_house: Open,
    release: Path,
    workspace: Path,
    hass_client: ClientSessionGenerator,
) -> None:
    mine = await changed(hass, open_house, release, workspace)
    assert mine.read_text() == MINE
    assert mine.with_name("tea.md.new").read_text() == NEW
    (entry,) = hass.config_entries.async_entries("mimiclaw")
    catalogue = entry.runtime_data.workspace.skills.catalogue()
    assert [one.path for one in catalogue.skills] == [PATH], (
        "the copy is no second skill"
    )
    assert catalogue.problems == ()
    found = issue(hass, ISSUE)
    assert found is not None
    assert found.is_fixable
    assert found.translation_placeholders == {"path": PATH}
    _, begun = await flow(hass, hass_client)
    assert begun["type"] == "menu"
    assert begun["menu_options"] == ["take_update", "keep_mine"]
    diff = begun["description_placeholders"]["diff"]
    assert "-1. Boil, with milk." in diff
    assert "+1. Boil at 80 degrees." in diff


@pytest.mark.parametrize(("step", "text"), [("take_update", NEW), ("keep_mine", MINE)])
async def test_settled_once_and_for_all(
    hass: HomeAssistant,
    open_house: Open,
    release: Path,
    workspace: Path,
    hass_client: ClientSessionGenerator,
    step: str,
    text: str,
) -> None:
    mine = await changed(hass, open_house, release, workspace)
    client, begun = await flow(hass, hass_client)
    done = await choose(client, begun["flow_id"], step)
    assert done["type"] == "create_entry"
    await hass.async_block_till_done()
    assert mine.read_text() == text
    assert not mine.with_name("tea.md.new").exists()
    assert issue(hass, ISSUE) is None
    kept = [
        one.read_text() for one in (workspace / ".trash").rglob("*") if one.is_file()
    ]
    assert (MINE in kept) == (step == "take_update")
    await restart(hass)
    assert issue(hass, ISSUE) is None
    assert mine.read_text() == text


async def test_an_update_that_is_told_stays_told_until_settled(
    hass: HomeAssistant, open_house: Open, release: Path, workspace: Path
) -> None:
    mine = await changed(hass, open_house, release, workspace)
    await restart(hass)
    assert issue(hass, ISSUE) is not None
    mine.write_text(NEW)
    await restart(hass)
    assert issue(hass, ISSUE) is None, "the owner took it over by hand"
    assert not mine.with_name("tea.md.new").exists()


async def test_broken_files_are_named_until_they_are_mended(
    hass: HomeAssistant, open_house: Open, release: Path, workspace: Path, say: Say
) -> None:
    (release / "tea.md").write_text(OLD)
    await open_house(*(Reply(text="Hello.") for _ in range(3)))
    assert issue(hass, "skills_broken") is None
    bad = workspace / "skills" / "bad.md"
    bad.write_bytes(b"\x89PNG\0")
    (workspace / "skills" / "empty.md").write_text("")
    await say("hello there, how are you")
    await hass.async_block_till_done(wait_background_tasks=True)
    found = issue(hass, "skills_broken")
    assert found is not None
    placeholders = found.translation_placeholders or {}
    assert placeholders["count"] == "2"
    assert "/skills/bad.md" in placeholders["files"]
    assert "/skills/empty.md" in placeholders["files"]
    bad.write_text("# Bad\n\nNot any more.\n")
    await say("hello again, how are you")
    await hass.async_block_till_done(wait_background_tasks=True)
    found = issue(hass, "skills_broken")
    assert found is not None
    assert (found.translation_placeholders or {})["count"] == "1"
    (workspace / "skills" / "empty.md").unlink()
    await say("and again, how are you")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert issue(hass, "skills_broken") is None


async def test_a_lost_record_of_what_was_shipped_overwrites_nothing(
    hass: HomeAssistant, open_house: Open, release: Path, workspace: Path
) -> None:
    (release / "tea.md").write_text(OLD)
    await open_house()
    mine = workspace / "skills" / "tea.md"
    mine.write_text(MINE)
    for broken in ("{", json.dumps([1]), ""):
        (workspace / "skills" / ".shipped.json").write_text(broken)
        await restart(hass)
        assert mine.read_text() == MINE
