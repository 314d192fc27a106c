"""The door: every message from every channel becomes a turn here."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from . import local_intents
from .agent import loop
from .agent.parts import Done, Part, RoundStart, Said, Text
from .agent.trace import Trace
from .const import EVENT_TURN, LOGGER
from .message import Message

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .agent.profile import Profile
    from .agent_turn import AgentTurns
    from .commander import Commander
    from .costs import Costs
    from .fast_path.command import Command
    from .phrases import Phrases
    from .trace_files import TraceFiles
    from .workspace.sessions import Sessions


#: Ways a message is answered that stand in the session.
_RECORDED = frozenset({"agent", "fast_path", "local_intents"})

type Listener = Callable[[Message, Mapping[str, Any]], None]


@dataclass(slots=True)
class _Conversation:
    """What is kept of a conversation between its turns, in memory only."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    #: Commands of the fast path that the last answer asked the person about.
    pending: tuple[Command, ...] = ()
    #: Channels that the agent's last answer asked the person about.
    asked: frozenset[str] = frozenset()
    #: The last turn's lines on their way to the disk: the reply does not wait for it.
    writing: asyncio.Task[None] | None = None

    @property
    def waits(self) -> bool:
        """Tell whether the next message may be an answer to a question of ours."""
        return bool(self.pending or self.asked)


@dataclass(slots=True)
class _Turn:
    """One message on its way to an answer."""

    message: Message
    conversation: _Conversation
    trace: Trace = field(default_factory=Trace)
    spoken: list[str] = field(default_factory=list)
    #: The person's words stand in the session already.
    recorded: bool = False


class Assistant:
    """Turns messages into replies: fast path first, then the agent."""

    def __init__(
        self,
        hass: HomeAssistant,
        agent: AgentTurns,
        sessions: Sessions,
        commander: Commander,
        phrases: Phrases,
        profile: Profile,
        costs: Costs,
        traces: TraceFiles,
        *,
        use_local_intents: bool = True,
    ) -> None:
        """Take who answers: the fast path's commander, then the agent."""
        self._hass = hass
        self._agent = agent
        self._sessions = sessions
        self._commander = commander
        self._phrases = phrases
        self._profile = profile
        self._costs = costs
        self._traces = traces
        self._local_intents = use_local_intents
        self._conversations: dict[tuple[str, str], _Conversation] = defaultdict(
            _Conversation
        )
        self._listeners: list[Listener] = []
        self._writing: set[asyncio.Task[None]] = set()

    async def async_stop(self) -> None:
        """Let nothing that was said be lost; turns are ended by their callers."""
        await self.async_settled()

    async def handle(self, message: Message) -> AsyncGenerator[Part]:
        """Yield the parts of the reply, ending with Done.

        One turn at a time a conversation, others side by side. Closing the generator
        ends the turn and leaves the session whole.
        """
        room = _aside() if message.aside else self._turn_of(message)
        async with room as conversation:
            turn = _Turn(message, conversation)
            try:
                async with aclosing(self._parts(turn)) as parts:
                    async for part in parts:
                        said = part
                        if isinstance(part, Said):
                            after = bool(turn.spoken)
                            said = await self._say(message, part, after=after)
                        if isinstance(said, Text):
                            turn.spoken.append(said.text)
                        yield said
            except asyncio.CancelledError, GeneratorExit:
                turn.trace.outcome = "cancelled"
                raise
            finally:
                conversation.writing = self._write_later(turn)
            record = self._announce(message, turn.trace)
            yield Done(record)

    @asynccontextmanager
    async def _turn_of(self, message: Message) -> AsyncGenerator[_Conversation]:
        """Wait for the conversation's turn; forget the conversation when it is idle."""
        conversation = self._conversations[message.key]
        conversation.users += 1
        try:
            async with conversation.lock:
                await self._written(conversation)
                yield conversation
        finally:
            conversation.users -= 1
            self._forget_if_idle(message.key)

    def _forget_if_idle(self, key: tuple[str, str]) -> None:
        """Keep nothing of a conversation that waits for nobody and nothing."""
        conversation = self._conversations.get(key)
        if conversation is None or conversation.users or conversation.waits:
            return
        if conversation.writing is None or conversation.writing.done():
            del self._conversations[key]

    async def _written(self, conversation: _Conversation) -> None:
        """Wait until the last turn's lines are on the disk."""
        if conversation.writing is not None:
            await asyncio.wait([conversation.writing])
            conversation.writing = None

    async def async_settled(self) -> None:
        """Wait until the lines of all turns that have ended are on the disk."""
        if self._writing:
            await asyncio.wait(list(self._writing))

    async def _parts(self, turn: _Turn) -> AsyncGenerator[Part]:
        """Choose who answers."""
        message, conversation, trace = turn.message, turn.conversation, turn.trace
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
            if self._local_intents and not (asked or message.images):
                local = await local_intents.async_answer(
                    self._hass,
                    message,
                    self._commander.names,
                    has_model=self._agent.has_model,
                )
                if local is not None:
                    trace.path = "local_intents"
                    trace.text_seen()
                    yield RoundStart()
                    yield Text(local)
                    return
        if self._costs.exhausted and self._agent.has_model:
            trace.outcome = "budget"
            yield Said("budget_spent", {"budget": f"{self._costs.budget:.2f}"})
            return
        confirmed = (
            asked if self._commander.is_yes(message.text, message.language) else ()
        )
        context = self._agent.context(message, frozenset(confirmed), trace)
        prepared = await self._agent.prepare(message, context, trace)
        # A model may take long: what the person said goes to the disk while it is
        # asked, and is there before the first word of the answer.
        recording = self._hass.async_create_task(
            self._record(message, "user", message.text), "mimiclaw session"
        )
        turn.recorded = True
        ahead = self._own(self._agent.read_ahead(context, message.text))
        try:
            async with aclosing(loop.run(prepared)) as parts:
                async for part in parts:
                    if not isinstance(part, RoundStart):
                        await recording
                    yield part
        finally:
            ahead.cancel()
        conversation.asked = frozenset(context.asked)

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

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let work go on beside a turn; a stop waits for it."""
        task = self._hass.async_create_task(work, "mimiclaw read ahead")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    def _write_later(self, turn: _Turn) -> asyncio.Task[None]:
        """Write the turn's lines down beside what comes next; a stop waits for it."""
        task = self._hass.async_create_task(
            self._write_down(turn), "mimiclaw session", eager_start=False
        )
        self._writing.add(task)

        def done(ended: asyncio.Task[None]) -> None:
            self._writing.discard(ended)
            self._forget_if_idle(turn.message.key)

        task.add_done_callback(done)
        return task

    async def _write_down(self, turn: _Turn) -> None:
        """Write down what was said, however the turn ended."""
        message, spoken = turn.message, "".join(turn.spoken)
        if turn.trace.path in _RECORDED:
            if not turn.recorded:
                await self._record(message, "user", message.text)
            if spoken:
                await self._record(message, "assistant", spoken)
        await asyncio.to_thread(
            self._traces.write, message, turn.trace, spoken, dt_util.now()
        )

    def _announce(self, message: Message, trace: Trace) -> dict[str, Any]:
        """Fire the record of the turn. It holds no text of the conversation."""
        record = {
            "channel": message.channel,
            "conversation_id": message.conversation_id,
            "speaker": message.speaker.person,
            "language": message.language,
            "cost_usd": self._costs.book(trace, message.speaker.person),
            **trace.as_dict(),
        }
        for line in trace.lines:
            LOGGER.debug("%s", line)
        self._hass.bus.async_fire(EVENT_TURN, record, context=message.context)
        for listener in list(self._listeners):
            listener(message, record)
        return record

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call with message and record after every turn; return what ends it."""
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
