"""A Home Assistant with the assistant, a scripted model and, where wanted, a twin."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.const import CONF_HOST, CONF_LLM_HASS_API, CONF_PORT
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mimiclaw.const import CONF_NOISE_PSK
from scripts.house.twin import Twin
from tests.integration.conftest import (
    Serve,
    SetUp,
    anthropic,
    house,
    say,
    serve,
    set_up,
    turns,
    workspace,
)
from tests.providers.wire.anthropic_server import AnthropicServer

__all__ = ["house", "say", "serve", "set_up", "turns", "workspace"]

PATIENCE_S = 30.0

type Open = Callable[..., Awaitable[AnthropicServer]]


def satellite(twin: Twin) -> ConfigSubentryDataWithId:
    """Return the subentry that reaches a twin."""
    return ConfigSubentryDataWithId(
        data={CONF_HOST: twin.host, CONF_PORT: twin.port, CONF_NOISE_PSK: ""},
        subentry_type="satellite",
        title="Greenhouse",
        unique_id=twin.mac.lower(),
        subentry_id="satellite-greenhouse",
    )


async def until(condition: Callable[[], object]) -> None:
    """Wait until it holds, however slow the machine is."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
async def open_house(
    hass: HomeAssistant, serve: Serve, set_up: SetUp, workspace: Path
) -> Open:
    """Set the assistant up with a model that answers as scripted; wait for its satellite."""

    async def make(*script: object, twin: Twin | None = None) -> AnthropicServer:
        server = await serve(*script)
        parts = [anthropic(server), *([satellite(twin)] if twin else [])]
        entry: MockConfigEntry = await set_up(
            *parts, options={CONF_LLM_HASS_API: [llm.LLM_API_ASSIST]}
        )
        if twin:
            satellites = entry.runtime_data.satellites
            await until(
                lambda: (
                    satellites.channels()
                    and all(one.available for one in satellites.satellites())
                )
            )
            await until(lambda: entry.runtime_data.commander.grammar.channels)
        return server

    return make
