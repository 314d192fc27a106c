"""The house of the demo and of the end-to-end tests: Home Assistant and a satellite."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
import os
from pathlib import Path
from typing import Any

from . import package
from .home_assistant import HomeAssistant
from .steps import StepFailed, say
from .twin import Twin, build_twin

ROOT = Path(__file__).resolve().parents[2]
AGENT = "conversation.mimiclaw"
EVENT_TURN = "mimiclaw_turn"
SENTENCES = ROOT / "custom_components" / "mimiclaw" / "fast_path" / "sentences"


@dataclass
class House:
    """A running house with the assistant set up in it."""

    home: HomeAssistant
    twin: Twin
    entry_id: str
    provider: str

    @property
    def workspace(self) -> Path:
        """Return the folder that the assistant keeps its files in."""
        return self.home.folder / "mimiclaw"

    async def say(self, text: str, conversation_id: str) -> tuple[str, dict[str, Any]]:
        """Say something over conversation/process; return the reply and the turn's event."""
        async with self.home.socket() as commands:
            await commands.send("subscribe_events", event_type=EVENT_TURN)
            answer = await self.home.post(
                "/api/conversation/process",
                {
                    "text": text,
                    "language": "en",
                    "agent_id": AGENT,
                    "conversation_id": conversation_id,
                },
            )
            event = await commands.event()
        return answer["response"]["speech"]["plain"]["speech"], event["data"]

    def pin(self, channel: str) -> bool:
        """Return whether a channel of the satellite is on, read from the satellite."""
        return bool(self.twin.control(f"read {channel}")["on"])

    async def pin_becomes(
        self, channel: str, wanted: bool, timeout_s: float = 10
    ) -> None:
        """Wait until a channel is as wanted. Raises StepFailed."""
        try:
            async with asyncio.timeout(timeout_s):
                while await asyncio.to_thread(self.pin, channel) is not wanted:
                    await asyncio.sleep(0.02)
        except TimeoutError:
            state = "on" if wanted else "off"
            raise StepFailed(f"{channel} did not go {state}") from None


def provider_answers(environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the answers to the set-up's questions that the environment gives."""
    for provider, prefix in (("anthropic", "ANTHROPIC"), ("openai", "OPENAI")):
        key = environment.get(f"{prefix}_API_KEY")
        if not key:
            continue
        details = {"api_key": key}
        for name, variable in (("model", "MODEL"), ("base_url", "BASE_URL")):
            if value := environment.get(f"{prefix}_{variable}"):
                details[name] = value
        return [{"provider": provider}, details]
    return [{"provider": "offline"}]


@asynccontextmanager
async def open_house(
    folder: Path,
    environment: Path = ROOT / ".venv-newest",
    variables: Mapping[str, str] = os.environ,
) -> AsyncIterator[House]:
    """Build, start and set up the house; take it down at the end.

    `folder` is made anew. `environment` says which Home Assistant runs.
    Raises StepFailed.
    """
    say("• Building the satellite's twin (ESPHome, host platform) …")
    binary = await asyncio.to_thread(build_twin)
    home = HomeAssistant(environment, folder / "config")
    archive = await asyncio.to_thread(package.build, folder / "mimiclaw.zip")
    with Twin(binary) as twin:
        say(f"• The satellite's twin listens on {twin.host}:{twin.port}.")
        try:
            home.lay_down(lambda config: package.install(config, archive))
            say("• Starting Home Assistant …")
            await home.start()
            await home.onboard()
            answers = provider_answers(variables)
            made = await _set_up(home, answers)
            entry_id = made["result"]["entry_id"]
            await _speak_ten_languages(home, entry_id)
            address = {"host": twin.host, "port": twin.port}
            await home.add_subentry(entry_id, "satellite", address)
            house = House(home, twin, entry_id, answers[0]["provider"])
            await _prefer_the_assistant(home)
            await _wait_for_relays(home)
            await _give_it_a_room(home)
            yield house
        finally:
            await home.stop()


async def _set_up(home: HomeAssistant, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Set the assistant up; say what to look at if the provider is not accepted."""
    try:
        return await home.set_up("mimiclaw", *answers)
    except StepFailed as err:
        raise StepFailed(
            f"✗ Setting up the assistant failed: {err}\n"
            "  Way out: check key, model and address of the provider in the environment, "
            "or take them out to try it offline."
        ) from err


async def _speak_ten_languages(home: HomeAssistant, entry_id: str) -> None:
    """Let the house understand commands in every language we have sentences for."""
    path = "/api/config/config_entries/options/flow"
    flow = await home.post(path, {"handler": entry_id})
    page = f"{path}/{flow['flow_id']}"
    await home.post(page, {"next_step_id": "agent"})
    languages = sorted(one.stem for one in SENTENCES.glob("*.yaml"))
    answer = {"profile": "frontier", "local_intents": True, "languages": languages}
    await home.post(page, answer)


async def _give_it_a_room(home: HomeAssistant) -> None:
    """Put the satellite into an area, so that the overview shows it."""
    area = await home.command("config/area_registry/create", name="Greenhouse")
    for device in await home.command("config/device_registry/list"):
        if device["name"] == "Greenhouse":
            await home.command(
                "config/device_registry/update",
                device_id=device["id"],
                area_id=area["area_id"],
            )


async def _prefer_the_assistant(home: HomeAssistant) -> None:
    """Let the Assist dialog of the frontend talk to the assistant."""
    pipelines = await home.command("assist_pipeline/pipeline/list")
    for pipeline in pipelines["pipelines"]:
        if pipeline["id"] == pipelines["preferred_pipeline"]:
            settings = {key: value for key, value in pipeline.items() if key != "id"}
            settings["conversation_engine"] = AGENT
            settings["conversation_language"] = "en"
            settings["name"] = "MimiClaw"
            await home.command(
                "assist_pipeline/pipeline/update",
                pipeline_id=pipeline["id"],
                **settings,
            )


async def _wait_for_relays(home: HomeAssistant) -> None:
    """Wait until the satellite's relays are there and known."""
    try:
        async with asyncio.timeout(30):
            while not await relays(home):
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise StepFailed("the satellite's relays did not appear") from None


async def relays(home: HomeAssistant) -> dict[str, str]:
    """Return entity id and state of each relay that is within reach."""
    states = await home.get("/api/states")
    return {
        one["entity_id"]: one["state"]
        for one in states
        if one["entity_id"].startswith("switch.") and one["state"] in {"on", "off"}
    }
