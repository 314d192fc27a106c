"""Wire one entry's objects, once. Nobody else knows everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.util import dt as dt_util

from .agent.profile import FRONTIER, PROFILES
from .agent.toolbox import by_name
from .agent_turn import AgentTurns
from .assistant import Assistant
from .channels.telegram import TelegramChannel
from .commander import Commander
from .const import (
    CONF_DAILY_BUDGET,
    CONF_LANGUAGES,
    CONF_LOCAL_INTENTS,
    CONF_PROFILE,
    LOGGER,
    WORKSPACE_FOLDER,
)
from .costs import Costs
from .delivery import Delivery
from .phrases import Phrases
from .provider_issues import ProviderIssues
from .provider_setup import (
    async_create_embeddings,
    async_create_providers,
    create_web_search,
)
from .satellite.registry import Satellites
from .schedule.heartbeat import Heartbeat
from .schedule.home_schedule import HomeSchedule
from .schedule.performer import JobPerformer
from .schedule.status import StatusLines
from .schedule.targets import CONF_DELIVER_TO
from .skill_repairs import SkillRepairs
from .tools import cron, files, gpio, notes, search, skills, time, web
from .trace_files import TraceFiles
from .upkeep import Upkeep
from .workspace.vectors import SemanticSearch
from .workspace.workspace import Workspace
from .workspace_care import WorkspaceCare

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .providers.failover import ProviderChain
    from .tools.base import Tool
    from .workspace.seeding import SeedReport

type MimiClawConfigEntry = ConfigEntry[Runtime]

#: Where a release carries the skill library; a checkout has it at its top.
_SHIPPED_SKILLS = Path(__file__).parent / "skills"
_CHECKOUT_SKILLS = Path(__file__).parents[2] / "skills"
#: The household's own sentences for the fast path, below the configuration folder.
_SENTENCES = "sentences"


@dataclass(slots=True, kw_only=True)
class Runtime:
    """One assistant's objects, for as long as its entry is loaded."""

    workspace: Workspace
    satellites: Satellites
    providers: ProviderChain
    commander: Commander
    assistant: Assistant
    tools: Mapping[str, Tool]
    upkeep: Upkeep
    costs: Costs
    provider_issues: ProviderIssues
    skill_repairs: SkillRepairs
    care: WorkspaceCare
    telegram: TelegramChannel
    delivery: Delivery
    schedule: HomeSchedule
    heartbeat: Heartbeat

    async def async_prepare(self) -> None:
        """Make ready to answer: the first sentence costs what the thousandth does."""
        await self.commander.async_start()

    async def async_start(self) -> None:
        """Start what works in the background."""
        await self.satellites.async_start()
        await self.upkeep.async_start()
        await self.costs.async_start()
        self.provider_issues.async_start()
        await self.skill_repairs.async_start(self.assistant)
        self.care.async_start()
        self.telegram.async_start()
        self.schedule.async_start()
        self.heartbeat.async_start()

    async def async_stop(self) -> None:
        """End every task and connection."""
        await self.heartbeat.async_stop()
        await self.schedule.async_stop()
        await self.telegram.async_stop()
        await self.skill_repairs.async_stop()
        self.provider_issues.async_stop()
        await self.upkeep.async_stop()
        await self.assistant.async_stop()
        await self.commander.async_stop()
        await self.satellites.async_stop()
        await self.costs.async_stop()
        await self.providers.aclose()
        await self.care.async_stop()


def library() -> Path | None:
    """Return the folder of the shipped skills, None where there is none."""
    return next(
        (one for one in (_SHIPPED_SKILLS, _CHECKOUT_SKILLS) if one.is_dir()), None
    )


def open_workspace(root: Path) -> tuple[Workspace, SeedReport]:
    """Open the workspace and make what is missing in it. Blocking."""
    workspace = Workspace(root, clock=dt_util.now)
    report = workspace.seed(library())
    LOGGER.debug("Workspace %s: %s", root, report)
    return workspace, report


async def async_create_runtime(
    hass: HomeAssistant, entry: MimiClawConfigEntry
) -> Runtime:
    """Make the entry's objects; nothing works in the background yet."""
    root = Path(hass.config.path(WORKSPACE_FOLDER))
    workspace, report = await asyncio.to_thread(open_workspace, root)
    embeddings = await async_create_embeddings(entry)
    semantic = (
        SemanticSearch(workspace, embeddings.embed, embeddings.model)
        if embeddings
        else None
    )
    satellites = Satellites(hass, entry)
    providers = await async_create_providers(hass, entry)
    languages = tuple(entry.options.get(CONF_LANGUAGES) or [hass.config.language])
    commander = Commander(hass, satellites, languages, root / _SENTENCES)
    phrases = Phrases(hass)
    performer = JobPerformer(hass, satellites, phrases)
    schedule = HomeSchedule(hass, entry, workspace, performer)
    tools = (
        *files.tools(),
        *(search.tools(semantic.search) if semantic else search.tools()),
        *notes.tools(),
        *time.tools(),
        *web.tools(create_web_search(hass, entry)),
        *gpio.tools(satellites),
        *cron.tools(schedule.scheduler, satellites, performer.find_target),
    )
    tools = (*tools, *skills.tools(workspace, tools))
    profile = PROFILES.get(entry.options.get(CONF_PROFILE, ""), FRONTIER)
    costs = Costs(hass, providers, entry.options.get(CONF_DAILY_BUDGET))
    await costs.async_load()
    agent = AgentTurns(
        hass,
        workspace,
        providers,
        commander,
        tools,
        profile,
        entry.options.get(CONF_LLM_HASS_API, ()),
    )
    assistant = Assistant(
        hass,
        agent,
        workspace.sessions,
        commander,
        phrases,
        profile,
        costs,
        TraceFiles(root),
        use_local_intents=entry.options.get(CONF_LOCAL_INTENTS, True),
    )
    status = StatusLines(schedule.scheduler, phrases)
    telegram = TelegramChannel(
        hass,
        entry,
        assistant,
        commander,
        workspace,
        satellites,
        providers,
        phrases,
        by_name(tools),
        status,
    )
    delivery = Delivery(hass, telegram, entry.options.get(CONF_DELIVER_TO, ""))
    performer.open(assistant, delivery)
    heartbeat = Heartbeat(hass, entry.options, assistant, workspace, delivery)
    status.heartbeat = heartbeat
    return Runtime(
        workspace=workspace,
        satellites=satellites,
        providers=providers,
        commander=commander,
        assistant=assistant,
        tools=by_name(tools),
        upkeep=Upkeep(hass, entry, assistant, workspace, providers, profile),
        costs=costs,
        provider_issues=ProviderIssues(hass, assistant),
        skill_repairs=SkillRepairs(hass, workspace, library(), report.conflicts),
        care=WorkspaceCare(hass, entry, workspace, semantic, embeddings),
        telegram=telegram,
        delivery=delivery,
        schedule=schedule,
        heartbeat=heartbeat,
    )
