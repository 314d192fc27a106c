"""Tell the owner which skills cannot be used, and which updates wait for a word."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components.repairs import RepairsFlow, RepairsFlowResult
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN, LOGGER
from .skill_library.updates import difference, lay_beside, settle
from .workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from homeassistant.core import CALLBACK_TYPE

    from .assistant import Assistant
    from .message import Message
    from .workspace.problems import Problem
    from .workspace.seeding import Conflict
    from .workspace.workspace import Workspace

BROKEN: Final = "skills_broken"
CHANGED: Final = "skill_changed"
#: Files that the issue names; the rest is counted.
_NAMED: Final = 10


def changed_id(path: str) -> str:
    """Return the id of the issue over one shipped skill."""
    return f"{CHANGED}{path.replace('/', '.')}"


class SkillRepairs:
    """Keeps the issues over skills in step with the files."""

    def __init__(
        self,
        hass: HomeAssistant,
        workspace: Workspace,
        skills_dir: Path | None,
        conflicts: Sequence[Conflict],
    ) -> None:
        """Take what seeding found; nothing is told yet."""
        self._hass = hass
        self._workspace = workspace
        self._skills_dir = skills_dir
        self._conflicts = {one.path: one for one in conflicts}
        self._told: tuple[Problem, ...] = ()
        self._unsubscribe: CALLBACK_TYPE | None = None
        self._task: asyncio.Task[None] | None = None

    async def async_start(self, assistant: Assistant) -> None:
        """Tell what there is, and look again after each turn."""
        conflicts = list(self._conflicts.values())
        await asyncio.to_thread(lay_beside, self._workspace, conflicts)
        for path in self._conflicts:
            ir.async_create_issue(
                self._hass,
                DOMAIN,
                changed_id(path),
                is_fixable=True,
                severity=ir.IssueSeverity.WARNING,
                translation_key=CHANGED,
                translation_placeholders={"path": path},
                data={"skill": path},
            )
        known = {changed_id(path) for path in self._conflicts}
        for domain, issue_id in list(ir.async_get(self._hass).issues):
            ours = domain == DOMAIN and issue_id.startswith(f"{CHANGED}.")
            if ours and issue_id not in known:
                ir.async_delete_issue(self._hass, DOMAIN, issue_id)
        await self.async_refresh()
        self._unsubscribe = assistant.async_listen(self._turn_ended)

    async def async_stop(self) -> None:
        """Look no more. What was told stays told until the next start."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._task is not None:
            await self._task

    @callback
    def _turn_ended(self, _message: Message, _record: Mapping[str, Any]) -> None:
        """The turn has read the list; look at what could not be read."""
        if self._task is None or self._task.done():
            self._task = self._hass.async_create_task(
                self.async_refresh(), "mimiclaw skills"
            )

    async def async_refresh(self) -> None:
        """Make the issue over broken skills say what is so now."""
        catalogue = await asyncio.to_thread(self._workspace.skills.catalogue)
        if catalogue.problems == self._told:
            return
        self._told = catalogue.problems
        if not catalogue.problems:
            ir.async_delete_issue(self._hass, DOMAIN, BROKEN)
            return
        named = [f"- {one.path}: {one.detail}" for one in catalogue.problems[:_NAMED]]
        if left := len(catalogue.problems) - len(named):
            named.append(f"- … +{left}")
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            BROKEN,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key=BROKEN,
            translation_placeholders={
                "count": str(len(catalogue.problems)),
                "files": "\n".join(named),
            },
        )

    async def async_difference(self, path: str) -> str | None:
        """Return what an update would change, None when nothing waits for a word."""
        conflict = self._conflicts.get(path)
        if conflict is None:
            return None
        return await asyncio.to_thread(difference, self._workspace, conflict)

    async def async_settle(self, path: str, *, take_new: bool) -> bool:
        """Do as the owner decided; tell whether it worked."""
        if self._skills_dir is None or path not in self._conflicts:
            return False
        try:
            await asyncio.to_thread(
                settle, self._workspace, self._skills_dir, path, take_new=take_new
            )
        except WorkspaceError as err:
            LOGGER.warning("The update of %s was not settled: %s", path, err)
            return False
        del self._conflicts[path]
        return True


class SkillUpdateRepair(RepairsFlow):
    """Show the difference; take the update or keep one's own."""

    def __init__(self, path: str) -> None:
        """Take which skill it is about."""
        self._path = path

    async def async_step_init(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Show what the update would change."""
        repairs = _repairs(self.hass)
        shown = None if repairs is None else await repairs.async_difference(self._path)
        if shown is None:
            return self.async_abort(reason="skill_gone")
        return self.async_show_menu(
            step_id="init",
            menu_options=["take_update", "keep_mine"],
            description_placeholders={"path": self._path, "diff": shown},
        )

    async def async_step_take_update(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Put the update in place; the owner's text goes to the trash."""
        return await self._settle(take_new=True)

    async def async_step_keep_mine(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Leave the owner's text as it is."""
        return await self._settle(take_new=False)

    async def _settle(self, *, take_new: bool) -> RepairsFlowResult:
        repairs = _repairs(self.hass)
        if repairs is None or not await repairs.async_settle(
            self._path, take_new=take_new
        ):
            return self.async_abort(reason="skill_not_settled")
        return self.async_create_entry(data={})


def _repairs(hass: HomeAssistant) -> SkillRepairs | None:
    for entry in hass.config_entries.async_loaded_entries(DOMAIN):
        repairs: SkillRepairs = entry.runtime_data.skill_repairs
        return repairs
    return None
