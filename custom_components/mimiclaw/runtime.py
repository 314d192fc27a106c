"""Wire one entry's objects, once. Nobody else knows everybody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntry

from .assistant import Assistant
from .commander import Commander
from .satellite.registry import Satellites
from .workspace.sessions import Sessions
from .workspace.workspace import Workspace

if TYPE_CHECKING:
    from .providers.failover import ProviderChain

type MimiClawConfigEntry = ConfigEntry[Runtime]

#: Where a release carries the skill library; a checkout has it at its top.
SHIPPED_SKILLS = Path(__file__).parent / "skills"
CHECKOUT_SKILLS = Path(__file__).parents[2] / "skills"


@dataclass(slots=True)
class Runtime:
    """One assistant's objects, for as long as its entry is loaded."""

    workspace: Workspace
    sessions: Sessions
    satellites: Satellites
    providers: ProviderChain
    commander: Commander
    assistant: Assistant

    async def async_start(self) -> None:
        """Start what works in the background."""
        await self.satellites.async_start()
        await self.commander.async_start()

    async def async_stop(self) -> None:
        """End every task and connection."""
        await self.assistant.async_stop()
        await self.commander.async_stop()
        await self.satellites.async_stop()
        await self.providers.aclose()
