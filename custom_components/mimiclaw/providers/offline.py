"""The provider that needs no key and no network, and is no language model.

It is asked like any other, and calls the same tools: it writes down what it is told to
remember, looks for what it is asked, opens the file, and quotes the line. What it says
is in `offline_phrases/`, one file a language.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
import re
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from .offline_phrases import Phrases, load
from .protocol import (
    Event,
    ProviderConfig,
    Request,
    Stop,
    StopReason,
    TextDelta,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

#: The first line of each hit of `search_files`.
_HIT: Final = re.compile(
    r"^(?P<path>/\S.*?):(?P<line>\d+): ?(?P<text>.*)$", re.MULTILINE
)
#: A line number some readers put in front of a line.
_NUMBERED: Final = re.compile(r"^\s*(\d+)[\t:|]\s?(.*)$")
_WORD: Final = re.compile(r"\w+")
_MARKS: Final = re.compile(r"^(?:[-*+>#]+|\d+\.|\[[ x]\])\s+")

_MAX_QUOTE_CHARS: Final = 300
_QUESTION_MARKS: Final = ("?", "？")


@dataclass(frozen=True, slots=True)
class _Step:
    """One call of this turn and what it gave."""

    call: ToolCall
    result: ToolResultMessage


class OfflineProvider:
    """Answers by deterministic use of the tools it is offered."""

    def __init__(self, config: ProviderConfig) -> None:
        self.config = config
        self._phrases: dict[str, Phrases] = {}

    async def stream(self, request: Request) -> AsyncGenerator[Event]:
        """Yield one tool call, or an answer."""
        phrases = await self._phrases_for(request.language)
        reply = _next(request, phrases)
        if isinstance(reply, ToolCall):
            yield reply
            yield Stop(StopReason.TOOL_USE)
            return
        yield TextDelta(reply)
        yield Stop(StopReason.END)

    async def _phrases_for(self, language: str) -> Phrases:
        if language not in self._phrases:
            self._phrases[language] = await asyncio.to_thread(load, language)
        return self._phrases[language]

    async def check(self) -> None:
        """Return at once: there is nothing that could be wrong."""

    async def aclose(self) -> None:
        """Return at once: there is nothing open."""


def _next(request: Request, phrases: Phrases) -> ToolCall | str:
    """Return what comes next in this turn: a call, or what is said."""
    question, steps = _this_turn(request)
    tools = (
        frozenset[str]()
        if request.tool_choice == "none"
        else frozenset(spec.name for spec in request.tools)
    )
    if not steps:
        return _first(question, tools, phrases)
    last = steps[-1]
    if last.result.is_error:
        return last.result.text
    match last.call.name:
        case "append_note":
            return phrases.say("noted", text=_argument(last.call, "text"))
        case "get_current_time":
            return phrases.say("time", time=last.result.text.strip())
        case "search_files":
            return _after_search(question, last, tools, phrases)
        case "read_file":
            return _after_reading(question, steps, phrases)
    return last.result.text


def _this_turn(request: Request) -> tuple[str, list[_Step]]:
    """Return what the person said last, and what was done about it so far."""
    question = ""
    calls: dict[str, ToolCall] = {}
    steps: list[_Step] = []
    for message in request.messages:
        if isinstance(message, UserMessage):
            question = message.text
            steps = []
        elif isinstance(message, ToolResultMessage):
            if message.call_id in calls:
                steps.append(_Step(calls[message.call_id], message))
        else:
            calls = {call.call_id: call for call in message.tool_calls}
    return question, steps


def _first(question: str, tools: frozenset[str], phrases: Phrases) -> ToolCall | str:
    # A question may begin with the words of a wish ("remember when …?").
    asks = question.rstrip().endswith(_QUESTION_MARKS)
    if not asks and "append_note" in tools and (fact := phrases.fact(question)):
        return _call("append_note", text=fact)
    if "get_current_time" in tools and phrases.wants("time", question):
        return _call("get_current_time")
    query = phrases.content(question)
    if query and "search_files" in tools and not phrases.wants("help", question):
        return _call("search_files", query=query)
    return phrases.say("help")


def _after_search(
    question: str, step: _Step, tools: frozenset[str], phrases: Phrases
) -> ToolCall | str:
    hit = _best_hit(step, _words(phrases.content(question)))
    if hit is None:
        return phrases.say("nothing", query=_argument(step.call, "query"))
    if "read_file" in tools:
        return _call("read_file", path=hit["path"])
    return phrases.say(
        "found", path=hit["path"], line=hit["line"], quote=_quotable(hit["text"])
    )


def _best_hit(step: _Step, words: set[str]) -> Mapping[str, str] | None:
    """Return the first hit, unless a later one has more of the words asked for."""
    hits = [found.groupdict() for found in _HIT.finditer(step.result.text)]
    return max(hits, key=lambda hit: _overlap(hit["text"], words), default=None)


def _after_reading(question: str, steps: Sequence[_Step], phrases: Phrases) -> str:
    """Quote the line of the file just read that answers best."""
    read = steps[-1]
    path = _argument(read.call, "path")
    words = _words(phrases.content(question))
    hit_line = 0
    for step in steps[:-1]:
        hit = _best_hit(step, words) if step.call.name == "search_files" else None
        if hit is not None and hit["path"] == path:
            hit_line = int(hit["line"])
    lines = []
    for number, line in enumerate(read.result.text.splitlines(), start=1):
        numbered = _NUMBERED.match(line)
        lines.append((int(numbered[1]), numbered[2]) if numbered else (number, line))
    spoken = [(number, text) for number, text in lines if _quotable(text)]
    if not spoken:
        return phrases.say("nothing", query=" ".join(sorted(words)))
    # At a tie the line that the search named, then a statement before a heading.
    number, text = max(
        spoken,
        key=lambda line: (
            _overlap(line[1], words),
            line[0] == hit_line,
            not line[1].startswith("#"),
        ),
    )
    return phrases.say("found", path=path, line=str(number), quote=_quotable(text))


def _call(name: str, **arguments: str) -> ToolCall:
    return ToolCall(f"offline_{uuid4().hex[:12]}", name, dict(arguments))


def _argument(call: ToolCall, name: str) -> str:
    return str((call.arguments or {}).get(name, ""))


def _quotable(text: str) -> str:
    """Return a line without its Markdown, cut to what can be listened to."""
    text = text.strip()
    while (plain := _MARKS.sub("", text)) != text:
        text = plain
    text = text.replace("**", "").replace("`", "")
    if len(text) > _MAX_QUOTE_CHARS:
        text = text[: _MAX_QUOTE_CHARS - 1] + "…"
    return text


def _words(text: str) -> set[str]:
    """Return the words of a text; pairs of characters where words have no spaces."""
    words: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or word[0] < "\u0e00":
            words.add(word)
        else:
            words.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return words


def _overlap(text: str, words: set[str]) -> int:
    """Count the words asked for that a line has, also as the beginning of one."""
    there = _words(text)
    return sum(
        2 if word in there else any(_akin(word, other) for other in there)
        for word in words
    )


def _akin(word: str, other: str) -> bool:
    """Return whether two words look like forms of one ("service", "serviced")."""
    shared = min(len(word), len(other))
    return shared >= 4 and word[:shared] == other[:shared]
