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
#: Thai vowels and tone marks are no letters to Python, and belong to the word.
_WORD: Final = re.compile(r"[\w\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]+")
#: From Thai on, scripts without spaces between words.
_SPACELESS: Final = "\u0e00"
#: What `read_file` adds behind a part of a file.
_GO_ON: Final = re.compile(r"\n\n\[[^\n]*\]\s*$")
#: A hit further down is read with what stands around it, not from the first line.
_FAR_LINE: Final = 60
_LINES_BEFORE: Final = 20
_MARKS: Final = re.compile(r"^(?:[-*+>#]+|\d+\.|\[[ x]\])\s+")

_SKILLS: Final = "/skills/"
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
        line = int(hit["line"])
        if line <= _FAR_LINE:
            return _call("read_file", path=hit["path"])
        return _call("read_file", path=hit["path"], offset=line - _LINES_BEFORE)
    return phrases.say(
        "found", path=hit["path"], line=hit["line"], quote=_quotable(hit["text"])
    )


def _best_hit(step: _Step, words: set[str]) -> Mapping[str, str] | None:
    """Return the first hit, unless a later one has more of the words asked for."""
    # A skill says how to do something; quoted, its examples would pass for facts.
    hits = [
        found.groupdict()
        for found in _HIT.finditer(step.result.text)
        if not found["path"].startswith(_SKILLS)
    ]
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
    first = int((read.call.arguments or {}).get("offset", 1))
    text_read = _GO_ON.sub("", read.result.text)
    lines = [
        (number, line)
        for number, line in enumerate(text_read.splitlines(), start=first)
        if _quotable(line)
    ]
    # At a tie the line that the search named, then a statement before a heading.
    number, text = max(
        lines,
        key=lambda line: (
            _overlap(line[1], words),
            line[0] == hit_line,
            not line[1].startswith("#"),
        ),
        default=(0, ""),
    )
    missing = sum(1 for word in words if not _overlap(text, {word}))
    if missing == len(words):
        return phrases.say("nothing", query=phrases.content(question))
    return phrases.say(
        "near" if missing else "found",
        path=path,
        line=str(number),
        quote=_quotable(text),
    )


def _call(name: str, **arguments: str | int) -> ToolCall:
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
        if word.isascii() or word[0] < _SPACELESS:
            words.add(word)
        else:
            words.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return words


def _overlap(text: str, words: set[str]) -> int:
    """Count the words asked for that a line has: 2 for the word, 1 for a form of it."""
    there = _words(text)
    folded = text.casefold()
    return sum(
        2
        if word in there or (word[0] >= _SPACELESS and word in folded)
        else any(_akin(word, other) for other in there)
        for word in words
    )


def _akin(word: str, other: str) -> bool:
    """Return whether two words look like forms of one ("service", "serviced")."""
    shared = min(len(word), len(other))
    return shared >= 4 and word[:shared] == other[:shared]
