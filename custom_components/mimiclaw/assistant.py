"""The door: every message from every channel becomes a turn here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import partial
import time
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback

from . import local_intents
from .agent import loop
from .agent.parts import Done, Part, RoundStart, Said, Text
from .const import EVENT_TURN, LOGGER
from .message import Message
from .open_conversations import OpenConversations
from .open_question import question_to
from .turn_writer import Turn, TurnWriter

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .agent.profile import Profile
    from .agent.trace import Trace
    from .agent_turn import AgentTurns
    from .commander import Commander
    from .costs import Costs
    from .phrases import Phrases
    from .tools.consent import Consent
    from .trace_files import TraceFiles
    from .workspace.sessions import Sessions


#: Seconds that a stop waits for turns to say their last sentence.
STOP_S: Final = 2.0

type Listener = Callable[[Message, Mapping[str, Any]], None]


class _StoppedError(Exception):
    """The assistant is unloaded in the middle of a turn."""


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
        self._commander = commander
        self._phrases = phrases
        self._profile = profile
        self._costs = costs
        self._writer = TurnWriter(hass, sessions, traces)
        self._local_intents = use_local_intents
        self._conversations = OpenConversations()
        self._listeners: list[Listener] = []
        self._turns: set[Turn] = set()
        self._idle = asyncio.Event()
        self._stopped = False

    async def async_stop(self) -> None:
        """End every turn with a sentence, and let nothing that was said be lost."""
        self._stopped = True
        now, here = self._hass.loop.time(), asyncio.current_task()
        for turn in self._turns:
            # A turn whose own tool unloads us would end the unloading.
            if turn.patience is not None and turn.task is not here:
                turn.patience.reschedule(now)
        if any(turn.task is not here for turn in self._turns):
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_S):
                    await self._idle.wait()
        await self.async_settled()

    async def async_settled(self) -> None:
        """Wait until the lines of all turns that have ended are on the disk."""
        await self._writer.async_settled()

    async def handle(self, message: Message) -> AsyncGenerator[Part]:
        """Yield the parts of the reply, ending with Done.

        One turn at a time a conversation, others side by side. Closing the generator
        ends the turn and leaves the session whole.
        """
        arrived = time.monotonic()
        message = message.sound(self._hass.config.language)
        async with self._conversations.turn_of(message) as conversation:
            turn = Turn(message, conversation, arrived)
            self._turns.add(turn)
            self._idle.clear()
            try:
                async with aclosing(self._guarded(turn)) as parts:
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
                # What was asked of a model so far has to be paid all the same.
                self._costs.book(turn.trace, message.speaker.person)
                raise
            finally:
                forget = partial(self._conversations.forget_if_idle, message.key)
                conversation.writing = self._writer.finish(turn, forget)
                self._turns.discard(turn)
                if not self._turns:
                    self._idle.set()
            record = self._announce(message, turn.trace)
            yield Done(record)

    async def _guarded(self, turn: Turn) -> AsyncGenerator[Part]:
        """Give the parts of a turn; whatever goes wrong in it is a sentence."""
        async with aclosing(self._parts(turn)) as parts:
            while True:
                try:
                    part = await self._next(turn, parts)
                except _StoppedError:
                    turn.trace.outcome = "stopped"
                    yield Said("turn_stopped")
                    return
                except Exception:  # noqa: BLE001  the person hears of it, the log has the rest
                    LOGGER.exception("A turn of %s failed", turn.message.channel)
                    turn.trace.outcome = "failed"
                    yield Said("turn_failed")
                    return
                if part is None:
                    return
                yield part

    async def _next(self, turn: Turn, parts: AsyncGenerator[Part]) -> Part | None:
        """Wait for the next part, None at the end. Raises _StoppedError at a stop."""
        if self._stopped:
            raise _StoppedError
        turn.task = asyncio.current_task()
        patience = turn.patience = asyncio.timeout(None)
        try:
            async with patience:
                return await anext(parts, None)
        except TimeoutError:
            if patience.expired():
                raise _StoppedError from None
            raise
        finally:
            turn.patience = None

    async def _parts(self, turn: Turn) -> AsyncGenerator[Part]:
        """Choose who answers."""
        message, conversation, trace = turn.message, turn.conversation, turn.trace
        question, conversation.question = conversation.question, None
        if question is not None and not question.is_for(message, turn.arrived):
            question = None
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
                message.text,
                message.language,
                message.area,
                question.commands if question else (),
            )
            if answer is not None:
                trace.path = "fast_path"
                conversation.question = question_to(message, answer.pending)
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
            asked = question is not None and question.consents
            if self._local_intents and not (asked or message.images):
                local = await local_intents.async_answer(
                    self._hass,
                    message,
                    self._commander.names,
                    self._commander.means_relay,
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
        confirmed: frozenset[Consent] = frozenset()
        if question and self._commander.is_yes(message.text, message.language):
            confirmed = question.consents
        async with aclosing(self._ask_agent(turn, confirmed)) as parts:
            async for part in parts:
                yield part

    async def _ask_agent(
        self, turn: Turn, confirmed: frozenset[Consent]
    ) -> AsyncGenerator[Part]:
        """Let the agent answer; what it asks the person is said in full."""
        message, trace = turn.message, turn.trace
        context = self._agent.context(message, confirmed, trace)
        prepared = await self._agent.prepare(message, context, trace)
        # A model may take long: what the person said goes to the disk while it is
        # asked, and is there before the first word of the answer.
        recording = self._writer.begin(turn)
        said: list[str] = []
        ahead = self._writer.own(self._agent.read_ahead(context, message.text))
        try:
            async with aclosing(loop.run(prepared)) as parts:
                async for part in parts:
                    if isinstance(part, RoundStart):
                        said.clear()
                    else:
                        # The end of the turn must not take the record along.
                        await asyncio.shield(recording)
                    if isinstance(part, Text):
                        said.append(part.text)
                    yield part
        finally:
            ahead.cancel()
        consents: set[Consent] = set()
        for consent in sorted(context.asked, key=str):
            ask = self._commander.question(consent, message.language, "".join(said))
            if ask is not None:
                consents.add(consent)
            if ask:
                # A yes counts for what was heard, not for what a tool was asked.
                yield Text(f"\n\n{ask}" if said else ask)
        turn.conversation.question = question_to(message, consents=consents)

    async def _say(self, message: Message, said: Said, *, after: bool) -> Text:
        """Put one of our sentences into the listener's language."""
        text = await self._phrases.async_say(
            message.language, said.key, said.placeholders
        )
        return Text(f"\n\n{text}" if after else text)

    def _announce(self, message: Message, trace: Trace) -> dict[str, Any]:
        """Fire the record of the turn. It holds no text of the conversation."""
        record = {
            "channel": message.channel,
            "conversation_id": message.conversation_id,
            "speaker": message.speaker.person,
            "language": message.language,
            "cost_usd": self._costs.book(trace, message.speaker.person),
            **trace.as_dict(private=message.speaker.person is not None),
        }
        for line in record["trace"]:
            LOGGER.debug("%s", line)
        self._hass.bus.async_fire(EVENT_TURN, record, context=message.context)
        for listener in list(self._listeners):
            try:
                listener(message, record)
            except Exception:  # noqa: BLE001  the answer is said; it stands
                LOGGER.exception("What follows a turn failed")
        return record

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call with message and record after every turn; return what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


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
