"""What begins with a stroke: answered by us, without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.helpers import entity_registry as er

from ..const import DOMAIN, LOGGER
from ..workspace import paths
from ..workspace.errors import WorkspaceError
from .markdown import Piece, pieces, plain_pieces
from .relay_buttons import RelayButtons

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from ..phrases import Phrases
    from ..providers.failover import ProviderChain
    from ..satellite.registry import Satellites
    from ..workspace.speaker import Speaker
    from ..workspace.workspace import Workspace
    from .telegram_actions import Row
    from .update import Chat

#: What a button of /model carries begins so.
MODEL: Final = "mc:m:"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command gives: messages, and buttons under the last of them."""

    pieces: Sequence[Piece]
    rows: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as it came: from whom, where, with what after it."""

    chat: Chat
    speaker: Speaker
    language: str
    text: str


class Commands:
    """Answers the commands."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry_id: str,
        workspace: Workspace,
        satellites: Satellites,
        providers: ProviderChain,
        phrases: Phrases,
        status_lines: Callable[[str], Awaitable[list[str]]],
    ) -> None:
        """Take what the commands tell of; `status_lines` are of the schedule."""
        self._hass = hass
        self._entry_id = entry_id
        self._workspace = workspace
        self._satellites = satellites
        self._providers = providers
        self._phrases = phrases
        self._status_lines = status_lines
        self.relays = RelayButtons(satellites, phrases)
        self._known: dict[str, Callable[[Asked], Awaitable[Answer]]] = {
            "/start": self._start,
            "/help": self._help,
            "/new": self._new,
            "/status": self._status,
            "/memory": self._memory,
            "/skills": self._skills,
            "/relays": self._relays,
            "/model": self._model,
        }

    async def answer(self, command: str, asked: Asked) -> Answer | None:
        """Return the answer to a command; None if it is none of ours."""
        handler = self._known.get(command.partition("@")[0].lower())
        return None if handler is None else await handler(asked)

    async def _say(self, asked: Asked, key: str, **placeholders: str) -> str:
        return await self._phrases.async_say(asked.language, key, placeholders)

    async def _start(self, asked: Asked) -> Answer:
        hello = await self._say(asked, "telegram_start", name=asked.speaker.name)
        return Answer(
            plain_pieces(f"{hello}\n\n{await self._say(asked, 'telegram_help')}")
        )

    async def _help(self, asked: Asked) -> Answer:
        return Answer(plain_pieces(await self._say(asked, "telegram_help")))

    async def _new(self, asked: Asked) -> Answer:
        """Begin anew: what was said stays in the file, and out of the model's sight."""
        mark = await self._say(asked, "telegram_new_mark")
        await asyncio.to_thread(
            self._workspace.sessions.compact,
            "telegram",
            asked.chat.conversation_id,
            mark,
            keep=0,
            person=asked.speaker.person,
        )
        return Answer(plain_pieces(await self._say(asked, "telegram_new")))

    async def _status(self, asked: Asked) -> Answer:
        satellites = self._satellites.satellites()
        there = sum(one.available for one in satellites)
        config = self._providers.config
        lines = [
            await self._say(
                asked,
                "telegram_status_model",
                name=config.name,
                model=config.model or "–",
            ),
            await self._say(
                asked,
                "telegram_status_satellites",
                there=str(there),
                all=str(len(satellites)),
            ),
            *await self._status_lines(asked.language),
        ]
        return Answer(plain_pieces("\n".join(lines)))

    async def _memory(self, asked: Asked) -> Answer:
        text = await asyncio.to_thread(self._read_memory, asked.speaker)
        if not text:
            return Answer(plain_pieces(await self._say(asked, "telegram_memory_empty")))
        return Answer(await asyncio.to_thread(pieces, text))

    def _read_memory(self, speaker: Speaker) -> str:
        """Return what the speaker may see of the long-term memory. Blocking."""
        wanted = [paths.MEMORY]
        if speaker.person is not None:
            wanted.append(paths.user_memory(speaker.person))
        found: list[str] = []
        for path in wanted:
            try:
                found.append(self._workspace.read_raw(path)[0].strip())
            except WorkspaceError:
                LOGGER.debug("There is no %s to show", path)
        return "\n\n".join(one for one in found if one)

    async def _skills(self, asked: Asked) -> Answer:
        catalogue = await asyncio.to_thread(self._workspace.skills.catalogue)
        if not catalogue.skills:
            return Answer(plain_pieces(await self._say(asked, "telegram_skills_none")))
        lines = [await self._say(asked, "telegram_skills")]
        lines += [
            f"• {one.title}: {one.description}" if one.description else f"• {one.title}"
            for one in catalogue.skills
        ]
        return Answer(plain_pieces("\n".join(lines)))

    async def _relays(self, asked: Asked) -> Answer:
        piece, rows = await self.relays.draw(asked.language)
        return Answer((piece,), rows)

    async def _model(self, asked: Asked) -> Answer:
        names = self._providers.names
        if asked.text in names:
            await self.switch_model(names.index(asked.text))
        now = await self._say(asked, "telegram_model", name=self._providers.active)
        return Answer(plain_pieces(now), self.model_rows())

    @property
    def active_model(self) -> str:
        """Return the name of the provider that is asked first."""
        return self._providers.active

    def model_rows(self) -> list[Row]:
        """Return a button for each provider, where there is a choice."""
        names, active = self._providers.names, self._providers.active
        if len(names) < 2:
            return []
        return [
            ((f"✓ {name}" if name == active else name, f"{MODEL}{number}"),)
            for number, name in enumerate(names)
        ]

    async def switch_model(self, number: int) -> bool:
        """Let another provider answer; its select entity follows."""
        names = self._providers.names
        if not 0 <= number < len(names):
            return False
        entity_id = er.async_get(self._hass).async_get_entity_id(
            "select", DOMAIN, f"{self._entry_id}_provider"
        )
        if entity_id is None or self._hass.states.get(entity_id) is None:
            self._providers.switch(names[number])
            return True
        await self._hass.services.async_call(
            "select",
            "select_option",
            {ATTR_ENTITY_ID: entity_id, "option": names[number]},
            blocking=True,
        )
        return True
