"""One message becomes one turn of the agent: its tools, its prompt, its history."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util

from .agent import loop
from .agent.catalogue import Offer
from .agent.history import messages
from .agent.prompt import Prompt
from .agent.toolbox import Toolbox, by_name
from .agent.trace import Trace
from .const import DOMAIN, PROVIDER_OFFLINE
from .message import Message
from .providers.protocol import SystemPart, UserMessage
from .tools.assist import async_assist_tools
from .tools.base import Tool, ToolContext
from .workspace.errors import WorkspaceError
from .workspace.paths import SKILLS
from .workspace.sessions import session_name

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .agent.profile import Profile
    from .commander import Commander
    from .providers.failover import ProviderChain
    from .tools.consent import Consent
    from .workspace.sessions import SessionMessage
    from .workspace.skills import Skill
    from .workspace.workspace import Workspace

#: A question is short; a pasted page is none.
_QUERY_CHARS: Final = 400
_HEAD_START_S: Final = 0.01
_OFFERED: Final = (
    "# What may be about this message\nread_file one of them for the whole."
)


class AgentTurns:
    """Makes the turns of the agent."""

    def __init__(
        self,
        hass: HomeAssistant,
        workspace: Workspace,
        providers: ProviderChain,
        commander: Commander,
        tools: Sequence[Tool],
        profile: Profile,
        assist_apis: Sequence[str] = (),
    ) -> None:
        """Take what a turn needs; `assist_apis` are the owner's choice of APIs."""
        self._hass = hass
        self._workspace = workspace
        self._sessions = workspace.sessions
        self._providers = providers
        self._commander = commander
        self._tools = by_name(tools)
        self._profile = profile
        self._assist_apis = list(assist_apis)
        self._prompt = Prompt(workspace, profile)

    @property
    def has_model(self) -> bool:
        """Tell whether a language model answers, and not `offline`."""
        return self._providers.config.kind != PROVIDER_OFFLINE

    def context(
        self, message: Message, confirmed: frozenset[Consent], trace: Trace
    ) -> ToolContext:
        """Return what the turn's tools know of it."""
        return ToolContext(
            view=self._workspace.view(
                message.speaker,
                session=session_name(message.channel, message.conversation_id),
                on_touch=partial(self._touched, trace),
                own_only=message.own_only,
            ),
            speaker=message.speaker,
            channel=message.channel,
            conversation_id=message.conversation_id,
            language=message.language,
            now=dt_util.now,
            system_turn=message.system_turn,
            confirmed=confirmed,
        )

    async def prepare(
        self, message: Message, context: ToolContext, trace: Trace
    ) -> loop.Turn:
        """Put a turn together: its tools, its prompt, what was said before it."""
        assist = await async_assist_tools(
            self._hass,
            self._assist_apis,
            self._llm_context(message),
            self._commander.means_relay,
        )
        tools = self._tools
        if assist.tools:
            tools = by_name([*tools.values(), *assist.tools])
        if message.tools is not None:
            tools = {name: tools[name] for name in tools if name in message.tools}
        # One worker thread for both: they wait for one another anyway.
        session, system = await asyncio.to_thread(
            lambda: (
                self._history(message),
                self._system(message, context, tools, trace),
            )
        )
        return loop.Turn(
            provider=self._providers,
            profile=self._profile,
            toolbox=Toolbox(tools, context, self._profile, trace),
            trace=trace,
            system=system,
            history=messages(session),
            message=UserMessage(message.text, message.images),
            language=message.language,
        )

    async def read_ahead(self, context: ToolContext, text: str) -> None:
        """Read what the model is most likely to ask for, while it is being asked."""
        # The request itself goes first; no model answers sooner.
        await asyncio.sleep(_HEAD_START_S)
        with suppress(WorkspaceError):
            await asyncio.to_thread(context.view.read_ahead, text[:_QUERY_CHARS])

    def _offered(self, context: ToolContext, text: str) -> str:
        """Return search results for a model that would not search. Blocking."""
        count = self._profile.offered_hits
        if not count or not text.strip():
            return ""
        with suppress(WorkspaceError):
            hits = context.view.search(text[:_QUERY_CHARS], limit=count)
            rows = [f"{hit.path}:{hit.line}: {hit.snippet}" for hit in hits]
            if rows:
                return "\n".join([_OFFERED, *rows])
        return ""

    def _system(
        self,
        message: Message,
        context: ToolContext,
        tools: Mapping[str, Tool],
        trace: Trace,
    ) -> tuple[SystemPart, ...]:
        """Assemble the prompt. Blocking: it reads files."""
        for path in message.skills:
            self._workspace.skills.used(path, context.now().date())
        return self._prompt.assemble(
            context.view,
            message.language,
            "\n\n".join(
                part
                for part in (
                    self._offered(context, message.text),
                    message.extra_prompt,
                )
                if part
            ),
            offer=Offer.of(
                message.language,
                tools,
                satellite=bool(self._commander.grammar.channels),
            ),
            message=message.text,
            skills=message.skills,
            used=partial(_note_skill, trace),
        )

    def _touched(self, trace: Trace, kind: str, path: str) -> None:
        """Note in the trace which skills a turn went by. Called in a worker thread."""
        if kind != "read" or not path.startswith(f"{SKILLS}/"):
            return
        for skill in self._workspace.skills.catalogue().skills:
            if skill.path == path:
                _note_skill(trace, skill)

    def _llm_context(self, message: Message) -> llm.LLMContext:
        return llm.LLMContext(
            platform=DOMAIN,
            context=message.context,
            language=message.language,
            assistant=CONVERSATION_DOMAIN,
            device_id=message.device_id,
        )

    def _history(self, message: Message) -> list[SessionMessage]:
        """Return what was said before. Blocking."""
        return self._sessions.last(
            message.channel,
            message.conversation_id,
            self._profile.history_messages,
            speaker=message.speaker,
        )


def _note_skill(trace: Trace, skill: Skill) -> None:
    """Note a skill whose text the model got."""
    trace.skills[skill.path] = skill.origin
