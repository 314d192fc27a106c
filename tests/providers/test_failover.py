"""Who answers when somebody does not."""

from __future__ import annotations

from collections.abc import AsyncGenerator
import contextlib
from typing import Any

import pytest

from custom_components.mimiclaw.providers.failover import ProviderChain
from custom_components.mimiclaw.providers.protocol import (
    ErrorKind,
    Event,
    Provider,
    ProviderError,
    Request,
    Switched,
    ToolCall,
)

from .conftest import WEATHER, Maker, ask, collect, text_of
from .wire.reply import Call, Reply

BUSY = Reply(status=529, error=("overloaded_error", "Busy"))


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def pair(
    make: Maker, clock: Clock, *script: Reply
) -> tuple[Any, Any, ProviderChain]:
    """Return a server that plays the script, one that is well, and their chain."""
    first, one = await make("anthropic", *script, config={"name": "One"})
    second, two = await make("chat", config={"name": "Two", "model": "model-2"})
    return first, second, ProviderChain([one, two], clock)


def switches(events: list[Event]) -> list[Switched]:
    return [event for event in events if isinstance(event, Switched)]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (BUSY, ErrorKind.OVERLOAD),
        (Reply(status=429, error=("rate_limit_error", "W")), ErrorKind.RATE),
        (Reply(status=402, error=("billing_error", "W")), ErrorKind.QUOTA),
        (Reply(hang=True), ErrorKind.TIMEOUT),
        (Reply(cut_after=1, abort=True), ErrorKind.NETWORK),
        (Reply(cut_after=1), ErrorKind.MALFORMED),
    ],
)
async def test_the_next_one_answers_and_says_so(
    make: Maker, clock: Clock, reply: Reply, kind: ErrorKind
) -> None:
    first, second, chain = await pair(make, clock, reply)
    events = await collect(chain, ask(deadline_s=0.5, retries=2))
    (switch,) = switches(events)
    assert (switch.provider, switch.model, switch.restarted, switch.announce) == (
        "Two", "model-2", False, True,
    )  # fmt: skip
    assert switch.error.kind is kind
    assert text_of(events) == "You said: Hello"
    # With somebody else to ask, nobody waits for a second try.
    assert len(first.asked) == 1
    assert len(second.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 413])
async def test_what_the_owner_must_mend_is_said(
    make: Maker, clock: Clock, status: int
) -> None:
    reply = Reply(status=status, error=("x", "y"))
    _, second, chain = await pair(make, clock, reply)
    with pytest.raises(ProviderError) as caught:
        await collect(chain, ask())
    assert caught.value.provider == "One"
    assert not second.asked


async def test_a_broken_answer_is_begun_anew(make: Maker, clock: Clock) -> None:
    reply = Reply(text="The boiler was serviced on", cut_after=5, abort=True)
    _, _, chain = await pair(make, clock, reply)
    events = await collect(chain, ask())
    (switch,) = switches(events)
    assert switch.restarted
    position = events.index(switch)
    assert text_of(events[:position]) == "The boiler was s"
    assert text_of(events[position:]) == "You said: Hello"


async def test_a_call_in_a_broken_answer_is_not_carried_out(
    make: Maker, clock: Clock
) -> None:
    calls = (Call("get_weather", {"city": "a"}), Call("get_weather", {"city": "b"}))
    _, _, chain = await pair(make, clock, Reply(calls=calls, piece=99, cut_after=7))
    events = await collect(chain, ask(tools=(WEATHER,)))
    assert not [event for event in events if isinstance(event, ToolCall)]
    assert not switches(events)[0].restarted


async def test_an_outage_is_told_once(make: Maker, clock: Clock) -> None:
    first, _, chain = await pair(make, clock, *[BUSY] * 5)
    told = []
    for _ in range(4):
        events = await collect(chain, ask())
        told += [switch.announce for switch in switches(events)]
        clock.now += 1
    assert told == [True, False, False, False]
    # Two failures in a row, then it is left alone.
    assert len(first.asked) == 2
    assert chain.resting() == ["One"]


async def test_a_rest_ends_with_one_trial(make: Maker, clock: Clock) -> None:
    first, _, chain = await pair(make, clock, BUSY, BUSY, BUSY)
    for _ in range(3):
        await collect(chain, ask())
    assert len(first.asked) == 2
    clock.now += 31
    assert switches(await collect(chain, ask()))
    assert len(first.asked) == 3
    # The trial failed: the next rest is twice as long.
    clock.now += 31
    await collect(chain, ask())
    assert len(first.asked) == 3
    clock.now += 31
    events = await collect(chain, ask())
    assert not switches(events)
    assert len(first.asked) == 4
    assert chain.resting() == []


async def test_only_one_is_let_through_on_trial(make: Maker, clock: Clock) -> None:
    first, second, chain = await pair(make, clock, BUSY, BUSY, Reply(text="I am back"))
    for _ in range(2):
        await collect(chain, ask())
    clock.now += 31
    trial = chain.stream(ask())
    await anext(trial)
    before = len(second.asked)
    assert switches(await collect(chain, ask()))
    assert len(second.asked) == before + 1
    await trial.aclose()
    assert not switches(await collect(chain, ask()))
    assert first.open_streams == 0


async def test_a_stated_pause_is_kept(make: Maker, clock: Clock) -> None:
    reply = Reply(
        status=429, error=("rate_limit_error", "W"), headers={"retry-after": "120"}
    )
    first, _, chain = await pair(make, clock, reply)
    await collect(chain, ask())
    clock.now += 119
    await collect(chain, ask())
    assert len(first.asked) == 1
    clock.now += 2
    await collect(chain, ask())
    assert len(first.asked) == 2


async def test_all_fail(make: Maker, clock: Clock) -> None:
    _, one = await make("anthropic", BUSY, config={"name": "One"})
    _, two = await make(
        "chat", Reply(status=401, error=("a", "b")), config={"name": "Two"}
    )
    chain = ProviderChain([one, two], clock)
    with pytest.raises(ProviderError) as caught:
        await collect(chain, ask())
    assert caught.value.provider == "One"


async def test_a_third_answers_when_the_second_has_a_wrong_key(
    make: Maker, clock: Clock
) -> None:
    _, one = await make("anthropic", BUSY, config={"name": "One"})
    _, two = await make(
        "chat", Reply(status=401, error=("a", "b")), config={"name": "Two"}
    )
    _, three = await make("responses", config={"name": "Three"})
    events = await collect(ProviderChain([one, two, three], clock), ask())
    assert [switch.provider for switch in switches(events)] == ["Two", "Three"]
    assert text_of(events) == "You said: Hello"


async def test_everybody_rests_and_somebody_is_asked(make: Maker, clock: Clock) -> None:
    _, one = await make("anthropic", BUSY, BUSY, config={"name": "One"})
    chain = ProviderChain([one], clock)
    for _ in range(2):
        with pytest.raises(ProviderError):
            await collect(chain, ask())
    assert chain.resting() == ["One"]
    assert text_of(await collect(chain, ask())) == "You said: Hello"
    assert chain.resting() == []


async def test_switching_while_running(make: Maker, clock: Clock) -> None:
    first, second, chain = await pair(make, clock)
    assert (chain.active, chain.names) == ("One", ["One", "Two"])
    under_way = chain.stream(ask())
    await anext(under_way)
    chain.switch("Two")
    assert (chain.active, chain.config.model) == ("Two", "model-2")
    events = await collect(chain, ask())
    assert not switches(events)
    assert len(second.asked) == 1
    async with contextlib.aclosing(under_way):
        rest = [event async for event in under_way]
    assert rest[-1].__class__.__name__ == "Stop"
    with pytest.raises(KeyError):
        chain.switch("Three")
    assert len(first.asked) == 1


async def test_the_chosen_one_is_asked_even_if_it_rested(
    make: Maker, clock: Clock
) -> None:
    first, _, chain = await pair(make, clock, BUSY, BUSY)
    for _ in range(2):
        await collect(chain, ask())
    chain.switch("One")
    assert not switches(await collect(chain, ask()))
    assert len(first.asked) == 3


async def test_cancelling_a_trial_frees_it(make: Maker, clock: Clock) -> None:
    first, _, chain = await pair(
        make, clock, BUSY, BUSY, Reply(text="word " * 500, pause_s=0.02)
    )
    for _ in range(2):
        await collect(chain, ask())
    clock.now += 31
    stream: AsyncGenerator[Event] = chain.stream(ask())
    await anext(stream)
    await stream.aclose()
    await first.idle()
    assert chain.resting() == []


def test_a_chain_needs_a_provider() -> None:
    with pytest.raises(ValueError, match="provider"):
        ProviderChain([])


async def test_a_chain_is_a_provider(make: Maker, clock: Clock) -> None:
    _, _, chain = await pair(make, clock)
    provider: Provider = chain
    request: Request = ask()
    assert text_of(await collect(provider, request)) == "You said: Hello"
    await provider.check()
