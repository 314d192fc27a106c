"""skill-creator: written in a conversation, shown, kept after a yes, listed at the next turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.integration.conftest import Say
from tests.providers.wire.reply import Call, Reply

from .conftest import Open
from .scene import page_of, results

PAGE = """# Turn the compost

When somebody says turn the compost, or asks when it was turned.

## Steps

1. `search_files(query="compost", path="/memory")` finds the last time.
2. `append_note(text="Compost turned.")`.
"""


def system(body: dict[str, Any]) -> str:
    return "".join(block["text"] for block in body["system"])


async def test_made_in_a_conversation(
    open_house: Open, say: Say, turns: list[dict[str, Any]], workspace: Path
) -> None:
    read = Call("read_file", {"path": "/skills/skill-creator.md"}, "a")
    checked = Call("check_skill", {"name": "compost-turning", "text": PAGE}, "b")
    save = Call("save_skill", {"name": "compost-turning"}, "c")
    server = await open_house(
        Reply(calls=(read,)),
        Reply(calls=(checked,)),
        Reply(text=f"Here it is:\n\n{PAGE}\nShall I keep it?"),
        Reply(calls=(save,)),
        Reply(text="Kept."),
        Reply(text="Hello."),
    )
    await say("Make a skill for turning the compost, you know how we do it")
    assert results(server.asked[1])[0].strip() == page_of("skill-creator").strip()
    assert results(server.asked[2])[1].startswith("Good, as a draft")
    assert not (workspace / "skills" / "compost-turning.md").exists()

    await say("yes")
    assert (workspace / "skills" / "compost-turning.md").read_text() == PAGE
    assert "/skills/compost-turning.md" not in system(server.asked[3])

    await say("hello there, how are you")
    assert "- Turn the compost: When somebody says turn the compost" in system(
        server.asked[5]
    )
    assert all("error" not in line for turn in turns for line in turn["tools"])


async def test_anything_but_a_yes_keeps_nothing(
    open_house: Open, say: Say, workspace: Path
) -> None:
    checked = Call("check_skill", {"name": "compost", "text": PAGE}, "a")
    save = Call("save_skill", {"name": "compost"}, "b")
    server = await open_house(
        Reply(calls=(checked,)),
        Reply(text="Shall I keep it?"),
        Reply(calls=(save,)),
        Reply(text="It is not kept."),
    )
    await say("Make a skill for the compost")
    await say("hm, what would it do exactly?")
    assert "ask for a plain yes" in results(server.asked[3])[-1]
    assert not (workspace / "skills" / "compost.md").exists()


async def test_the_model_cannot_say_yes_in_the_same_turn(
    open_house: Open, say: Say, workspace: Path
) -> None:
    checked = Call("check_skill", {"name": "compost", "text": PAGE}, "a")
    save = Call("save_skill", {"name": "compost"}, "b")
    await open_house(Reply(calls=(checked, save)), Reply(text="Shall I keep it?"))
    await say("Make a skill for the compost and save it at once")
    assert not (workspace / "skills" / "compost.md").exists()


async def test_the_way_to_a_skill_stands_in_the_prompt(
    open_house: Open, say: Say
) -> None:
    """HKUDS/nanobot#1630: a skill was listed, and the model said that it had none."""
    server = await open_house(Reply(text="Hello."))
    await say("hello there, how are you")
    text = system(server.asked[0])
    assert (
        "When the task matches a skill in the list below, read the whole skill file"
        in text
    )
    assert "- Weather: Say what the weather is" in text
    assert "(/skills/weather.md)" in text
    assert "/skills/gpio-control.md" not in text, "there is no satellite"
