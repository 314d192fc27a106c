"""The door: every message from every channel becomes a turn here."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util

from .agent import loop
from .agent.catalogue import Offer
from .agent.history import messages
from .agent.parts import Done, Part, RoundStart, Said, Text
from .agent.prompt import Prompt
from .agent.toolbox import Toolbox, by_name
from .agent.trace import Trace
from .const import DOMAIN, EVENT_TURN, LOGGER
from .message import Message
from .providers.protocol import SystemPart, UserMessage
from .tools.assist import async_assist_tools
from .tools.base import Tool, ToolContext
from .workspace.paths import SKILLS
from .workspace.sessions import session_name

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .agent.profile import Profile
    from .commander import Commander
    from .fast_path.command import Command
    from .phrases import Phrases
    from .providers.failover import ProviderChain
    from .workspace.sessions import SessionMessage, Sessions
    from .workspace.workspace import Workspace


type Listener = Callable[[Message], None]


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
        assist_apis: Sequence[str] = (),
    ) -> None:
        """Take what a turn needs; `assist_apis` are the owner's choice of APIs."""
        self._hass = hass
        self._workspace = workspace
        self._sessions = sessions
        self._providers = providers
        self._commander = commander
        self._phrases = phrases
        self._tools = by_name(tools)
        self._profile = profile
        self._assist_apis = list(assist_apis)
        self._prompt = Prompt(workspace, profile)
        self._conversations: dict[tuple[str, str], _Conversation] = defaultdict(
            _Conversation
        )
        self._listeners: list[Listener] = []
        self._closed = False

    async def async_stop(self) -> None:
        """Take no further messages; turns under way are ended by their callers."""
        self._closed = True

    async def handle(self, message: Message) -> AsyncGenerator[Part]:
        """Yield the parts of the reply, ending with Done.

        One turn at a time a conversation, others side by side. Closing the generator
        ends the turn and leaves the session whole.
        """
        turn = _aside() if message.aside else self._turn_of(message)
        async with turn as conversation:
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
            record = self._announce(message, trace)
            yield Done(record)

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
        if message.may_command:
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
        context = self._tool_context(message, frozenset(confirmed), trace)
        async with aclosing(self._agent(message, context, trace)) as parts:
            async for part in parts:
                yield part
        conversation.asked = frozenset(context.asked)

    def _tool_context(
        self, message: Message, confirmed: frozenset[str], trace: Trace
    ) -> ToolContext:
        return ToolContext(
            view=self._workspace.view(
                message.speaker,
                session=session_name(message.channel, message.conversation_id),
                on_touch=partial(self._touched, trace),
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
        assist = await async_assist_tools(
            self._hass, self._assist_apis, self._llm_context(message)
        )
        tools = self._tools
        if assist.tools:
            tools = by_name([*tools.values(), *assist.tools])
        if message.tools is not None:
            tools = {name: tools[name] for name in tools if name in message.tools}
        session, system = await asyncio.gather(
            asyncio.to_thread(self._history, message),
            asyncio.to_thread(self._system, message, context, tools, trace),
        )
        turn = loop.Turn(
            provider=self._providers,
            profile=self._profile,
            toolbox=Toolbox(tools, context, self._profile, trace),
            trace=trace,
            system=(*system, SystemPart(assist.prompt)) if assist.prompt else system,
            history=messages(session),
            message=UserMessage(message.text, message.images),
            language=message.language,
        )
        async with aclosing(loop.run(turn)) as parts:
            async for part in parts:
                yield part

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
            self._touched(trace, "read", path)
        return self._prompt.assemble(
            context.view,
            message.language,
            message.extra_prompt,
            offer=Offer.of(
                message.language,
                tools,
                satellite=bool(self._commander.grammar.channels),
            ),
            message=message.text,
            skills=message.skills,
        )

    def _touched(self, trace: Trace, kind: str, path: str) -> None:
        """Note in the trace which skills a turn went by. Called in a worker thread."""
        if kind != "read" or not path.startswith(f"{SKILLS}/"):
            return
        for skill in self._workspace.skills.catalogue().skills:
            if skill.path == path:
                trace.skills[path] = skill.origin

    def _llm_context(self, message: Message) -> llm.LLMContext:
        return llm.LLMContext(
            platform=DOMAIN,
            context=message.context,
            language=message.language,
            assistant=CONVERSATION_DOMAIN,
            device_id=message.device_id,
        )

    def _history(self, message: Message) -> list[SessionMessage]:
        """Return what was said before; the last line is the message itself."""
        own = 0 if message.aside else 1
        session = self._sessions.last(
            message.channel,
            message.conversation_id,
            self._profile.history_messages + own,
            speaker=message.speaker,
        )
        return session[: len(session) - own]

    async def _say(self, message: Message, said: Said, *, after: bool) -> Text:
        """Put one of our sentences into the listener's language."""
        text = await self._phrases.async_say(
            message.language, said.key, said.placeholders
        )
        return Text(f"\n\n{text}" if after else text)

    async def _record(self, message: Message, role: str, text: str) -> None:
        """Add one line to the session; a full disk must not end the turn."""
        if message.aside:
            return
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
        for listener in list(self._listeners):
            listener(message)
        return record

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call with the message after every turn; return what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


@asynccontextmanager
async def _aside() -> AsyncGenerator[_Conversation]:
    """Give a turn beside the conversation nothing of what is kept between turns."""
    yield _Conversation()


async def whole_turn(parts: AsyncGenerator[Part]) -> tuple[str, Done | None]:
    """Return the text of a reply's last message, and the record of the turn."""
    text: list[str] = []
    done: Done | None = None
    async with aclosing(parts):
        async for part in parts:
            if isinstance(part, RoundStart):
                text.clear()
            elif isinstance(part, Text):
                text.append(part.text)
            elif isinstance(part, Done):
                done = part
    return "".join(text), done


async def whole_text(parts: AsyncGenerator[Part]) -> str:
    """Return the text of a reply's last message."""
    return (await whole_turn(parts))[0]
