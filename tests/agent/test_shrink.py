"""A shorter request keeps its shape: calls keep results, roles take turns."""

from __future__ import annotations

from custom_components.mimiclaw.agent.shrink import PRUNED, shrink
from custom_components.mimiclaw.providers.protocol import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

LONG = "x" * 1000


def conversation() -> list[ChatMessage]:
    history: list[ChatMessage] = []
    for number in range(5):
        history += [UserMessage(f"q{number}"), AssistantMessage(f"a{number}")]
    return [
        *history,
        UserMessage("own"),
        AssistantMessage("", (ToolCall("1", "look", {}),)),
        ToolResultMessage("1", "look", LONG),
        AssistantMessage("", (ToolCall("2", "look", {}),)),
        ToolResultMessage("2", "look", LONG),
    ]


def test_old_results_go_first() -> None:
    shorter = shrink(conversation(), 10, 1)
    results = [one.text for one in shorter if isinstance(one, ToolResultMessage)]
    assert results == [PRUNED, LONG]
    assert len(shorter) == 15


def test_then_the_older_half_of_the_conversation() -> None:
    shorter = shrink(conversation(), 10, 2)
    assert isinstance(shorter[0], UserMessage)
    assert len(shorter) < 15
    texts = [one.text for one in shorter]
    assert "own" in texts
    assert "q0" not in texts
    assert LONG not in texts
    calls = [
        c.call_id
        for m in shorter
        if isinstance(m, AssistantMessage)
        for c in m.tool_calls
    ]
    answered = [m.call_id for m in shorter if isinstance(m, ToolResultMessage)]
    assert calls == answered == ["1", "2"]
