"""The prompt's prefix stays the same from turn to turn, and the providers know it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from custom_components.mimiclaw.providers.protocol import (
    AssistantMessage,
    ChatMessage,
    SystemPart,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

from .conftest import WEATHER, Maker, ask, collect
from .wire.reply import shared_beginning

STATIC = SystemPart("Rules. " * 400)
FILES = SystemPart("Memory. " * 400)
VOLATILE = SystemPart("It is late.", stable=False)


def marks(body: dict[str, Any]) -> list[tuple[str, int]]:
    """Return where an Anthropic request has its cache marks."""
    found = [
        ("system", number)
        for number, block in enumerate(body["system"])
        if "cache_control" in block
    ]
    for number, message in enumerate(body["messages"]):
        found += [
            ("messages", number)
            for block in message["content"]
            if "cache_control" in block
        ]
    return found


async def test_marks_close_the_stable_layers_and_the_last_message(make: Maker) -> None:
    server, provider = await make("anthropic")
    messages = (UserMessage("a"), AssistantMessage("b"), UserMessage("c"))
    await collect(provider, ask(system=(STATIC, FILES, VOLATILE), messages=messages))
    assert marks(server.asked[-1]) == [("system", 0), ("system", 1), ("messages", 2)]


async def test_never_more_marks_than_the_api_takes(make: Maker) -> None:
    server, provider = await make("anthropic")
    layers = tuple(SystemPart(f"Layer {number}") for number in range(7))
    await collect(provider, ask(system=layers))
    assert marks(server.asked[-1]) == [
        ("system", 0),
        ("system", 5),
        ("system", 6),
        ("messages", 0),
    ]


async def test_cached_tokens_are_read_back(make: Maker, wire: str) -> None:
    _, provider = await make(wire)
    history: tuple[ChatMessage, ...] = (UserMessage("First question"),)
    usages = []
    for number in range(3):
        events = await collect(
            provider, ask(system=(STATIC, FILES), messages=history, tools=(WEATHER,))
        )
        usages += [event for event in events if isinstance(event, Usage)]
        history += (AssistantMessage("Answer."), UserMessage(f"Question {number}"))
    first, second, third = usages
    assert first.cache_read_tokens == 0
    assert first.cache_write_tokens > 1000
    assert second.cache_read_tokens > 0.95 * first.cache_write_tokens
    assert third.cache_read_tokens >= second.cache_read_tokens
    assert {usage.input_tokens for usage in usages} == {100}


async def test_the_next_turn_shares_its_beginning(make: Maker, wire: str) -> None:
    """Byte for byte, tools and calls included."""
    server, provider = await make(wire)
    call = ToolCall("c1", "get_weather", {"city": "Köln", "at": "noon"})
    history: tuple[ChatMessage, ...] = (UserMessage("Weather in Köln?"),)
    for step in (
        (),
        (
            AssistantMessage("", (call,)),
            ToolResultMessage("c1", "get_weather", "12 °C"),
        ),
        (AssistantMessage("It is 12 °C."), UserMessage("Thanks")),
    ):
        history += step
        await collect(
            provider, ask(system=(STATIC, FILES), messages=history, tools=(WEATHER,))
        )
    prompts = [_prompt(body) for body in server.asked]
    for before, after in pairwise(prompts):
        assert shared_beginning(before, after) >= 0.95 * len(before)


def _prompt(body: dict[str, Any]) -> str:
    """Return what the model reads, in its order."""
    parts = [body.get("tools"), body.get("system"), body.get("instructions")]
    parts += body.get("messages") or body["input"]
    return repr(_without_marks(parts))


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_marks(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [_without_marks(item) for item in value]
    return value


async def test_openai_gets_a_stable_key(make: Maker) -> None:
    """And keeps nothing: the conversation stays in the house."""
    for wire in ("chat", "responses"):
        server, provider = await make(wire)
        await collect(provider, ask(cache_key="assistant-7"))
        await collect(provider, ask("Something else", cache_key="assistant-7"))
        assert {body["prompt_cache_key"] for body in server.asked} == {"assistant-7"}
        assert {body.get("store", wire == "responses") for body in server.asked} == {
            False
        }
