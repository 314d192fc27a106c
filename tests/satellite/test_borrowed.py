"""A satellite on the connection that the ESPHome integration already has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import MagicMock

from homeassistant.config_entries import SOURCE_USER
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mimiclaw.const import (
    CONF_ESPHOME_ENTRY,
    SUBENTRY_SATELLITE,
)
from custom_components.mimiclaw.satellite.model import PolicyEvent
from scripts.house.twin import Twin

from .conftest import House

PUMP = "switch.greenhouse_water_pump"


@pytest.fixture
async def esphome(
    house: House,
    twin: Twin,
    enable_bluetooth: None,
    mock_async_zeroconf: MagicMock,
) -> AsyncIterator[MockConfigEntry]:
    """Let the ESPHome integration have the twin."""
    entry = MockConfigEntry(
        domain="esphome",
        title="Greenhouse",
        unique_id=twin.mac.lower(),
        data={
            "host": "127.0.0.1",
            "port": twin.port,
            "password": "",
            "noise_psk": "",
            "device_name": "mimiclaw-twin",
        },
    )
    entry.add_to_hass(house.hass)
    assert await house.hass.config_entries.async_setup(entry.entry_id)
    await house.until(lambda: house.state(PUMP) == "off")
    yield entry
    await house.hass.config_entries.async_unload(entry.entry_id)


async def _start(house: House) -> Any:
    return await house.hass.config_entries.subentries.async_init(
        (house.entry.entry_id, SUBENTRY_SATELLITE), context={"source": SOURCE_USER}
    )


@pytest.fixture
async def borrowed(house: House, esphome: MockConfigEntry) -> str:
    """Add the twin through ESPHome, as a person does; return its subentry id."""
    flows = house.hass.config_entries.subentries
    result = await _start(house)
    assert result["type"] is FlowResultType.MENU
    assert result["menu_options"] == ["borrow", "address"]
    result = await flows.async_configure(result["flow_id"], {"next_step_id": "borrow"})
    result = await flows.async_configure(
        result["flow_id"], {CONF_ESPHOME_ENTRY: esphome.entry_id}
    )
    assert result["type"] is FlowResultType.CREATE_ENTRY
    await house.hass.async_block_till_done()
    subentry_id = str(list(house.entry.subentries)[-1])
    await house.until(lambda: house.is_up(subentry_id))
    return subentry_id


async def test_no_second_connection_and_no_second_entities(
    house: House, twin: Twin, borrowed: str
) -> None:
    assert twin.control("stats")["clients"] == 1
    registry = er.async_get(house.hass)
    ours = [
        one
        for one in er.async_entries_for_config_entry(registry, house.entry.entry_id)
        if one.config_subentry_id == borrowed
    ]
    assert ours == []
    devices = dr.async_entries_for_config_entry(
        dr.async_get(house.hass), house.entry.entry_id
    )
    assert not [one for one in devices if one.config_subentry_id == borrowed]


async def test_an_address_that_esphome_has_offers_the_way(
    house: House, twin: Twin, esphome: MockConfigEntry
) -> None:
    result = await house.fill_in(twin.port)
    assert result["type"] is FlowResultType.MENU
    assert result["menu_options"] == ["lent", "own"]
    flows = house.hass.config_entries.subentries
    result = await flows.async_configure(result["flow_id"], {"next_step_id": "lent"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {CONF_ESPHOME_ENTRY: esphome.entry_id}
    # It is lent now, so there is nothing more to borrow.
    result = await _start(house)
    assert result["step_id"] == "address"


async def test_an_own_connection_beside_esphome(
    house: House, twin: Twin, esphome: MockConfigEntry
) -> None:
    result = await house.fill_in(twin.port)
    flows = house.hass.config_entries.subentries
    result = await flows.async_configure(result["flow_id"], {"next_step_id": "own"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    await house.hass.async_block_till_done()
    await house.until(lambda: house.is_up(list(house.entry.subentries)[-1]))
    assert twin.control("stats")["clients"] == 2
    # A device belongs to one entry; each has its own of the same MAC address.
    for entry in (house.entry, esphome):
        assert dr.async_get(house.hass).async_get_device_by_connection(
            (dr.CONNECTION_NETWORK_MAC, twin.mac.lower()), entry.entry_id
        )


async def test_commands_states_and_refusals(
    house: House, twin: Twin, borrowed: str
) -> None:
    satellites = house.satellites
    pump = satellites.resolve("water pump")[0]
    outcome = await satellites.write(pump.key, "on", actor="fast_path")
    assert outcome.ok
    assert outcome.state is True
    assert twin.control("read pump")["on"] is True
    await house.until(lambda: house.state(PUMP) == "on")
    assert satellites.state(pump.key).state is True
    valve = satellites.resolve("valve")[0]
    outcome = await satellites.write(valve.key, "on", 3600.0, actor="agent")
    assert (outcome.code, outcome.limit_ms) == ("over_max", 900_000)
    edges = twin.control("edges pump")["count"]
    assert (await satellites.read(pump.key)).state is True
    assert twin.control("edges pump")["count"] == edges


async def test_states_follow_the_entities(
    house: House, twin: Twin, borrowed: str
) -> None:
    door = house.satellites.resolve("door")[0]
    moisture = house.satellites.resolve("moisture")[0]
    twin.control("set door 1")
    twin.control("set moisture 27")
    await house.until(lambda: house.satellites.state(door.key).state is True)
    await house.until(lambda: house.satellites.state(moisture.key).value == 27.0)
    await house.call("turn_on", {"entity_id": PUMP}, "switch")
    pump = house.satellites.resolve("pump")[0]
    await house.until(lambda: house.satellites.state(pump.key).state is True)


async def test_names_and_areas_come_from_esphomes_entities(
    house: House, twin: Twin, borrowed: str
) -> None:
    yard = ar.async_get(house.hass).async_create("Yard")
    er.async_get(house.hass).async_update_entity(PUMP, name="Fountain", area_id=yard.id)
    await house.hass.async_block_till_done()
    assert [one.area for one in house.satellites.resolve("fountain")] == ["Yard"]
    await house.call("gpio_write", {"entity_id": PUMP, "state": "on"})
    assert twin.control("read pump")["on"] is True
    device = dr.async_get(house.hass).async_get(
        er.async_get(house.hass).async_get(PUMP).device_id  # type: ignore[union-attr, arg-type]
    )
    assert device is not None
    await house.call(
        "gpio_write", {"device_id": device.id, "channel": "fan", "state": "on"}
    )
    assert twin.control("read fan")["on"] is True


async def test_order_and_bursts(house: House, twin: Twin, borrowed: str) -> None:
    pump = house.satellites.resolve("pump")[0]
    states = ["on", "off"] * 12 + ["on"]
    outcomes = await asyncio.gather(
        *(house.satellites.write(pump.key, one) for one in states)  # type: ignore[arg-type]
    )
    assert [one.state for one in outcomes] == [one == "on" for one in states]
    assert twin.control("read pump")["on"] is True


async def test_policy_events_pass_through(
    house: House, twin: Twin, borrowed: str
) -> None:
    seen: list[PolicyEvent] = []
    house.satellites.async_add_event_listener(borrowed, seen.append)
    valve = house.satellites.resolve("valve")[0]
    await house.satellites.write(valve.key, "on", 3600.0)
    await house.until(lambda: bool(seen))
    assert (seen[0].type, seen[0].channel, seen[0].detail) == (
        "refused",
        "valve",
        "over_max",
    )


async def test_away_and_back(house: House, twin: Twin, borrowed: str) -> None:
    pump = house.satellites.resolve("pump")[0]
    await asyncio.to_thread(twin.control, "freeze 4000")
    waiting = asyncio.create_task(house.satellites.write(pump.key, "on"))
    assert (await waiting).code == "timeout"
    await asyncio.to_thread(twin.stop, kill=True)
    await house.until(lambda: house.state(PUMP) == STATE_UNAVAILABLE)
    await house.until(lambda: not house.is_up(borrowed))
    assert (await house.satellites.write(pump.key, "on")).code == "unreachable"
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("gpio_write", {"channel": "pump", "state": "on"})
    assert caught.value.translation_key == "channel_unreachable"
    await asyncio.to_thread(twin.start)
    await house.until(lambda: house.is_up(borrowed))
    assert twin.control("edges pump")["count"] == 0


async def test_a_broken_connection_ends_the_wait(
    house: House, twin: Twin, borrowed: str
) -> None:
    pump = house.satellites.resolve("pump")[0]
    await asyncio.to_thread(twin.control, "freeze 3000")
    waiting = asyncio.create_task(house.satellites.write(pump.key, "on"))
    await asyncio.sleep(0.05)
    await asyncio.to_thread(twin.stop, kill=True)
    assert (await waiting).code == "unreachable"


async def test_esphome_unloaded_and_loaded_again(
    house: House, twin: Twin, borrowed: str, esphome: MockConfigEntry
) -> None:
    await house.hass.config_entries.async_unload(esphome.entry_id)
    await house.until(lambda: not house.is_up(borrowed))
    assert [one.id for one in house.satellites.resolve("pump")] == ["pump"]
    await house.hass.config_entries.async_setup(esphome.entry_id)
    await house.until(lambda: house.is_up(borrowed))


async def test_removing_it_leaves_esphomes_alone(
    house: House, twin: Twin, borrowed: str
) -> None:
    house.hass.config_entries.async_remove_subentry(house.entry, borrowed)
    await house.hass.async_block_till_done()
    assert house.satellites.channels() == []
    assert house.state(PUMP) == "off"
