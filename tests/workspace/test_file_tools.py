"""The tools over the workspace: every answer is text of at most 8 KB that says what to do next."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from custom_components.mimiclaw.agent.arguments import check
from custom_components.mimiclaw.tools import files, notes, search
from custom_components.mimiclaw.tools.base import Tool, ToolContext, ToolError
from custom_components.mimiclaw.workspace.errors import WorkspaceError
from custom_components.mimiclaw.workspace.speaker import Speaker

from .conftest import ALICE, House
from .test_documents import manual

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (*files.tools(), *notes.tools(), *search.tools())
}


def call(
    house: House,
    name: str,
    speaker: Speaker = ALICE,
    context: ToolContext | None = None,
    **arguments: Any,
) -> str:
    """Call a tool as the agent does; an error comes back as its sentence."""
    tool = TOOLS[name]
    context = context or context_of(house, speaker)
    try:
        checked = check(arguments, tool.spec.parameters, tool.aliases)
        return asyncio.run(tool.run(checked, context))
    except (ToolError, WorkspaceError) as err:
        return f"ERROR {err}"


def context_of(house: House, speaker: Speaker = ALICE) -> ToolContext:
    return ToolContext(
        view=house.view(speaker),
        speaker=speaker,
        channel="telegram",
        conversation_id="1",
        language="en",
        now=lambda: house.now,
    )


def test_the_tools_are_those_of_the_contract() -> None:
    assert sorted(TOOLS) == [
        "append_note",
        "edit_file",
        "list_dir",
        "read_file",
        "read_file_section",
        "search_files",
        "split_document",
        "write_file",
    ]
    for tool in TOOLS.values():
        assert len(tool.spec.description) < 200


def test_a_day_with_memory(house: House) -> None:
    """Remember, look again, correct, find: with the calls a model makes."""
    assert "Noted in /memory/2026-12-01.md" in call(
        house, "append_note", text="the pump was loud"
    )
    assert "(Alice, telegram)" in call(house, "read_file", path="/memory/2026-12-01.md")
    call(house, "append_note", text="pump: in the shed", section="Garden")
    memory = call(house, "read_file", path="/spiffs/memory/MEMORY.md")
    assert "## Garden\n- pump: in the shed" in memory
    said = call(
        house,
        "edit_file",
        path="/memory/MEMORY.md",
        old_string="in the shed",
        new_string="in the cellar",
    )
    assert said.startswith("Edited /memory/MEMORY.md at line 6.")
    found = call(house, "search_files", query="where is the pump")
    assert "/memory/MEMORY.md:6: [Garden] - pump: in the cellar" in found


def test_a_style_wish_is_kept_for_its_person(house: House) -> None:
    call(house, "append_note", text="shorter, please", section="Style", private=True)
    assert house.text("/memory/users/alice/MEMORY.md").endswith(
        "## Style\n- shorter, please\n"
    )


def test_the_original_s_argument_names_work(house: House) -> None:
    assert "/memory/MEMORY.md" in call(house, "list_dir", prefix="/spiffs/memory")
    assert "/config/" in call(house, "list_dir")


def test_a_long_document_says_how_to_go_on(house: House) -> None:
    house.put("/docs/manual.md", manual(200))
    said = call(house, "read_file", path="/docs/manual.md")
    assert len(said.encode()) <= 8192
    assert "read_file(path=/docs/manual.md, offset=" in said
    assert "search_files(query, path=/docs/manual.md)" in said
    assert "read_file_section; sections: 1. Boiler" in said
    section = call(
        house, "read_file_section", path="/docs/manual.md", section="Chapter 3"
    )
    assert len(section.encode()) <= 8192
    assert "The section goes on: read_file(path=/docs/manual.md, offset=" in section


@pytest.mark.parametrize(
    "text", ["水" * 30_000, "x\n" * 30_000, "é" * 9_000 + "\n# A\n# B\n"]
)
def test_no_result_is_over_8_kb(house: House, text: str) -> None:
    house.put("/docs/水-long.md", text)
    calls: dict[str, dict[str, Any]] = {
        "read_file": {"path": "/docs/水-long.md"},
        "read_file_section": {"path": "/docs/水-long.md", "section": "1"},
        "search_files": {"query": "x 水 é"},
    }
    for name, arguments in calls.items():
        assert len(call(house, name, **arguments).encode()) <= 8192


def test_a_long_listing_says_how_to_go_on(house: House) -> None:
    for number in range(400):
        house.put(
            f"/memory/topic-of-the-day-number-{number:03d}.md",
            f"# Topic of the day {number}\n",
        )
    said = call(house, "list_dir", path="/memory")
    assert len(said.encode()) <= 8192
    assert "more; read /memory/INDEX.md or use search_files" in said


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("read_file", {"path": "/memory/none.md"}, "list_dir"),
        ("read_file", {"path": "../x"}, "leaves the tree"),
        ("read_file", {"path": "/memory"}, "list_dir"),
        ("read_file", {"path": "/memory/MEMORY.md", "offset": 99}, "has 3 lines"),
        ("read_file", {"path": "/cron.json"}, "cron_list"),
        ("write_file", {"path": "/cron.json", "content": "x"}, "cron_add"),
        (
            "edit_file",
            {"path": "/memory/MEMORY.md", "old_string": "zz", "new_string": "x"},
            "not in",
        ),
        ("search_files", {"query": " "}, "empty"),
        ("search_files", {"query": "quagga"}, "Nothing found"),
        ("split_document", {"path": "/memory/MEMORY.md"}, "/docs"),
        ("append_note", {"text": ""}, "one line"),
        ("list_dir", {"path": "/nowhere"}, "no folder"),
    ],
)
def test_what_does_not_work_is_a_sentence(
    house: House, name: str, arguments: dict[str, Any], word: str
) -> None:
    said = call(house, name, **arguments)
    assert word in said
    assert str(house.root) not in said


def test_an_injected_text_cannot_stay_in_rules_or_schedule(house: House) -> None:
    """The original's model could overwrite both without anybody knowing."""
    assert call(house, "write_file", path="/cron.json", content="{}").startswith(
        "ERROR"
    )
    assert call(
        house, "edit_file", path="/cron.json", old_string="a", new_string="b"
    ).startswith("ERROR")
    assert call(house, "write_file", path="/config/SOUL.md", content="obey").startswith(
        "ERROR"
    )
    context = context_of(house)
    call(house, "read_file", context=context, path="/config/SOUL.md")
    said = call(
        house,
        "write_file",
        context=context,
        path="/config/SOUL.md",
        content="# Soul\n\nobey\n",
    )
    assert "kept as /.trash/" in said
    assert [notice.path for notice in house.notices] == ["/config/SOUL.md"]
    assert "MimiClaw" in house.trash()[0]


def test_memory_is_never_rewritten_without_a_backup(house: House) -> None:
    """Complaint 22: memory "full", the file rewritten, the text lost."""
    rows = "".join(
        f"- fact number {number} of this household\n" for number in range(200)
    )
    house.put("/memory/MEMORY.md", "# Memory\n\n" + rows)
    context = context_of(house)
    assert "read it first" in call(
        house,
        "write_file",
        context=context,
        path="/memory/MEMORY.md",
        content="# Memory\n",
    )
    call(house, "read_file", context=context, path="/memory/MEMORY.md")
    call(
        house,
        "write_file",
        context=context,
        path="/memory/MEMORY.md",
        content="# Memory\n\n- all forgotten\n",
    )
    assert house.trash() == ["# Memory\n\n" + rows]


def test_split_document_lists_what_it_made(house: House) -> None:
    house.put("/docs/manual.md", manual(12))
    said = call(house, "split_document", path="/docs/manual.md")
    assert said.startswith("Made ")
    assert "/docs/manual/02-" in said
