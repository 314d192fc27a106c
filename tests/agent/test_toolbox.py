"""A call always comes back with text, and the turn's calls are counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from custom_components.mimiclaw.agent.profile import FRONTIER
from custom_components.mimiclaw.agent.toolbox import REPEATED, Toolbox, by_name
from custom_components.mimiclaw.agent.trace import Trace
from custom_components.mimiclaw.providers.protocol import ToolCall, ToolSpec
from custom_components.mimiclaw.tools.base import Tool, ToolContext, ToolError, schema
from custom_components.mimiclaw.workspace.errors import NotFound


class Bench:
    """A few tools that keep a log of when they ran."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.running = 0
        self.together = 0

    def tools(self) -> tuple[Tool, ...]:
        text = schema({"text": {"type": "string"}}, ("text",))
        return (
            Tool(ToolSpec("look", "", text), self.look, reads_only=True),
            Tool(ToolSpec("change", "", text), self.change),
        )

    async def look(self, arguments: Mapping[str, Any], _context: ToolContext) -> str:
        self.running += 1
        self.together = max(self.together, self.running)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.running -= 1
        self.log.append(f"look {arguments['text']}")
        return self._answer(arguments["text"])

    async def change(self, arguments: Mapping[str, Any], _context: ToolContext) -> str:
        assert not self.running
        self.log.append(f"change {arguments['text']}")
        return self._answer(arguments["text"])

    def _answer(self, text: str) -> str:
        match text:
            case "refuse":
                raise ToolError("Not this one; try another.")
            case "missing":
                raise NotFound("There is no such file.")
            case "break":
                raise ValueError("secret inside")
            case "long":
                return "水\n" * 100_000
        return f"did {text}"


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def toolbox(bench: Bench, context_of: Callable[..., ToolContext]) -> Toolbox:
    return Toolbox(by_name(bench.tools()), context_of(), FRONTIER, Trace())


def call(name: str, text: str, number: int = 0) -> ToolCall:
    return ToolCall(f"id{number}", name, {"text": text})


async def test_reads_run_side_by_side_and_writes_in_order(
    bench: Bench, toolbox: Toolbox
) -> None:
    calls = [
        call("look", "a", 1),
        call("look", "b", 2),
        call("change", "c", 3),
        call("look", "d", 4),
    ]
    outcomes = await toolbox.run_all(calls)
    assert [one.text for one in outcomes] == ["did a", "did b", "did c", "did d"]
    assert bench.together == 2
    assert bench.log[2:] == ["change c", "look d"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (call("look", "refuse"), "Not this one"),
        (call("look", "missing"), "There is no such file"),
        (call("look", "break"), "look failed inside"),
        (call("fly", "a"), "There is no tool fly; there are: change, look"),
        (ToolCall("i", "look", None, "{oops"), "no JSON object"),
        (ToolCall("i", "look", {}), "text is missing"),
    ],
)
async def test_trouble_is_a_sentence(
    toolbox: Toolbox, asked: ToolCall, said: str
) -> None:
    (outcome,) = await toolbox.run_all([asked])
    assert outcome.is_error
    assert said in outcome.text
    assert "secret" not in outcome.text


async def test_a_repeated_look_is_answered_once(bench: Bench, toolbox: Toolbox) -> None:
    await toolbox.run_all([call("look", "a", 1)])
    (again,) = await toolbox.run_all([call("look", "a", 2)])
    assert again.text == REPEATED
    assert bench.log == ["look a"]
    await toolbox.run_all([call("change", "x", 3)])
    (after,) = await toolbox.run_all([call("look", "a", 4)])
    assert after.text == "did a"


async def test_calls_are_counted(
    bench: Bench, context_of: Callable[..., ToolContext]
) -> None:
    profile = replace(FRONTIER, tool_calls=2)
    toolbox = Toolbox(by_name(bench.tools()), context_of(), profile, Trace())
    outcomes = await toolbox.run_all([call("change", str(n), n) for n in range(3)])
    assert [one.is_error for one in outcomes] == [False, False, True]
    assert bench.log == ["change 0", "change 1"]
    assert toolbox.spent


async def test_the_same_error_three_times_is_enough(toolbox: Toolbox) -> None:
    for number in range(3):
        assert not toolbox.stuck
        await toolbox.run_all([call("look", "refuse", number)])
    assert "Not this one" in toolbox.stuck


async def test_a_long_result_is_cut_and_says_so(toolbox: Toolbox) -> None:
    (outcome,) = await toolbox.run_all([call("look", "long")])
    assert len(outcome.text.encode()) <= FRONTIER.tool_result_bytes
    assert outcome.text.endswith("or for the next part]")


async def test_each_call_leaves_a_line(toolbox: Toolbox) -> None:
    await toolbox.run_all([call("look", "a"), call("look", "refuse")])
    first, second = toolbox.trace.lines
    assert (first.tool, first.arguments, first.result_bytes) == (
        "look",
        {"text": "a"},
        5,
    )
    assert str(first).startswith('look {"text": "a"} → 5 B, ')
    assert second.error == "Not this one; try another."


async def test_after_a_refused_write_a_look_is_taken_again(toolbox: Toolbox) -> None:
    await toolbox.run_all([call("look", "a", 1)])
    (refused,) = await toolbox.run_all([call("change", "refuse", 2)])
    assert refused.is_error
    (again,) = await toolbox.run_all([call("look", "a", 3)])
    assert again.text == "did a"
