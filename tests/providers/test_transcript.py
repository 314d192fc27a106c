"""Whatever a crash left in a conversation, the providers get a valid one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.mimiclaw.providers.protocol import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from custom_components.mimiclaw.providers.transcript import INTERRUPTED, valid

from .conftest import WEATHER, Maker, ask, collect

CALL = ToolCall("c1", "get_weather", {"city": "Bonn"})
RESULT = ToolResultMessage("c1", "get_weather", "12 °C")
HELLO = UserMessage("Hello")


def test_a_missing_result_is_filled_in() -> None:
    out = valid([HELLO, AssistantMessage("", (CALL,)), UserMessage("Well?")])
    assert out[2] == ToolResultMessage("c1", "get_weather", INTERRUPTED, True)
    assert out[3] == UserMessage("Well?")


def test_a_result_without_a_call_is_left_out() -> None:
    assert valid([HELLO, RESULT, AssistantMessage("Hi"), RESULT]) == [
        HELLO,
        AssistantMessage("Hi"),
    ]


def test_results_stand_in_the_order_of_the_calls() -> None:
    other = ToolCall("c2", "get_weather", {})
    late = ToolResultMessage("c2", "get_weather", "b")
    again = ToolResultMessage("c1", "get_weather", "another")
    out = valid([HELLO, AssistantMessage("", (CALL, other)), late, RESULT, again])
    assert out[2:] == [RESULT, late]


def test_the_person_begins() -> None:
    assert valid(
        [AssistantMessage("Hi"), AssistantMessage("", (CALL,)), RESULT, HELLO]
    ) == [HELLO]


def test_two_in_a_row_become_one() -> None:
    out = valid([HELLO, UserMessage("?"), AssistantMessage("a"), AssistantMessage("b")])
    assert out == [UserMessage("Hello\n\n?"), AssistantMessage("a\n\nb")]


def test_nothing_said_is_nothing() -> None:
    assert valid([UserMessage(" \n"), HELLO, AssistantMessage("  ")]) == [HELLO]


IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(UserMessage, st.sampled_from(["", " ", "Hi", "ü"])),
        st.builds(
            AssistantMessage,
            st.sampled_from(["", "Yes", "\n"]),
            st.lists(
                st.builds(
                    ToolCall,
                    IDS,
                    st.just("get_weather"),
                    st.sampled_from([None, {}, {"city": "x"}]),
                ),
                max_size=3,
            ).map(tuple),
        ),
        st.builds(
            ToolResultMessage, IDS, st.just("get_weather"), st.sampled_from(["", "r"])
        ),
    ),
    max_size=9,
)


@given(MESSAGES)
def test_it_is_valid_once_and_for_all(messages: list[ChatMessage]) -> None:
    out = valid(messages)
    assert valid(out) == out
    assert not out or isinstance(out[0], UserMessage)


@settings(max_examples=25, deadline=None)
@given(messages=MESSAGES)
def test_strict_servers_take_it(messages: list[ChatMessage]) -> None:
    """The loopback servers judge as the real APIs do: each format, any wreck."""
    import asyncio

    asyncio.run(_offer((*messages, UserMessage("And now?"))))


async def _offer(messages: tuple[ChatMessage, ...]) -> None:
    from custom_components.mimiclaw.providers.factory import create
    from custom_components.mimiclaw.providers.protocol import ProviderConfig

    from .wire.anthropic_server import AnthropicServer
    from .wire.openai_server import OpenAIServer

    request = ask(messages=messages, tools=(WEATHER,))
    async with AnthropicServer() as one, OpenAIServer() as two:
        for config in (
            ProviderConfig("anthropic", "T", "m", "k", one.url),
            ProviderConfig("openai", "T", "m", "k", two.base_url, wire="chat"),
            ProviderConfig("openai", "T", "m", "k", two.base_url, wire="responses"),
        ):
            provider = await create(config)
            await collect(provider, request)
            await provider.aclose()


async def test_the_call_that_was_cut_off(make: Maker, wire: str) -> None:
    """A follow-up in the middle of a turn leaves a call without a result."""
    server, provider = await make(wire)
    messages = (HELLO, AssistantMessage("I look.", (CALL,)), UserMessage("Stop"))
    await collect(provider, ask(messages=messages, tools=(WEATHER,)))
    assert INTERRUPTED in server.requests[-1].raw.decode()
