"""check_skill and save_skill: a new skill is checked, shown, and kept after a yes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..providers.protocol import ToolSpec
from ..skill_library.checking import judge, skill_path
from ..skill_library.drafts import Draft, Drafts
from ..skill_library.errors import SkillRefused
from ..skill_library.references import ToolShape
from ..workspace.names import parse
from ..workspace.skill_marks import mark
from .base import Tool, ToolContext, ToolError, schema
from .consent import keep

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace

_NAME: Final = {
    "type": "string",
    "description": "Short name, 2 to 4 words, e.g. compost-turning",
}
_CATEGORY: Final = {
    "type": "string",
    "description": "Folder below /skills for it; leave out for none.",
}
_NOBODY: Final = (
    "Skills are not made in a scheduled turn: nobody is there to look at them."
)

type _Run = Callable[[Mapping[str, Any], ToolContext], Awaitable[str]]


def shapes(tools: Iterable[Tool]) -> dict[str, ToolShape]:
    """Return what texts may say of these tools."""
    return {
        tool.name: ToolShape.of(tool.spec.parameters, tool.aliases) for tool in tools
    }


class _Maker:
    """Checks, keeps drafts, saves."""

    def __init__(self, workspace: Workspace, others: Iterable[Tool]) -> None:
        self._workspace = workspace
        self._shapes = shapes((*others, *self.tools()))
        self._drafts = Drafts()

    def tools(self) -> tuple[Tool, ...]:
        """Return the two tools."""
        return (
            Tool(
                ToolSpec(
                    "check_skill",
                    "Check the text of a new or changed skill. It says what is wrong, or "
                    "keeps the text as a draft to show to the person.",
                    schema(
                        {
                            "name": _NAME,
                            "text": {
                                "type": "string",
                                "description": "The whole Markdown page, '# Title' first.",
                            },
                            "category": _CATEGORY,
                        },
                        ("name", "text"),
                    ),
                ),
                self._check,
                aliases={"content": "text"},
            ),
            Tool(
                ToolSpec(
                    "save_skill",
                    "Keep the draft that check_skill found good, after the person has "
                    "seen it and said yes in the message before.",
                    schema({"name": _NAME, "category": _CATEGORY}, ("name",)),
                ),
                self._save,
            ),
        )

    async def _check(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        if context.system_turn:
            raise ToolError(_NOBODY)
        path = _path(arguments)
        text = arguments["text"].strip() + "\n"
        verdict, there = await asyncio.to_thread(self._judge, path, text)
        advice = " ".join(verdict.warnings)
        if verdict.errors or verdict.skill is None:
            raise ToolError(
                " ".join(["Not good yet.", *verdict.errors, advice]).strip()
            )
        skill = verdict.skill
        self._drafts.put(_where(context), Draft(path, text, skill.title))
        context.asked.add(keep(path, text))
        place = f"It would replace {path}." if there else f"It would stand in {path}."
        return (
            f'Good, as a draft: "{skill.title}: {skill.description}". {place} Nothing is '
            f"saved yet: show the person the whole text, ask for a yes and end your turn. "
            f"After it, call save_skill. {advice}"
        ).strip()

    def _judge(self, path: str, text: str) -> tuple[Any, bool]:
        catalogue = self._workspace.skills.catalogue()
        there = self._workspace.version(parse(path)) is not None
        return judge(path, text, catalogue, self._shapes), there

    async def _save(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        if context.system_turn:
            raise ToolError(_NOBODY)
        path = _path(arguments)
        draft = self._drafts.get(_where(context), path)
        if draft is None:
            raise ToolError(f"There is no draft for {path}; call check_skill first.")
        # The yes was given to the text that was shown, not to one put in its place.
        consent = keep(path, draft.text)
        if consent not in context.confirmed:
            context.asked.add(consent)
            raise ToolError(
                f"{path} was not saved: show the person the whole text, ask for a plain yes "
                "and end your turn; call save_skill again after it."
            )
        done = await asyncio.to_thread(self._write, draft, context)
        self._drafts.drop(_where(context), path)
        return (
            f'{done} "{draft.title}" is in the list of skills from the next message on.'
        )

    def _write(self, draft: Draft, context: ToolContext) -> str:
        done = context.view.write(draft.path, draft.text)
        # Whatever stood here before, this text is the household's own.
        mark(self._workspace.tree, self._workspace.locks, parse(draft.path), None)
        return done


def _where(context: ToolContext) -> tuple[str, str]:
    return context.channel, context.conversation_id


def _path(arguments: Mapping[str, Any]) -> str:
    try:
        return skill_path(arguments["name"], arguments.get("category") or "")
    except SkillRefused as err:
        raise ToolError(str(err)) from err


def tools(workspace: Workspace, others: Iterable[Tool]) -> tuple[Tool, ...]:
    """Return this family's tools; `others` are all that a skill may name."""
    return _Maker(workspace, others).tools()
