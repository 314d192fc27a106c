"""Memory over time: flush and summary of long conversations, consolidation at night.

Each is a turn of the agent beside the conversations, with memory tools only. Without a
model there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.helpers.event import async_track_time_change
from homeassistant.helpers.storage import Store

from .agent.parts import Done
from .agent.upkeep_texts import CONSOLIDATION, FLUSH, MEMORY_TOOLS
from .assistant import whole_turn
from .const import DOMAIN, LOGGER, PROVIDER_OFFLINE
from .message import Message
from .workspace import paths
from .workspace.errors import WorkspaceError
from .workspace.speaker import HOUSEHOLD, Speaker

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .agent.profile import Profile
    from .assistant import Assistant
    from .providers.failover import ProviderChain
    from .workspace.workspace import Workspace

CHANNEL: Final = "upkeep"
#: When a house is quiet, and the day's notes are done.
NIGHT: Final = (3, 40)
#: Messages that stay as they were said when the rest becomes a summary.
KEEP_MESSAGES: Final = 10
#: Fewer than these are not worth a summary, however long they are.
FEW_MESSAGES: Final = 4
#: Days of notes that one night takes on at most; the rest waits for the next.
DAYS_A_NIGHT: Final = 14
_STORE_VERSION: Final = 1


class Upkeep:
    """Owns the background turns that look after the memory."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        assistant: Assistant,
        workspace: Workspace,
        providers: ProviderChain,
        profile: Profile,
    ) -> None:
        """Take what such a turn needs."""
        self._hass = hass
        self._entry = entry
        self._assistant = assistant
        self._workspace = workspace
        self._providers = providers
        self._profile = profile
        self._unsubscribe: list[CALLBACK_TYPE] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._flushing: set[tuple[str, str]] = set()
        self._quietly = asyncio.Lock()
        #: Person ("" for the household) to the last day whose notes were worked in.
        self._done_until: dict[str, str] = {}
        key = f"{DOMAIN}.consolidation"
        self._store: Store[dict[str, str]] = Store(hass, _STORE_VERSION, key)

    async def async_start(self) -> None:
        """Wait for the night, and for conversations to grow long."""
        self._done_until = await self._store.async_load() or {}
        hour, minute = NIGHT
        self._unsubscribe.append(
            async_track_time_change(
                self._hass, self._night, hour=hour, minute=minute, second=0
            )
        )
        self._unsubscribe.append(self._assistant.async_listen(self._turn_ended))

    async def async_stop(self) -> None:
        """End what is under way; a half done upkeep is done again another time."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def _has_model(self) -> bool:
        return self._providers.config.kind != PROVIDER_OFFLINE

    def _own(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = self._entry.async_create_background_task(self._hass, work, name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @callback
    def _turn_ended(self, message: Message, record: Mapping[str, Any]) -> None:
        """Look whether the conversation has outgrown its window, or the model's."""
        if message.aside or not self._has_model or message.key in self._flushing:
            return
        self._flushing.add(message.key)
        full = record["largest_request_tokens"] >= self._profile.context_tokens
        self._own(self._flush(message, full=full), "mimiclaw memory flush")

    async def _flush(self, message: Message, *, full: bool) -> None:
        try:
            # One at a time: what nobody waits for must not crowd out who does.
            async with self._quietly:
                await self._assistant.async_settled()
                before = await self._count(message)
                enough = FEW_MESSAGES if full else self._profile.history_messages
                if before >= enough:
                    await self._summarise(message, before)
        except WorkspaceError as err:
            LOGGER.warning("A conversation was not summarised: %s", err)
        finally:
            self._flushing.discard(message.key)

    async def _count(self, message: Message) -> int:
        """Return how many messages stand after the last summary."""
        window = self._profile.history_messages * 4
        session = await asyncio.to_thread(
            self._workspace.sessions.last,
            message.channel,
            message.conversation_id,
            window,
            speaker=message.speaker,
        )
        return len([line for line in session if line.role in {"user", "assistant"}])

    async def _summarise(self, message: Message, before: int) -> None:
        """Let the model write down what must stay, then stand for the older part."""
        aside = Message(
            text=FLUSH,
            channel=message.channel,
            conversation_id=message.conversation_id,
            language=message.language,
            speaker=message.speaker,
            system_turn=True,
            aside=True,
            # Nobody is there to say what of it the others may know.
            own_only=True,
            tools=MEMORY_TOOLS,
        )
        summary, done = await whole_turn(self._assistant.handle(aside))
        if not _answered(done) or not summary.strip():
            # Nothing is cut for want of a summary: the originals stay in the window.
            return
        said_since = await self._count(message) - before
        await asyncio.to_thread(
            self._workspace.sessions.compact,
            message.channel,
            message.conversation_id,
            summary.strip(),
            keep=min(KEEP_MESSAGES, before // 2) + max(0, said_since),
            person=message.speaker.person,
        )

    @callback
    def _night(self, now: datetime) -> None:
        if self._has_model:
            self._own(self.async_consolidate(), "mimiclaw consolidation")

    async def async_consolidate(self) -> None:
        """Move what lasts from the notes into the long-term memory, person by person."""
        for speaker in (HOUSEHOLD, *await asyncio.to_thread(self._people)):
            try:
                await self._consolidate(speaker)
            except WorkspaceError as err:
                LOGGER.warning("The memory of %s was not tidied: %s", speaker.name, err)

    def _people(self) -> list[Speaker]:
        """Return everybody who has files of their own."""
        folder = self._workspace.root / paths.USERS.lstrip("/")
        names = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
        return [
            Speaker(name, name)
            for name in names
            if paths.PERSON_PATTERN.fullmatch(name)
        ]

    async def _consolidate(self, speaker: Speaker) -> None:
        notes = await asyncio.to_thread(self._new_notes, speaker)
        budget = (await asyncio.to_thread(self._workspace.budget, speaker))[-1]
        if not notes and not budget.full:
            return
        kept = await asyncio.to_thread(self._workspace.keep_in_trash, budget.path)
        LOGGER.debug("Tidying %s, its text is kept as %s", budget.path, kept)
        text = CONSOLIDATION.format(
            memory=budget.path,
            notes=", ".join(notes) or "none today",
            limit=budget.limit,
            used=budget.used,
        )
        message = Message(
            text=text,
            channel=CHANNEL,
            conversation_id=speaker.person or "household",
            language=self._hass.config.language,
            speaker=speaker,
            system_turn=True,
            aside=True,
            # Nobody is there to say what of it the others may know.
            own_only=True,
            tools=MEMORY_TOOLS,
        )
        _, done = await whole_turn(self._assistant.handle(message))
        if _answered(done) and notes:
            self._done_until[speaker.person or ""] = notes[-1].rpartition("/")[2][:10]
            await self._store.async_save(self._done_until)

    def _new_notes(self, speaker: Speaker) -> list[str]:
        """Return the notes of whole days that were not worked in yet, oldest first."""
        done = self._done_until.get(speaker.person or "", "")
        today = self._workspace.clock().date()
        own = f"/{speaker.person}/" if speaker.person else ""
        found = []
        for path in self._workspace.notes(speaker):
            if own not in path:
                continue
            day = path.rpartition("/")[2][:10]
            if done < day and date.fromisoformat(day) < today:
                found.append(path)
        return found[:DAYS_A_NIGHT]


def _answered(done: Done | None) -> bool:
    return done is not None and done.record["outcome"] == "answered"
