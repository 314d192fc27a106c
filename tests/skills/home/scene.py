"""A scene: one message to the assistant, the calls a skill asks for, and what they change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from custom_components.mimiclaw.agent.arguments import check
from custom_components.mimiclaw.skill_library.references import ToolShape, references
from scripts.house.twin import Twin
from tests.providers.wire.reply import Call, Reply
from tests.skills.conftest import LIBRARY

type Step = tuple[str, dict[str, Any]]


@dataclass
class Stage:
    """What is there after the scene."""

    files: Path
    twin: Twin | None
    #: The answers that the model got to its calls, in order.
    results: list[str]
    #: The state of the one lamp that no satellite drives.
    lamp: str

    def text(self, path: str) -> str:
        return (self.files / path.strip("/")).read_text(encoding="utf-8")

    def notes(self) -> str:
        """All daily notes."""
        return "".join(
            page.read_text(encoding="utf-8")
            for page in sorted((self.files / "memory").glob("20*.md"))
        )

    def on(self, channel: str) -> bool:
        assert self.twin is not None
        return bool(self.twin.control(f"read {channel}")["on"])


@dataclass(frozen=True)
class Scene:
    """One message, the calls that the skill asks for, and what they change.

    A tool that begins with "*" is one of Home Assistant's own, known by its ending.
    refused: calls that are meant to come back as a refusal.
    """

    skill: str
    says: str
    rounds: tuple[tuple[Step, ...], ...]
    after: Callable[[Stage], None]
    answer: str = "Done."
    files: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    needs_twin: bool = False
    first: tuple[Step, ...] = ()
    refused: tuple[str, ...] = ()


def page_of(skill: str) -> str:
    return (LIBRARY / f"{skill}.md").read_text(encoding="utf-8")


def named(body: dict[str, Any], name: str) -> str:
    """The tool's real name: Home Assistant's own are known by their ending."""
    if not name.startswith("*"):
        return name
    (found,) = [
        tool["name"]
        for tool in body["tools"]
        if tool["name"].endswith(name[1:]) and "__" in tool["name"]
    ]
    return str(found)


def script(scene: Scene) -> list[Any]:
    """What the model answers, round by round."""
    read = Call("read_file", {"path": f"/skills/{scene.skill}.md"}, "skill")
    replies: list[Any] = [Reply(calls=(read,))]
    for number, steps in enumerate(scene.rounds):

        def reply(
            body: dict[str, Any], number: int = number, steps: Any = steps
        ) -> Reply:
            calls = [
                Call(named(body, name), arguments, f"call-{number}-{place}")
                for place, (name, arguments) in enumerate(steps)
            ]
            return Reply(calls=tuple(calls))

        replies.append(reply)
    return [*replies, Reply(text=scene.answer)]


def results(body: dict[str, Any]) -> list[str]:
    """The answers to all calls that a request carries."""
    found = []
    for message in body["messages"]:
        if isinstance(message["content"], str):
            continue
        for block in message["content"]:
            if block["type"] == "tool_result":
                content = block["content"]
                found.append(
                    content
                    if isinstance(content, str)
                    else "".join(part["text"] for part in content)
                )
    return found


def shapes_of(body: dict[str, Any]) -> dict[str, ToolShape]:
    return {
        tool["name"]: ToolShape.of(tool["input_schema"], {}) for tool in body["tools"]
    }


def verify(scene: Scene, asked: list[dict[str, Any]], turn: Mapping[str, Any]) -> None:
    """Check what reached the model, its calls against the tools, and the turn's record."""
    first, second, *_ = asked
    system = "".join(block["text"] for block in first["system"])
    assert f"(/skills/{scene.skill}.md)" in system, "the skill is offered"
    assert results(second)[0].strip() == page_of(scene.skill).strip(), "and read whole"
    tools = {tool["name"]: tool["input_schema"] for tool in first["tools"]}
    text = {one.tool for one in references(page_of(scene.skill), shapes_of(first))}
    for steps in scene.rounds:
        for name, arguments in steps:
            real = named(first, name)
            schema = tools[real]
            assert set(arguments) <= set(schema.get("properties", {})), real
            if not name.startswith("*"):
                check(arguments, schema, {})
                assert name in text, f"the skill never names {name}"
    failed = [line["tool"] for line in turn["tools"] if "error" in line]
    assert failed == list(scene.refused)
    assert turn["outcome"] == "answered"
    assert turn["skills"] == [
        {"path": f"/skills/{scene.skill}.md", "origin": "shipped"}
    ]
