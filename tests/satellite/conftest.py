"""A Home Assistant with the assistant and real twins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from homeassistant.config_entries import SOURCE_USER, ConfigEntryState
from homeassistant.const import CONF_HOST, CONF_PORT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mimiclaw.const import (
    CONF_NOISE_PSK,
    CONF_PROVIDER,
    DOMAIN,
    PROVIDER_OFFLINE,
    SUBENTRY_PROVIDER,
    SUBENTRY_SATELLITE,
)
from custom_components.mimiclaw.satellite.registry import Satellites
from scripts.house.twin import Twin

from .recorder import PATIENCE_S


class House:
    """Home Assistant with the assistant set up, as tests want to speak of it."""

    def __init__(self, hass: HomeAssistant, entry: MockConfigEntry) -> None:
        self.hass = hass
        self.entry = entry

    @property
    def satellites(self) -> Satellites:
        found: Satellites = self.entry.runtime_data.satellites
        return found

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until it holds, however slow the machine is."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0.01)
        await self.hass.async_block_till_done()

    async def add(self, port: int, key: str = "") -> str:
        """Add a satellite as a person does; return its subentry id."""
        result = await self.fill_in(port, key)
        assert result["type"] is FlowResultType.CREATE_ENTRY, result
        subentry_id = str(list(self.entry.subentries)[-1])
        await self.until(lambda: self.is_up(subentry_id))
        return subentry_id

    async def fill_in(self, port: int, key: str = "", host: str = "127.0.0.1") -> Any:
        """Go through the subentry's form; return what came of it."""
        flows = self.hass.config_entries.subentries
        result = await flows.async_init(
            (self.entry.entry_id, SUBENTRY_SATELLITE), context={"source": SOURCE_USER}
        )
        if result["type"] is FlowResultType.MENU:
            result = await flows.async_configure(
                result["flow_id"], {"next_step_id": "address"}
            )
        data: dict[str, Any] = {CONF_HOST: host, CONF_PORT: port}
        if key:
            data[CONF_NOISE_PSK] = key
        result = await flows.async_configure(result["flow_id"], data)
        await self.hass.async_block_till_done()
        return result

    def is_up(self, subentry_id: str) -> bool:
        if self.entry.state is not ConfigEntryState.LOADED:
            return False
        return any(
            one.available
            for one in self.satellites.satellites()
            if one.subentry_id == subentry_id
        )

    def state(self, entity_id: str) -> str:
        state = self.hass.states.get(entity_id)
        return state.state if state else "(none)"

    async def call(
        self, service: str, data: dict[str, Any], domain: str = DOMAIN
    ) -> Any:
        return await self.hass.services.async_call(
            domain,
            service,
            data,
            blocking=True,
            return_response=domain == DOMAIN,
        )


@pytest.fixture(autouse=True)
def _our_integration(enable_custom_integrations: None) -> None:
    """Let Home Assistant load it."""


@pytest.fixture
async def house(hass: HomeAssistant, socket_enabled: None) -> AsyncIterator[House]:
    """Set the assistant up without any satellite."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="MimiClaw",
        subentries_data=[
            {
                "subentry_type": SUBENTRY_PROVIDER,
                "data": {CONF_PROVIDER: PROVIDER_OFFLINE},
                "title": "Offline",
                "unique_id": None,
            }
        ],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    yield House(hass, entry)
    if entry.state is ConfigEntryState.LOADED:
        assert await hass.config_entries.async_unload(entry.entry_id)


@pytest.fixture
async def greenhouse(house: House, twin: Twin) -> str:
    """Add the twin; return its subentry id."""
    return await house.add(twin.port)


#: Where nodes/stock.yaml listens; a stock node cannot be told otherwise.
STOCK_PORT = 46153


@pytest.fixture
async def stock(
    stock_program: Path, tmp_path: Path, socket_enabled: None
) -> AsyncIterator[int]:
    """Run an ESPHome node that is no satellite; return its port."""
    process = await asyncio.create_subprocess_exec(
        str(stock_program), cwd=tmp_path, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", STOCK_PORT)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield STOCK_PORT
    finally:
        process.kill()
        await process.wait()
