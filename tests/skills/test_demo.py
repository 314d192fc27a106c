"""Every skill of the library, played on the demo: a real process, the release, the twin.

The house is the one that `scripts/demo` opens; only the model is a server on loopback.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts

from scripts.house.demo_house import House, open_house
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.reply import Call, Reply

from .conftest import LIBRARY
from .home.scene import Scene, Stage, results, script, verify
from .home.scenes import SCENES
from .home.test_creator import PAGE

ROOT = Path(__file__).parents[2]
LAMP = "switch.reading_lamp"


async def furnish(house: House) -> None:
    """Give the house a lamp and let the assistant use Home Assistant's own tools."""
    await house.home.set_up(
        "template",
        {"next_step_id": "switch"},
        {"name": "Reading lamp", "turn_on": [], "turn_off": []},
    )
    await expose(house, LAMP)
    started = await house.home.post(
        "/api/config/config_entries/options/flow", {"handler": house.entry_id}
    )
    flow = f"/api/config/config_entries/options/flow/{started['flow_id']}"
    await house.home.post(flow, {"next_step_id": "agent"})
    done = await house.home.post(
        flow, {"profile": "frontier", "llm_hass_api": ["assist"], "local_intents": True}
    )
    assert done["type"] == "create_entry", done
    await ready(house)


async def ready(house: House) -> None:
    """Wait until the assistant is back and its satellite answers."""
    async with asyncio.timeout(60):
        while True:
            states = await house.home.get("/api/states")
            known = {one["entity_id"]: one["state"] for one in states}
            pump = [
                state for name, state in known.items() if name.endswith("_water_pump")
            ]
            if pump in (["on"], ["off"]):
                return
            await asyncio.sleep(0.1)


async def expose(house: House, entity_id: str) -> None:
    await house.home.command(
        "homeassistant/expose_entity",
        assistants=["conversation"],
        entity_ids=[entity_id],
        should_expose=True,
    )


async def play(house: House, server: AnthropicServer, scene: Scene) -> None:
    """Play one scene and check what it changed."""
    for path, text in scene.files.items():
        page = house.workspace / path.strip("/")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    for entity_id, (state, attributes) in scene.states.items():
        body = {"state": state, "attributes": dict(attributes)}
        await house.home.post(f"/api/states/{entity_id}", body)
        await expose(house, entity_id)
    for action, data in scene.first:
        await house.home.call("mimiclaw", action, data)
    server.script.extend(script(scene))
    before = len(server.asked)
    reply, turn = await house.say(scene.says, f"scene-{scene.skill}")
    asked = server.asked[before:]
    verify(scene, asked, turn)
    assert reply == scene.answer
    assert not server.script
    lamp = (await house.home.get(f"/api/states/{LAMP}"))["state"]
    scene.after(Stage(house.workspace, house.twin, results(asked[-1]), lamp))
    for channel in ("water pump", "drip valve"):
        off = {"channel": channel, "state": "off"}
        await house.home.call("mimiclaw", "gpio_write", off)


async def make_a_skill(house: House, server: AnthropicServer) -> None:
    """Play skill-creator: two messages, and the list of the third."""
    read = Call("read_file", {"path": "/skills/skill-creator.md"}, "a")
    checked = Call("check_skill", {"name": "compost-turning", "text": PAGE}, "b")
    save = Call("save_skill", {"name": "compost-turning"}, "c")
    server.script.extend(
        [
            Reply(calls=(read,)),
            Reply(calls=(checked,)),
            Reply(text=f"{PAGE}\nShall I keep it?"),
            Reply(calls=(save,)),
            Reply(text="Kept."),
            Reply(text="Hello."),
        ]
    )
    await house.say("Make a skill for turning the compost", "scene-creator")
    await house.say("yes", "scene-creator")
    made = house.workspace / "skills" / "compost-turning.md"
    assert made.read_text(encoding="utf-8") == PAGE
    await house.say("hello there, how are you", "scene-creator")
    system = "".join(block["text"] for block in server.asked[-1]["system"])
    assert "(/skills/compost-turning.md)" in system
    answer = await house.home.call(
        "mimiclaw",
        "import_skill",
        {"text": "# Bread\n\nBake bread.\n", "source": "Ben"},
        "?return_response",
    )
    assert answer["service_response"]["path"] == "/skills/bread.md"


@pytest.mark.usefixtures("socket_enabled")
async def test_every_skill_on_the_demo(tmp_path: Path) -> None:
    # The twin's control socket is a file.
    socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)
    async with AnthropicServer() as server:
        variables = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": server.url}
        async with open_house(tmp_path, ROOT / ".venv-newest", variables) as house:
            shipped = {page.name for page in (house.workspace / "skills").glob("*.md")}
            assert shipped == {page.name for page in LIBRARY.glob("*.md")}
            await furnish(house)
            for scene in SCENES:
                await play(house, server, scene)
            await make_a_skill(house, server)
            log = house.home.log_file.read_text(encoding="utf-8")
    ours = [
        line
        for line in log.splitlines()
        if "mimiclaw" in line and (" ERROR " in line or "Detected" in line)
    ]
    assert not ours
