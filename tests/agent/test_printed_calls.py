"""A tool call printed as text is never spoken."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.agent.printed_calls import PrintedCalls

TOOLS = ("read_file", "gpio_write")
CALL = '{"name": "read_file", "arguments": {"path": "/memory/MEMORY.md"}}'


def heard(text: str, size: int) -> tuple[str, list[str]]:
    gate = PrintedCalls(TOOLS)
    spoken = "".join(
        gate.feed(text[place : place + size]) for place in range(0, len(text), size)
    )
    rest, calls = gate.end()
    return spoken + rest, [call.name for call in calls]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "spoken", "calls"),
    [
        (CALL, "", ["read_file"]),
        (f"```json\n{CALL}\n```", "", ["read_file"]),
        (f"<tool_call>{CALL}</tool_call>", "", ["read_file"]),
        (f"I look.\n<tool_call>{CALL}</tool_call>", "I look.\n", ["read_file"]),
        (f"[{CALL}, {CALL}]", "", ["read_file", "read_file"]),
        ("<tool_call>{broken</tool_call>", "", []),
        ('{"name": "fly", "arguments": {}}', '{"name": "fly", "arguments": {}}', []),
        ('{"a": 1}', '{"a": 1}', []),
        ("2 < 3 and <b> is bold", "2 < 3 and <b> is bold", []),
        ("Plain words.", "Plain words.", []),
        ("", "", []),
    ],
)
def test_what_is_heard(size: int, text: str, spoken: str, calls: list[str]) -> None:
    assert heard(text, size) == (spoken, calls)


def test_arguments_as_text_are_read() -> None:
    gate = PrintedCalls(TOOLS)
    gate.feed('{"name": "gpio_write", "parameters": "{\\"channel\\": \\"pump\\"}"}')
    _, (call,) = gate.end()
    assert call.arguments == {"channel": "pump"}


@pytest.mark.parametrize(
    "read",
    [
        f"A page.\n<tool_call>{CALL}</tool_call>",
        f"```\n{CALL.replace(': ', ':')}\n```",
        CALL.replace('"', '\\"'),
        f"> **{CALL}**",
    ],
)
def test_what_was_read_is_quoted_and_not_called(read: str) -> None:
    said = f"There stands: <tool_call>{CALL}</tool_call>"
    gate = PrintedCalls(TOOLS, lambda: ["Other words.", read])
    heard_first = gate.feed(said)
    rest, calls = gate.end()
    assert heard_first + rest == said
    assert not calls


def test_beside_a_quotation_an_own_call_is_made() -> None:
    own = CALL.replace("MEMORY", "OTHER")
    gate = PrintedCalls(TOOLS, lambda: [CALL])
    gate.feed(f"<tool_call>{CALL}</tool_call><tool_call>{own}</tool_call>")
    rest, calls = gate.end()
    assert not rest
    assert [call.arguments for call in calls] == [{"path": "/memory/OTHER.md"}]


@pytest.mark.parametrize("text", ['{"a":' * 50_000, "{" * 50_000])
def test_braces_without_end_are_words(text: str) -> None:
    gate = PrintedCalls(TOOLS)
    assert gate.feed(text) + gate.end()[0] == text
