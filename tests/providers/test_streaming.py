"""Text, tool calls, thoughts and figures, as they come over the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from custom_components.mimiclaw.providers.protocol import (
    AssistantMessage,
    Event,
    Native,
    Stop,
    StopReason,
    SystemPart,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

from .conftest import WEATHER, Maker, ask, collect, text_of
from .wire.reply import Call, Reply


def only(events: Iterable[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def test_text_arrives_in_pieces_and_in_order(make: Maker, wire: str) -> None:
    _, provider = await make(
        wire, Reply(text="The boiler was serviced on 3 March.", piece=5)
    )
    events = await collect(provider, ask())
    assert text_of(events) == "The boiler was serviced on 3 March."
    assert len(only(events, TextDelta)) == 7
    assert events[-1] == Stop(StopReason.END)
    assert only(events, Usage)[0].output_tokens == 20


async def test_parallel_tool_calls(make: Maker, wire: str) -> None:
    calls = (
        Call("get_weather", {"city": "Köln"}, "a"),
        Call("get_weather", {"city": "東京"}, "b"),
    )
    _, provider = await make(wire, Reply(text="I look.", calls=calls, piece=3))
    events = await collect(provider, ask(tools=(WEATHER,)))
    found = only(events, ToolCall)
    assert [(call.call_id, call.arguments) for call in found] == [
        ("a", {"city": "Köln"}),
        ("b", {"city": "東京"}),
    ]
    assert events[-1] == Stop(StopReason.TOOL_USE)


async def test_split_at_every_byte(make: Maker, wire: str) -> None:
    """Send a stream byte by byte, and in two parts cut in odd places."""
    text = "Grüße 👋🏽 aus 東京 \u2028 a\u0085b\r\nc"
    calls = (Call("get_weather", {"city": 'Zürich "🏔"'}),)
    reply: dict[str, Any] = {"text": text, "calls": calls, "piece": 64}
    server, provider = await make(wire, Reply(**reply))
    whole = b"".join(
        server.events(_path(wire), {"model": "m", "messages": []}, Reply(**reply))
    )
    expected = await collect(provider, ask(tools=(WEATHER,)))
    assert text_of(expected) == text
    cuts = range(1, len(whole), len(whole) // 16)
    server.script.extend(
        [Reply(**reply, chunk=1), *(Reply(**reply, split_at=cut) for cut in cuts)]
    )
    while server.script:
        events = await collect(provider, ask(tools=(WEATHER,)))
        assert text_of(events) == text
        assert only(events, ToolCall) == only(expected, ToolCall)


def _path(wire: str) -> str:
    return "/v1/chat/completions" if wire == "chat" else "/v1/responses"


async def test_arguments_split_at_every_character(make: Maker, wire: str) -> None:
    call = Call("get_weather", {"city": 'a\\"b 🏔', "list": [1, {"x": None}]})
    server, provider = await make(wire)
    for piece in range(1, len(call.json) + 1):
        server.script.append(Reply(calls=(call,), piece=piece))
        events = await collect(provider, ask(tools=(WEATHER,)))
        assert only(events, ToolCall)[0].arguments == call.arguments


@pytest.mark.parametrize(
    "raw", ['{"city": ', "[1]", "no JSON", '"text"', "{'city': 1}", "[" * 100_000]
)
async def test_arguments_that_are_no_object(make: Maker, wire: str, raw: str) -> None:
    _, provider = await make(
        wire, Reply(calls=(Call("get_weather", raw=raw),), piece=50_000)
    )
    events = await collect(provider, ask(tools=(WEATHER,)))
    (call,) = only(events, ToolCall)
    assert call.arguments is None
    assert call.raw == raw


@pytest.mark.parametrize("raw", ["", "{}", " "])
async def test_no_arguments(make: Maker, wire: str, raw: str) -> None:
    _, provider = await make(wire, Reply(calls=(Call("get_time", raw=raw),)))
    events = await collect(provider, ask(tools=(WEATHER,)))
    assert only(events, ToolCall)[0].arguments == {}


async def test_a_call_and_its_result_go_back_as_the_format_wants(
    make: Maker, wire: str
) -> None:
    server, provider = await make(
        wire, Reply(calls=(Call("get_weather", {"city": "Bonn"}),)), Reply(text="Rain.")
    )
    first = await collect(provider, ask("Weather?", tools=(WEATHER,)))
    calls = tuple(only(first, ToolCall))
    second = await collect(
        provider,
        ask(
            tools=(WEATHER,),
            system=(SystemPart("You help."), SystemPart("It rains.", stable=False)),
            messages=(
                UserMessage("Weather?"),
                AssistantMessage("", calls),
                ToolResultMessage(calls[0].call_id, "get_weather", "12 °C"),
            ),
        ),
    )
    assert text_of(second) == "Rain."
    assert "12 °C" in server.requests[-1].raw.decode()


async def test_interleaved_thinking_goes_back_unchanged(make: Maker, wire: str) -> None:
    server, provider = await make(
        wire,
        Reply(
            thinking="The city is Bonn.",
            text="One moment.",
            calls=(Call("get_weather", {"city": "Bonn"}),),
        ),
        Reply(text="Rain."),
        config={"thinking": "low"},
    )
    first = await collect(provider, ask("Weather?", tools=(WEATHER,)))
    assert "".join(e.text for e in only(first, ThinkingDelta)) == "The city is Bonn."
    assert "Bonn" not in text_of(first)
    (native,) = only(first, Native)
    calls = tuple(only(first, ToolCall))
    await collect(
        provider,
        ask(
            tools=(WEATHER,),
            messages=(
                UserMessage("Weather?"),
                AssistantMessage("One moment.", calls, native),
                ToolResultMessage(calls[0].call_id, "get_weather", "12 °C"),
            ),
        ),
    )
    sent = server.asked[-1]
    if wire == "anthropic":
        blocks = sent["messages"][1]["content"]
        assert blocks[0] == {
            "type": "thinking",
            "thinking": "The city is Bonn.",
            "signature": "signed==",
        }
        assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use"]
        assert blocks[2]["input"] == {"city": "Bonn"}
    elif wire == "chat":
        assert sent["messages"][1]["reasoning_content"] == "The city is Bonn."
    else:
        kinds = [item.get("type") for item in sent["input"]]
        assert kinds[1:] == [
            "reasoning",
            "message",
            "function_call",
            "function_call_output",
        ]
        assert sent["input"][1]["encrypted_content"] == "sealed=="


async def test_a_call_that_was_dropped_is_not_sent_back(make: Maker, wire: str) -> None:
    """Too many calls in one reply: the agent keeps some, with the thoughts around."""
    calls = (Call("get_weather", {"city": "a"}, "a"), Call("get_weather", {}, "b"))
    server, provider = await make(wire, Reply(thinking="Well.", calls=calls))
    first = await collect(provider, ask(tools=(WEATHER,)))
    (native,) = only(first, Native)
    kept = only(first, ToolCall)[0]
    message = AssistantMessage("", (kept,), native)
    result = ToolResultMessage("a", "get_weather", "12 °C")
    await collect(
        provider, ask(messages=(UserMessage("?"), message, result), tools=(WEATHER,))
    )
    assert b'"b"' not in server.requests[-1].raw


async def test_another_models_thoughts_are_left_out(make: Maker, wire: str) -> None:
    server, provider = await make(wire)
    native = Native("anthropic/another", ({"type": "thinking", "thinking": "Secret"},))
    await collect(
        provider,
        ask(
            messages=(
                UserMessage("Hi"),
                AssistantMessage("Hello", (), native),
                UserMessage("Again"),
            )
        ),
    )
    assert b"Secret" not in server.requests[-1].raw


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        (
            {"anthropic": "max_tokens", "chat": "length", "responses": "length"},
            "length",
        ),
        (
            {
                "anthropic": "refusal",
                "chat": "content_filter",
                "responses": "content_filter",
            },
            "refusal",
        ),
    ],
)
async def test_stop_reasons(
    make: Maker, wire: str, word: dict[str, str], reason: str
) -> None:
    _, provider = await make(wire, Reply(text="So", stop=word[wire]))
    events = await collect(provider, ask())
    assert events[-1] == Stop(StopReason(reason))


async def test_tool_use_without_a_call_is_an_end(make: Maker) -> None:
    for wire, word in (("anthropic", "tool_use"), ("chat", "tool_calls")):
        _, provider = await make(wire, Reply(text="Done.", stop=word))
        events = await collect(provider, ask(tools=(WEATHER,)))
        assert not only(events, ToolCall)
        assert events[-1] == Stop(StopReason.END)


async def test_empty_tool_calls_are_none(make: Maker) -> None:
    empty = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"tool_calls": []}, "finish_reason": None}],
    }
    server, provider = await make("chat", Reply(text="Done.", extra=(empty,)))
    events = await collect(
        provider,
        ask(messages=(UserMessage("a"), AssistantMessage("b", ()), UserMessage("c"))),
    )
    assert events[-1] == Stop(StopReason.END)
    assert "tool_calls" not in server.asked[-1]["messages"][1]


async def test_calls_win_over_the_word_stop(make: Maker) -> None:
    """Several local servers finish a call with `stop`."""
    _, provider = await make("chat", Reply(calls=(Call("get_weather"),), stop="stop"))
    events = await collect(provider, ask(tools=(WEATHER,)))
    assert events[-1] == Stop(StopReason.TOOL_USE)


async def test_one_connection_serves_many_requests(make: Maker, wire: str) -> None:
    """A handshake for every round of a turn would be felt."""
    server, provider = await make(wire)
    for _ in range(3):
        await collect(provider, ask())
    used = {seen.connection for seen in server.requests}
    assert len(server.asked) == 3
    assert len(used) == 1
