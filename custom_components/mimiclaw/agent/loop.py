"""One turn: ask the model, run what it calls, until it answers.

Whatever happens on the way, the turn ends in something that can be said.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
import logging
import time

from ..providers.protocol import (
    AssistantMessage,
    ChatMessage,
    ErrorKind,
    Event,
    Native,
    Provider,
    ProviderError,
    Request,
    Stop,
    StopReason,
    Switched,
    SystemPart,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from .parts import Called, Calling, Part, RoundStart, Said, Text, Thinking
from .printed_calls import PrintedCalls
from .profile import Profile
from .shrink import ATTEMPTS, shrink
from .toolbox import Toolbox
from .trace import Trace

_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class Turn:
    """Everything one turn of the agent needs."""

    provider: Provider
    profile: Profile
    toolbox: Toolbox
    trace: Trace
    system: tuple[SystemPart, ...]
    history: tuple[ChatMessage, ...]
    message: UserMessage
    language: str
    cache_key: str = "mimiclaw"


@dataclass(slots=True)
class _Round:
    """What one request gave."""

    printed: PrintedCalls
    text: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    native: Native | None = None
    stop: StopReason = StopReason.END

    def message(self) -> AssistantMessage:
        """Return what goes back to the model with the results of its calls."""
        return AssistantMessage("".join(self.text), tuple(self.calls), self.native)

    def close(self) -> str:
        """Return what was held back and may be spoken; take the calls from the rest."""
        left, calls = self.printed.end()
        if not self.calls:
            self.calls.extend(calls)
        if left:
            self.text.append(left)
        return left


async def run(turn: Turn) -> AsyncGenerator[Part]:
    """Yield the parts of the answer, in order.

    Closing the generator stops the provider's stream. No exception leaves it but
    cancellation.
    """
    ends = time.monotonic() + turn.profile.turn_deadline_s
    messages: list[ChatMessage] = [*turn.history, turn.message]
    shrunk = 0
    turn.trace.provider = turn.provider.config.name
    turn.trace.model = turn.provider.config.model
    spoken = False
    try:
        while True:
            last = (
                turn.toolbox.spent
                or bool(turn.toolbox.stuck)
                or time.monotonic() > ends - turn.profile.last_answer_s
            )
            given = partial(_given, turn.system, messages)
            result = _Round(PrintedCalls(turn.toolbox.tools, given))
            yield RoundStart()
            try:
                asked = _ask(turn, tuple(messages), ends, last=last)
                async with aclosing(asked) as events:
                    async for event in events:
                        part = _take(event, result, turn.trace)
                        if part is not None:
                            spoken = spoken or isinstance(part, Text)
                            yield part
            except ProviderError as err:
                if err.kind is not ErrorKind.CONTEXT or shrunk >= ATTEMPTS or spoken:
                    raise
                shrunk += 1
                place = _place(messages, turn.message)
                messages = shrink(messages, place, shrunk)
                continue
            if left := result.close():
                spoken = True
                yield Text(left)
            if last or not result.calls:
                if not "".join(result.text).strip():
                    turn.trace.outcome = "empty"
                    yield _empty(turn, result)
                return
            messages.append(result.message())
            for call in result.calls:
                yield Calling(call)
            async with asyncio.timeout(max(0.0, ends - time.monotonic())):
                outcomes = await turn.toolbox.run_all(result.calls)
            for call, outcome in zip(result.calls, outcomes, strict=True):
                yield Called(call, outcome.text, outcome.is_error)
                messages.append(
                    ToolResultMessage(
                        call.call_id, call.name, outcome.text, outcome.is_error
                    )
                )
    except ProviderError as err:
        _LOGGER.warning("The turn ended early: %s", err)
        turn.trace.outcome = err.kind.value
        turn.trace.failed.append((err.provider, err.kind.value))
        yield _failure(err)
    except TimeoutError:
        _LOGGER.warning(
            "The turn of %s was not done in %.0f s",
            turn.provider.config.name,
            turn.profile.turn_deadline_s,
        )
        turn.trace.outcome = "deadline"
        yield Said("turn_deadline_spoken" if spoken else "turn_deadline")


def _given(system: Sequence[SystemPart], messages: Sequence[ChatMessage]) -> list[str]:
    """Return every text that the model has read: what repeats one is a quotation."""
    return [one.text for one in (*system, *messages)]


def _place(messages: Sequence[ChatMessage], own: ChatMessage) -> int:
    """Return where the person's own message stands."""
    return next(place for place, one in enumerate(messages) if one is own)


async def _ask(
    turn: Turn, messages: tuple[ChatMessage, ...], ends: float, *, last: bool
) -> AsyncGenerator[Event]:
    """Ask once; raise TimeoutError when the turn's time is over."""
    request = Request(
        system=turn.system,
        messages=messages,
        tools=turn.toolbox.specs,
        tool_choice="none" if last else "auto",
        max_output_tokens=turn.profile.max_output_tokens,
        cache_key=turn.cache_key,
        deadline_s=max(0.1, ends - time.monotonic()),
        language=turn.language,
    )
    turn.trace.rounds += 1
    async with aclosing(turn.provider.stream(request)) as stream:
        while True:
            # Only the wait is under the clock: the listener may take its time.
            async with asyncio.timeout(max(0.0, ends - time.monotonic())):
                event = await anext(stream, None)
            if event is None:
                return
            yield event


def _take(event: Event, result: _Round, trace: Trace) -> Part | None:
    """Keep what the event brings; return what is to be heard of it."""
    match event:
        case TextDelta() if text := result.printed.feed(event.text):
            result.text.append(text)
            trace.text_seen()
            return Text(text)
        case ThinkingDelta(text=text) if text:
            return Thinking(text)
        case ToolCall():
            result.calls.append(event)
        case Native():
            result.native = event
        case Usage():
            trace.spent(event)
        case Stop(reason=reason):
            result.stop = reason
        case Switched():
            return _switched(event, result, trace)
        case _:
            pass
    return None


def _switched(event: Switched, result: _Round, trace: Trace) -> Part | None:
    """Note who answers now; say it once, and that a broken answer begins anew."""
    trace.provider = event.provider
    trace.model = event.model
    trace.switched.append(str(event.error))
    trace.failed.append((event.error.provider, event.error.kind.value))
    # What the first one said does not count: the next one begins from the start.
    result.text.clear()
    result.calls.clear()
    result.native = None
    if event.restarted or event.announce:
        key = "provider_restarted" if event.restarted else "provider_switched"
        return Said(key, {"failed": event.error.provider, "provider": event.provider})
    return None


def _empty(turn: Turn, result: _Round) -> Said:
    """Say why there is no answer: never an empty bubble."""
    if stuck := turn.toolbox.stuck:
        return Said("tool_stuck", {"error": stuck})
    if result.stop is StopReason.REFUSAL:
        return Said("provider_refused", {"provider": turn.provider.config.name})
    return Said("no_answer")


def _failure(err: ProviderError) -> Said:
    return Said(
        f"provider_{err.kind.value}",
        {
            "provider": err.provider,
            "status": str(err.status or "–"),
            "wait": str(round(err.retry_after_s or 0)),
        },
    )
