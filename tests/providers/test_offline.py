"""The helper without a model: it remembers, looks up, quotes, and is honest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from custom_components.mimiclaw.providers.factory import create
from custom_components.mimiclaw.providers.offline_phrases import languages, load
from custom_components.mimiclaw.providers.protocol import (
    AssistantMessage,
    ChatMessage,
    Event,
    Provider,
    ProviderConfig,
    Stop,
    StopReason,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)

from .conftest import ask, collect, text_of

NAMES = ("append_note", "search_files", "read_file", "get_current_time")
TOOLS = tuple(
    ToolSpec(name, "", {"type": "object", "properties": {}}) for name in NAMES
)

NOTES = "# 2026-03-03\n\n- 14:02 the boiler was serviced on 3 March\n- the bin is out\n"
SEARCH = "/memory/2026-03-03.md:3: - 14:02 the boiler was serviced on 3 March\n"


@pytest.fixture
async def helper() -> Provider:
    return await create(ProviderConfig("offline", "Offline"))


class House:
    """Runs a turn with tools that answer from a dictionary."""

    def __init__(self, answers: dict[str, str | Callable[[Any], str]]) -> None:
        self.answers = answers
        self.calls: list[ToolCall] = []

    async def turn(
        self, helper: Provider, text: str, language: str = "en", **changes: Any
    ) -> str:
        messages: tuple[ChatMessage, ...] = (UserMessage(text),)
        for _ in range(6):
            values: dict[str, Any] = {"tools": TOOLS, "language": language, **changes}
            events: list[Event] = await collect(
                helper, ask(messages=messages, **values)
            )
            calls = [event for event in events if isinstance(event, ToolCall)]
            if not calls:
                assert events[-1] == Stop(StopReason.END)
                return text_of(events)
            assert events[-1] == Stop(StopReason.TOOL_USE)
            messages += (AssistantMessage("", tuple(calls)),)
            for call in calls:
                self.calls.append(call)
                answer = self.answers.get(call.name, "")
                given = answer if isinstance(answer, str) else answer(call.arguments)
                messages += (
                    ToolResultMessage(
                        call.call_id, call.name, given, given.startswith("No ")
                    ),
                )
        raise AssertionError("the turn does not end")


async def test_it_remembers_and_finds_again(helper: Provider) -> None:
    """The notes it wrote are the notes it reads."""
    lines = ["# Today", ""]

    def note(arguments: Any) -> str:
        lines.append(f"- {arguments['text']}")
        return "Noted."

    def search(arguments: Any) -> str:
        assert set(arguments["query"].split()) == {"boiler", "serviced"}
        return f"/memory/2026-12-01.md:{len(lines)}: {lines[-1]}"

    house = House(
        {
            "append_note": note,
            "search_files": search,
            "read_file": lambda _: "\n".join(lines),
        }
    )
    said = await house.turn(
        helper, "Please remember that the boiler was serviced on 3 March."
    )
    assert said == "Noted: the boiler was serviced on 3 March."
    said = await house.turn(helper, "When was the boiler serviced?")
    assert "/memory/2026-12-01.md, line 3" in said
    assert "the boiler was serviced on 3 March" in said
    assert "not a language model" in said
    assert [call.name for call in house.calls] == [
        "append_note",
        "search_files",
        "read_file",
    ]


async def test_it_says_when_nothing_is_there(helper: Provider) -> None:
    house = House({"search_files": "Nothing found for boiler. Try other words."})
    said = await house.turn(helper, "When was the boiler serviced?")
    assert "nothing written down" in said
    assert "boiler serviced" in said
    assert "not a language model" in said


async def test_it_does_not_pass_off_the_nearest_as_the_answer(helper: Provider) -> None:
    house = House({"search_files": SEARCH, "read_file": NOTES})
    said = await house.turn(helper, "When was the car serviced?")
    assert "Nothing says exactly that" in said
    assert "boiler" in said


async def test_a_file_that_says_nothing_of_it(helper: Provider) -> None:
    house = House({"search_files": SEARCH, "read_file": "# Other\n\nShopping list"})
    assert "nothing written down" in await house.turn(helper, "Where is the hamster?")


async def test_what_somebody_wrote_goes_before_instructions(helper: Provider) -> None:
    hits = "/skills/boiler.md:2: boiler serviced\n" + SEARCH
    house = House({"search_files": hits, "read_file": NOTES})
    await house.turn(helper, "When was the boiler serviced?")
    assert house.calls[-1].arguments == {"path": "/memory/2026-03-03.md"}


async def test_a_hit_far_down_is_read_there(helper: Provider) -> None:
    text = "\n".join(f"line {number}" for number in range(380, 420))
    text = text.replace("line 400", "The pump has 750 W.")
    note = "\n\n[Lines 380-419 of 900 (20 KB). Go on with read_file(path=/docs/a.md).]"
    house = House(
        {
            "search_files": "/docs/a.md:400: [Pumps] The pump has 750 W.",
            "read_file": text + note,
        }
    )
    said = await house.turn(helper, "How many W has the pump?")
    assert house.calls[-1].arguments == {"path": "/docs/a.md", "offset": 380}
    assert "/docs/a.md, line 400: “The pump has 750 W.”" in said


async def test_without_read_file_it_quotes_the_hit(helper: Provider) -> None:
    house = House({"search_files": SEARCH})
    said = await house.turn(helper, "When was the boiler serviced?", tools=TOOLS[:2])
    assert "line 3" in said


@pytest.mark.parametrize("tool", ["append_note", "search_files", "read_file"])
async def test_a_tool_that_fails_speaks_for_itself(helper: Provider, tool: str) -> None:
    house = House({"search_files": SEARCH, tool: "No luck: the disk is full."})
    question = "remember that it rains" if tool == "append_note" else "boiler serviced?"
    assert await house.turn(helper, question) == "No luck: the disk is full."


async def test_it_only_uses_what_it_is_offered(helper: Provider) -> None:
    for changes in ({"tools": ()}, {"tools": TOOLS, "tool_choice": "none"}):
        house = House({})
        for text in ("remember that it rains", "When was the boiler serviced?"):
            assert "not a language model" in await house.turn(helper, text, **changes)
        assert house.calls == []


async def test_a_question_is_not_a_wish(helper: Provider) -> None:
    house = House({"search_files": SEARCH, "read_file": NOTES})
    await house.turn(helper, "Remember when the boiler was serviced?")
    assert house.calls[0].name == "search_files"


@pytest.mark.parametrize(
    "text", ["help", "What can you do?", "hello", "", "?!", "please"]
)
async def test_it_says_what_it_is(helper: Provider, text: str) -> None:
    house = House({})
    assert "not a language model" in await house.turn(helper, text)
    assert house.calls == []


async def test_the_time_comes_from_the_tool(helper: Provider) -> None:
    house = House({"get_current_time": "2026-12-01 14:05"})
    assert await house.turn(helper, "What time is it?") == "2026-12-01 14:05"


async def test_braces_are_text(helper: Provider) -> None:
    house = House({"append_note": "ok"})
    said = await house.turn(helper, "remember that {path} is {0}")
    assert said == "Noted: {path} is {0}."


#: A thing to remember, what of it is kept, a question, the line that answers it.
EVERYWHERE = {
    "en": (
        "Remember that the boiler was serviced on 3 March",
        "the boiler was serviced on 3 March",
        "When was the boiler serviced?",
    ),
    "de": (
        "Bitte merk dir, dass der Kessel am 3. März gewartet wurde.",
        "der Kessel am 3. März gewartet wurde",
        "Wann wurde der Kessel gewartet?",
    ),
    "fr": (
        "S'il te plaît, note que la chaudière a été révisée le 3 mars",
        "la chaudière a été révisée le 3 mars",
        "Quand la chaudière a-t-elle été révisée ?",
    ),
    "es": (
        "Recuerda que la caldera se revisó el 3 de marzo, por favor",
        "la caldera se revisó el 3 de marzo",
        "¿Cuándo se revisó la caldera?",
    ),
    "nl": (
        "Onthoud dat de ketel op 3 maart is nagekeken",
        "de ketel op 3 maart is nagekeken",
        "Wanneer is de ketel nagekeken?",
    ),
    "ru": (
        "Пожалуйста, запомни, что котёл обслужили 3 марта",
        "котёл обслужили 3 марта",
        "Когда обслужили котёл?",
    ),
    "zh-CN": (
        "请记住锅炉三月三日保养过。",
        "锅炉三月三日保养过",
        "锅炉什么时候保养的？",
    ),
    "zh-TW": (
        "請記住鍋爐三月三日保養過。",
        "鍋爐三月三日保養過",
        "鍋爐什麼時候保養的？",
    ),
    "ja": (
        "ボイラーは3月3日に点検したと覚えておいてください",
        "ボイラーは3月3日に点検した",
        "ボイラーはいつ点検しましたか？",
    ),
    "th": (
        "ช่วยจำไว้ว่าหม้อน้ำตรวจเช็คเมื่อ 3 มีนาคมด้วยนะ",
        "หม้อน้ำตรวจเช็คเมื่อ 3 มีนาคม",
        "หม้อน้ำตรวจเช็คเมื่อไหร่",
    ),
}


def test_every_language_is_tried() -> None:
    assert languages() == sorted(EVERYWHERE)


@pytest.mark.parametrize("language", EVERYWHERE)
async def test_every_language(helper: Provider, language: str) -> None:
    wish, fact, question = EVERYWHERE[language]
    notes: list[str] = []

    def note(arguments: Any) -> str:
        notes.append(arguments["text"])
        return "ok"

    house = House(
        {
            "append_note": note,
            "search_files": lambda _: f"/memory/2026-03-03.md:3: - {notes[0]}",
            "read_file": lambda _: f"# 2026-03-03\n\n- {notes[0]}\n",
        }
    )
    assert fact in await house.turn(helper, wish, language)
    assert notes == [fact]
    said = await house.turn(helper, question, language)
    found = load(language).say(
        "found", path="/memory/2026-03-03.md", line="3", quote=fact
    )
    assert said == found


@pytest.mark.parametrize("language", EVERYWHERE)
def test_a_languages_file_is_whole(language: str) -> None:
    english, phrases = load("en"), load(language)
    assert phrases.sentences.keys() == english.sentences.keys()
    values = dict.fromkeys(("text", "time", "path", "line", "quote", "query"), "✓")
    for name, sentence in phrases.sentences.items():
        assert phrases.say(name, **values).count("✓") == sentence.count("{")
        assert sentence.count("{") == english.sentences[name].count("{")
    if language != "en":
        shared = {"time"}
        assert {
            name
            for name in phrases.sentences
            if phrases.sentences[name] == english.sentences[name]
        } <= shared


@pytest.mark.parametrize(
    ("tag", "same"),
    [
        ("de-AT", "de"),
        ("DE", "de"),
        ("pt-BR", "en"),
        ("xx", "en"),
        ("", "en"),
        ("zh", "zh-CN"),
        ("zh-Hans", "zh-CN"),
        ("zh-Hant", "zh-TW"),
        ("zh_TW", "zh-TW"),
        ("zh-HK", "zh-TW"),
    ],
)
def test_language_tags(tag: str, same: str) -> None:
    assert load(tag).sentences == load(same).sentences


async def test_there_is_nothing_to_check(helper: Provider) -> None:
    await helper.check()
    await helper.aclose()
