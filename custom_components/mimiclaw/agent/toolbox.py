"""The tools of one turn: run a call, and always come back with text."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import json
import logging
import time
from typing import Any

from ..providers.protocol import ToolCall, ToolSpec
from ..tools.base import Tool, ToolContext, ToolError
from ..workspace.errors import WorkspaceError
from .arguments import check
from .profile import Profile
from .trace import Trace
from .trim import cut

_LOGGER = logging.getLogger(__name__)

CUT_MARKER = "[cut here: ask for less at once, or for the next part]"
REPEATED = (
    "You made this very call before in this turn; its result stands above. "
    "Use it, or ask for something else."
)
OUT_OF_CALLS = "No more tool calls in this turn: answer now with what you know."


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one call."""

    text: str
    is_error: bool = False


def _fingerprint(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)}"


@dataclass(slots=True)
class Toolbox:
    """Runs the calls of one turn and counts them against the profile."""

    tools: Mapping[str, Tool]
    context: ToolContext
    profile: Profile
    trace: Trace
    made: int = 0
    _seen: set[str] = field(default_factory=set)
    _errors: Counter[str] = field(default_factory=Counter)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model is told of the tools, in a stable order."""
        return tuple(tool.spec for tool in self.tools.values())

    @property
    def spent(self) -> bool:
        """Tell whether the turn's calls are used up."""
        return self.made >= self.profile.tool_calls

    @property
    def stuck(self) -> str:
        """Return the error that came back too often, or an empty text."""
        for text, count in self._errors.items():
            if count >= self.profile.repeated_errors:
                return text
        return ""

    async def run_all(self, calls: Sequence[ToolCall]) -> list[Outcome]:
        """Run the calls of one reply and return their answers in the same order.

        Calls that only read run side by side; one that writes waits for those before it
        and holds back those after it.
        """
        outcomes: list[Outcome] = []
        for batch in self._batches(calls):
            outcomes += await asyncio.gather(*(self._run(call) for call in batch))
        return outcomes

    def _batches(self, calls: Sequence[ToolCall]) -> Iterable[list[ToolCall]]:
        batch: list[ToolCall] = []
        for call in calls:
            tool = self.tools.get(call.name)
            if tool is not None and not tool.reads_only:
                if batch:
                    yield batch
                yield [call]
                batch = []
            else:
                batch.append(call)
        if batch:
            yield batch

    async def _run(self, call: ToolCall) -> Outcome:
        if self.spent:
            return Outcome(OUT_OF_CALLS, is_error=True)
        self.made += 1
        started = time.perf_counter()
        tool = self.tools.get(call.name)
        outcome = await self._answer(call, tool)
        if outcome.is_error:
            self._errors[outcome.text] += 1
        self.trace.called(
            call.name,
            call.arguments if call.arguments is not None else {"raw": call.raw},
            outcome.text,
            (time.perf_counter() - started) * 1000,
            is_error=outcome.is_error,
        )
        return outcome

    async def _answer(self, call: ToolCall, tool: Tool | None) -> Outcome:
        if tool is None:
            names = ", ".join(self.tools)
            return Outcome(f"There is no tool {call.name}; there are: {names}.", True)
        if call.arguments is None:
            return Outcome(
                f"The arguments of {call.name} were no JSON object; send them again.",
                is_error=True,
            )
        fingerprint = _fingerprint(call)
        if fingerprint in self._seen and tool.reads_only:
            return Outcome(REPEATED)
        outcome = await answer(tool, call, self.context)
        if not tool.reads_only:
            # What was read may be different now; and a write that was refused because
            # the file has changed sends the model back to read it again.
            self._seen.clear()
        if outcome.is_error:
            return outcome
        if tool.reads_only:
            self._seen.add(fingerprint)
        return Outcome(cut(outcome.text, self.profile.tool_result_bytes, CUT_MARKER))


async def answer(tool: Tool, call: ToolCall, context: ToolContext) -> Outcome:
    """Run one call; whatever happens comes back as text."""
    try:
        arguments: Mapping[str, Any] = call.arguments or {}
        if tool.checked_by_us:
            arguments = check(arguments, tool.spec.parameters, tool.aliases)
        return Outcome(await tool.run(arguments, context))
    except (ToolError, WorkspaceError) as err:
        return Outcome(str(err), is_error=True)
    except Exception:  # the turn goes on whatever one tool does
        _LOGGER.exception("Tool %s failed", call.name)
        return Outcome(f"{call.name} failed inside; try another way.", is_error=True)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return the tools by name, in name order so that the prompt's prefix is stable."""
    return {tool.name: tool for tool in sorted(tools, key=lambda one: one.name)}
