"""The door: every message from every channel becomes a turn here."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from homeassistant.util import dt as dt_util

from .agent import loop
from .agent.history import messages
from .agent.parts import Done, Part, RoundStart, Said, Text
from .agent.prompt import Prompt
from .agent.toolbox import Toolbox, by_name
from .agent.trace import Trace
from .const import EVENT_TURN, LOGGER
from .providers.protocol import Image, UserMessage
from .tools.base import Tool, ToolContext
from .workspace.sessions import session_name
from .workspace.speaker import HOUSEHOLD, Speaker

if TYPE_CHECKING:
    from homeassistant.core import Context, HomeAssistant

    from .agent.profile import Profile
    from .commander import Commander
    from .fast_path.command import Command
    from .phrases import Phrases
    from .providers.failover import ProviderChain
    from .workspace.sessions import SessionMessage, Sessions
    from .workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Message:
    """What came in, and from where. Code fills it in; no model has a say in it."""

    text: str
    channel: str
    conversation_id: str
    language: str
    speaker: Speaker = HOUSEHOLD
    context: Context | None = None
    device_id: str | None = None
    #: The area of the device that was spoken to; it breaks a tie between two names.
    area: str | None = None
    images: tuple[Image, ...] = ()
    #: What the channel wants the model to know of this message; stands after the files.
    extra_prompt: str = ""
    #: A fired job or a heartbeat. Its text never moves a relay by the fast path.
    system_turn: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Return what the conversation is known by."""
        return self.channel, self.conversation_id


@dataclass(slots=True)
class _Conversation:
    """What is kept of a conversation between its turns, in memory only."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    #: Commands of the fast path that the last answer asked the person about.
    pending: tuple[Command, ...] = ()
    #: Channels that the agent's last answer asked the person about.
    asked: frozenset[str] = frozenset()

    @property
    def waits(self) -> bool:
        """Tell whether the next message may be an answer to a question of ours."""
        return bool(self.pending or self.asked)


class Assistant:
    """Turns messages into replies: fast path first, then the agent."""

    def __init__(
        self,
        hass: HomeAssistant,
        workspace: Workspace,
        sessions: Sessions,
        providers: ProviderChain,
        commander: Commander,
        phrases: Phrases,
        tools: Sequence[Tool],
        profile: Profile,
    ) -> None:
        """Take what a turn needs."""
        self._hass = hass
        self._workspace = workspace
        self._sessions = sessions
        self._providers = providers
        self._commander = commander
        self._phrases = phrases
        self._tools = by_name(tools)
        self._profile = profile
        self._prompt = Prompt(workspace, profile)
        self._conversations: dict[tuple[str, str], _Conversation] = defaultdict(
            _Conversation
        )
        self._closed = False

    async def async_stop(self) -> None:
        """Take no further messages; turns under way are ended by their callers."""
        self._closed = True

    async def handle(self, message: Message) -> AsyncGenerator[Part]:
        """Yield the parts of the reply, ending with Done.

        One turn at a time a conversation, others side by side. Closing the generator
        ends the turn and leaves the session whole.
        """
        async with self._turn_of(message) as conversation:
            trace = Trace()
            spoken: list[str] = []
            try:
                parts = self._parts(message, conversation, trace)
                async with aclosing(parts):
                    async for part in parts:
                        said = part
                        if isinstance(part, Said):
                            said = await self._say(message, part, after=bool(spoken))
                        if isinstance(said, Text):
                            spoken.append(said.text)
                        yield said
            except asyncio.CancelledError, GeneratorExit:
                trace.outcome = "cancelled"
                raise
            finally:
                await asyncio.shield(self._finish(message, trace, "".join(spoken)))
            yield Done(self._announce(message, trace))

    @asynccontextmanager
    async def _turn_of(self, message: Message) -> AsyncGenerator[_Conversation]:
        """Wait for the conversation's turn; forget the conversation when it is idle."""
        conversation = self._conversations[message.key]
        conversation.users += 1
        try:
            async with conversation.lock:
                yield conversation
        finally:
            conversation.users -= 1
            if not conversation.users and not conversation.waits:
                self._conversations.pop(message.key, None)

    async def _parts(
        self, message: Message, conversation: _Conversation, trace: Trace
    ) -> AsyncGenerator[Part]:
        """Choose who answers."""
        asked, conversation.asked = conversation.asked, frozenset()
        pending, conversation.pending = conversation.pending, ()
        if not message.text.strip() and not message.images:
            trace.path = trace.outcome = "empty_message"
            yield Said("empty_message")
            return
        if len(message.text) > self._profile.message_chars:
            trace.path = trace.outcome = "long_message"
            limit = str(self._profile.message_chars)
            yield Said("long_message", {"limit": limit})
            return
        await self._record(message, "user", message.text)
        if not message.system_turn:
            answer = await self._commander.async_answer(
                message.text, message.language, message.area, pending
            )
            if answer is not None:
                trace.path = "fast_path"
                conversation.pending = answer.pending
                for line in answer.calls:
                    trace.called(
                        line.tool,
                        line.arguments,
                        line.result,
                        line.duration_ms,
                        is_error=line.is_error,
                    )
                trace.text_seen()
                yield RoundStart()
                yield Text(answer.text)
                return
        confirmed = (
            asked if self._commander.is_yes(message.text, message.language) else ()
        )
        context = self._tool_context(message, frozenset(confirmed))
        async with aclosing(self._agent(message, context, trace)) as parts:
            async for part in parts:
                yield part
        conversation.asked = frozenset(context.asked)

    def _tool_context(self, message: Message, confirmed: frozenset[str]) -> ToolContext:
        return ToolContext(
            view=self._workspace.view(
                message.speaker,
                session=session_name(message.channel, message.conversation_id),
            ),
            speaker=message.speaker,
            channel=message.channel,
            conversation_id=message.conversation_id,
            language=message.language,
            now=dt_util.now,
            system_turn=message.system_turn,
            confirmed=confirmed,
        )

    async def _agent(
        self, message: Message, context: ToolContext, trace: Trace
    ) -> AsyncGenerator[Part]:
        """Run one turn of the agent."""
        session, system = await asyncio.gather(
            asyncio.to_thread(self._history, message),
            asyncio.to_thread(
                self._prompt.assemble,
                context.view,
                message.language,
                message.extra_prompt,
            ),
        )
        turn = loop.Turn(
            provider=self._providers,
            profile=self._profile,
            toolbox=Toolbox(self._tools, context, self._profile, trace),
            trace=trace,
            system=system,
            # The last line is the message itself.
            history=messages(session[:-1]),
            message=UserMessage(message.text, message.images),
            language=message.language,
        )
        async with aclosing(loop.run(turn)) as parts:
            async for part in parts:
                yield part

    def _history(self, message: Message) -> list[SessionMessage]:
        count = self._profile.history_messages + 1
        return self._sessions.last(
            message.channel, message.conversation_id, count, speaker=message.speaker
        )

    async def _say(self, message: Message, said: Said, *, after: bool) -> Text:
        """Put one of our sentences into the listener's language."""
        text = await self._phrases.async_say(
            message.language, said.key, said.placeholders
        )
        return Text(f"\n\n{text}" if after else text)

    async def _record(self, message: Message, role: str, text: str) -> None:
        """Add one line to the session; a full disk must not end the turn."""
        try:
            await asyncio.to_thread(
                self._sessions.append,
                message.channel,
                message.conversation_id,
                role,
                text,
                person=message.speaker.person,
            )
        except Exception:  # noqa: BLE001  the answer matters more than its record
            LOGGER.exception("The session of %s was not written", message.channel)

    async def _finish(self, message: Message, trace: Trace, spoken: str) -> None:
        """Write down what was said, however the turn ended."""
        if spoken and trace.path in {"agent", "fast_path"}:
            await self._record(message, "assistant", spoken)

    def _announce(self, message: Message, trace: Trace) -> dict[str, Any]:
        """Fire the record of the turn. It holds no text of the conversation."""
        record = {
            "channel": message.channel,
            "conversation_id": message.conversation_id,
            "speaker": message.speaker.person,
            "language": message.language,
            **trace.as_dict(),
        }
        for line in trace.lines:
            LOGGER.debug("%s", line)
        self._hass.bus.async_fire(EVENT_TURN, record, context=message.context)
        return record


async def whole_text(parts: AsyncGenerator[Part]) -> str:
    """Return the text of the last message of a reply."""
    text: list[str] = []
    async with aclosing(parts):
        async for part in parts:
            if isinstance(part, RoundStart):
                text.clear()
            elif isinstance(part, Text):
                text.append(part.text)
    return "".join(text)
