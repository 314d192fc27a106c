"""A turn over the real wire: it ends in something that can be said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

import pytest

from custom_components.mimiclaw.agent import loop
from custom_components.mimiclaw.agent.parts import (
    Called,
    Calling,
    Part,
    RoundStart,
    Said,
    Text,
)
from custom_components.mimiclaw.agent.profile import FRONTIER, Profile
from custom_components.mimiclaw.agent.toolbox import OUT_OF_CALLS, Toolbox, by_name
from custom_components.mimiclaw.agent.trace import Trace
from custom_components.mimiclaw.providers.factory import create
from custom_components.mimiclaw.providers.failover import ProviderChain
from custom_components.mimiclaw.providers.protocol import (
    ProviderConfig,
    SystemPart,
    ToolSpec,
    UserMessage,
)
from custom_components.mimiclaw.tools.base import Tool, ToolContext, ToolError, schema
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.openai_server import RESPONSES, OpenAIServer
from tests.providers.wire.reply import Call, Reply
from tests.providers.wire.server import WireServer

type Play = Callable[..., Awaitable[tuple[list[Part], Trace, WireServer]]]


async def _look(arguments: Mapping[str, Any], _context: ToolContext) -> str:
    if arguments["what"] == "nothing":
        raise ToolError("There is nothing of that name.")
    if arguments["what"] == "slow":
        await asyncio.sleep(60)
    return f"a {arguments['what']}"


LOOK = Tool(
    ToolSpec(
        "look", "Look at a thing.", schema({"what": {"type": "string"}}, ("what",))
    ),
    _look,
    reads_only=True,
)


@pytest.fixture(autouse=True)
def loopback(request: pytest.FixtureRequest) -> None:
    """Let the tests use sockets, where Home Assistant's plugin forbids them."""
    if request.config.pluginmanager.has_plugin("homeassistant"):
        request.getfixturevalue("socket_enabled")


@pytest.fixture(params=["anthropic", "openai"])
async def play(
    request: pytest.FixtureRequest, context_of: Callable[..., ToolContext]
) -> AsyncIterator[Play]:
    """Play a turn against a server that answers as scripted."""
    kind: str = request.param
    async with AsyncExitStack() as stack:

        async def run(
            *script: Any, profile: Profile = FRONTIER
        ) -> tuple[list[Part], Trace, WireServer]:
            server: WireServer
            if kind == "anthropic":
                server = AnthropicServer(script)
            else:
                server = OpenAIServer(script, lacks={RESPONSES})
            await stack.enter_async_context(server)
            config = ProviderConfig(
                kind=kind,  # type: ignore[arg-type]
                name="Test",
                model="model-1",
                api_key="key",
                base_url=server.url + ("/v1" if kind == "openai" else ""),
            )
            chain = ProviderChain([await create(config)])
            stack.push_async_callback(chain.aclose)
            trace = Trace()
            turn = loop.Turn(
                provider=chain,
                profile=profile,
                toolbox=Toolbox(by_name([LOOK]), context_of(), profile, trace),
                trace=trace,
                system=(SystemPart("Be brief."),),
                history=(),
                message=UserMessage("What is there?"),
                language="en",
            )
            async with aclosing(loop.run(turn)) as parts:
                return [part async for part in parts], trace, server

        yield run


def spoken(parts: list[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def said(parts: list[Part]) -> list[str]:
    return [part.key for part in parts if isinstance(part, Said)]


async def test_an_answer_without_tools(play: Play) -> None:
    parts, trace, server = await play(Reply(text="A cat."))
    assert isinstance(parts[0], RoundStart)
    assert spoken(parts) == "A cat."
    assert trace.rounds == 1
    assert trace.first_text_ms is not None
    assert trace.usage.output_tokens == 20
    assert len(server.asked) == 1


async def test_tool_calls_and_their_results_reach_the_model(play: Play) -> None:
    both = (Call("look", {"what": "cat"}, "one"), Call("look", {"what": "dog"}, "two"))
    parts, trace, server = await play(Reply(calls=both), Reply(text="Both."))
    kinds = [type(part) for part in parts]
    assert kinds[:6] == [RoundStart, Calling, Calling, Called, Called, RoundStart]
    assert spoken(parts) == "Both."
    assert [line.tool for line in trace.lines] == ["look", "look"]
    second = str(server.asked[1])
    assert "a cat" in second
    assert "a dog" in second


async def test_out_of_calls_one_last_answer_without_tools(play: Play) -> None:
    profile = replace(FRONTIER, tool_calls=2)
    calls = [
        Reply(calls=(Call("look", {"what": f"thing {number}"}, f"c{number}"),))
        for number in range(2)
    ]
    parts, trace, server = await play(*calls, Reply(text="Enough."), profile=profile)
    assert spoken(parts) == "Enough."
    assert trace.rounds == 3
    choice = server.asked[-1]["tool_choice"]
    assert choice == "none" or choice["type"] == "none"


async def test_calls_over_the_cap_in_one_reply_are_told_so(play: Play) -> None:
    profile = replace(FRONTIER, tool_calls=1)
    both = (Call("look", {"what": "cat"}, "one"), Call("look", {"what": "dog"}, "two"))
    parts, _, _ = await play(Reply(calls=both), Reply(text="One."), profile=profile)
    results = [part.text for part in parts if isinstance(part, Called)]
    assert results == ["a cat", OUT_OF_CALLS]
    assert spoken(parts) == "One."


async def test_a_model_that_only_calls_gets_a_sentence_said(play: Play) -> None:
    profile = replace(FRONTIER, tool_calls=1)
    call = Reply(calls=(Call("look", {"what": "cat"}, "one"),))
    parts, trace, _ = await play(call, Reply(), profile=profile)
    assert said(parts) == ["no_answer"]
    assert trace.outcome == "empty"


async def test_unknown_tool_and_broken_arguments(play: Play) -> None:
    calls = (Call("fly", {}, "one"), Call("look", call_id="two", raw='{"what": '))
    parts, _, _ = await play(Reply(calls=calls), Reply(text="Sorry."))
    results = [part.text for part in parts if isinstance(part, Called)]
    assert "There is no tool fly" in results[0]
    assert "no JSON object" in results[1]
    assert spoken(parts) == "Sorry."


async def test_one_error_repeated_three_times_ends_the_attempts(play: Play) -> None:
    calls = [
        Reply(calls=(Call("look", {"what": "nothing"}, f"c{number}"),))
        for number in range(3)
    ]
    parts, trace, _ = await play(*calls, Reply())
    assert trace.rounds == 4
    assert said(parts) == ["tool_stuck"]


@pytest.mark.parametrize(
    ("reply", "key"),
    [
        (Reply(status=401, error=("authentication_error", "bad key")), "provider_key"),
        (
            Reply(status=404, error=("not_found_error", "no model")),
            "provider_not_found",
        ),
        (Reply(page=b"<html>hello</html>"), "provider_malformed"),
    ],
)
async def test_a_failing_provider_is_a_sentence(
    play: Play, reply: Reply, key: str
) -> None:
    parts, _, _ = await play(*[reply] * 4)
    assert said(parts) == [key]


async def test_at_the_deadline_what_is_known_is_said(play: Play) -> None:
    profile = replace(FRONTIER, turn_deadline_s=0.4, last_answer_s=0.1)
    parts, trace, server = await play(Reply(hang=True), profile=profile)
    assert said(parts)[0] in {"turn_deadline", "provider_timeout"}
    assert trace.outcome in {"deadline", "timeout"}
    await server.idle()
    assert server.broken_off


async def test_a_tool_that_hangs_does_not_hold_the_turn(play: Play) -> None:
    profile = replace(FRONTIER, turn_deadline_s=0.6, last_answer_s=0.1)
    call = Reply(calls=(Call("look", {"what": "slow"}, "one"),))
    parts, _, _ = await play(call, profile=profile)
    assert said(parts) == ["turn_deadline"]


async def test_closing_the_turn_stops_the_stream(
    context_of: Callable[..., ToolContext],
) -> None:
    async with AnthropicServer([Reply(text="word " * 500, pause_s=0.01)]) as server:
        config = ProviderConfig("anthropic", "Test", "m", "key", server.url)
        provider = await create(config)
        trace = Trace()
        turn = loop.Turn(
            provider=provider,
            profile=FRONTIER,
            toolbox=Toolbox({}, context_of(), FRONTIER, trace),
            trace=trace,
            system=(),
            history=(),
            message=UserMessage("Talk."),
            language="en",
        )
        async with aclosing(loop.run(turn)) as parts:
            async for part in parts:
                if isinstance(part, Text):
                    break
        await server.idle()
        assert server.broken_off
        await provider.aclose()


async def test_a_call_printed_as_text_is_made_and_never_spoken(play: Play) -> None:
    printed = '<tool_call>{"name": "look", "arguments": {"what": "cat"}}</tool_call>'
    parts, trace, _ = await play(Reply(text=f"I look. {printed}"), Reply(text="A cat."))
    assert spoken(parts) == "I look. A cat."
    assert [line.tool for line in trace.lines] == ["look"]


async def test_a_turn_too_long_for_the_model_is_made_shorter(play: Play) -> None:
    too_long = Reply(
        status=400,
        error=("invalid_request_error", "prompt is too long: 210000 tokens > 200000"),
    )
    call = Reply(calls=(Call("look", {"what": "cat " * 500}, "one"),))
    parts, trace, server = await play(call, too_long, too_long, Reply(text="Shorter."))
    assert spoken(parts) == "Shorter."
    assert "left out to make room" in str(server.asked[-1])
    assert trace.outcome == "answered"
