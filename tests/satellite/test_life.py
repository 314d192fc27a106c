"""Unload and reload, reboots without end, bursts: nothing is left, nothing is lost."""

from __future__ import annotations

import asyncio
from types import MappingProxyType

from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.helpers import issue_registry as ir
import pytest

from custom_components.mimiclaw.const import DOMAIN, SUBENTRY_SATELLITE
from custom_components.mimiclaw.satellite import registry as registry_module
from custom_components.mimiclaw.satellite.limits import REBOOTS
from scripts.house.twin import Twin
from tests.conftest import MakeTwin

from .conftest import House
from .wire import Wire

PUMP = "switch.greenhouse_water_pump"


def _listeners(house: House) -> dict[str, int]:
    listeners = house.hass.bus.async_listeners()
    # Home Assistant's own registries wait there to be written, each in its time.
    return {
        str(event): count
        for event, count in listeners.items()
        if event != EVENT_HOMEASSISTANT_FINAL_WRITE
    }


def _add_absent(house: House, port: int) -> None:
    """Add a satellite that cannot be asked, as after a restart during a power cut."""
    data = {"host": "127.0.0.1", "port": port, "noise_psk": ""}
    subentry = ConfigSubentry(
        data=MappingProxyType(data),
        subentry_type=SUBENTRY_SATELLITE,
        title="Nobody",
        unique_id="02:00:00:00:00:01",
    )
    house.hass.config_entries.async_add_subentry(house.entry, subentry)


async def test_unload_leaves_no_task_listener_or_socket(
    house: House, twin: Twin, greenhouse: str
) -> None:
    entry_id = house.entry.entry_id
    assert await house.hass.config_entries.async_unload(entry_id)
    await house.hass.async_block_till_done()
    before = _listeners(house)
    tasks = {one.get_name() for one in asyncio.all_tasks()}
    for _ in range(3):
        assert await house.hass.config_entries.async_setup(entry_id)
        await house.until(lambda: house.is_up(greenhouse))
        assert await house.hass.config_entries.async_unload(entry_id)
        await house.hass.async_block_till_done()
    assert _listeners(house) == before
    left = {one.get_name() for one in asyncio.all_tasks()} - tasks
    assert not [name for name in left if "satellite" in name]
    async with asyncio.timeout(10):
        while await asyncio.to_thread(lambda: twin.control("stats")["clients"]):
            await asyncio.sleep(0.02)


async def test_unload_while_connecting(house: House, socket_enabled: None) -> None:
    async with Wire(1) as wire:
        wire.deaf = True
        _add_absent(house, wire.port)
        await house.until(lambda: wire.accepted > 0)
        async with asyncio.timeout(5):
            assert await house.hass.config_entries.async_unload(house.entry.entry_id)
        assert not [one for one in asyncio.all_tasks() if "satellite" in one.get_name()]


async def test_an_absent_device_does_not_hold_up_the_start(house: House) -> None:
    async with Wire(1) as wire:
        port = wire.port
    _add_absent(house, port)
    await house.hass.async_block_till_done()
    assert house.entry.state is ConfigEntryState.LOADED
    assert len(house.satellites.satellites()) == 1
    assert house.satellites.channels() == []
    assert not ir.async_get(house.hass).issues


async def test_a_moved_satellite_does_not_disturb_the_others(
    house: House,
    twin: Twin,
    greenhouse: str,
    make_twin: MakeTwin,
    caplog: pytest.LogCaptureFixture,
) -> None:
    shed = make_twin(mac="02:4D:43:00:00:02", friendly_name="Shed", name="shed")
    await house.add(shed.port)
    runtime = house.entry.runtime_data
    link = next(
        one.link for one in runtime.satellites.satellites() if one.mac[-2:] == "01"
    )
    async with Wire(shed.port) as wire:
        subentry = list(house.entry.subentries.values())[-1]
        house.hass.config_entries.async_update_subentry(
            house.entry, subentry, data={**subentry.data, "port": wire.port}
        )
        await house.until(lambda: wire.accepted and house.is_up(subentry.subentry_id))
        assert house.entry.runtime_data is runtime
        kept = next(
            one.link for one in runtime.satellites.satellites() if one.mac[-2:] == "01"
        )
        assert kept is link
        # Its own entities live on over the new connection.
        for entity_id in ("switch.shed_water_pump", "event.shed_policy"):
            assert house.state(entity_id) not in {"unavailable", "(none)"}
        await house.call("turn_on", {"entity_id": "switch.shed_water_pump"}, "switch")
        assert shed.control("read pump")["on"] is True
        assert "does not generate unique IDs" not in caplog.text
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_a_device_that_starts_again_and_again(
    house: House, twin: Twin, greenhouse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    issues = ir.async_get(house.hass)
    issue_id = f"satellite_restless_{greenhouse}"
    satellite = house.satellites.satellites()[0]
    for _ in range(REBOOTS - 1):
        assert issues.async_get_issue(DOMAIN, issue_id) is None
        await asyncio.to_thread(twin.stop, kill=True)
        await house.until(lambda: not satellite.available)
        monkeypatch.setattr(registry_module, "STEADY_S", 0.3)
        await asyncio.to_thread(twin.start)
        await house.until(lambda: satellite.available)
    issue = issues.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "satellite_restless"
    # It works all the same, and is believed once it stays.
    assert house.state(PUMP) == "off"
    await house.until(lambda: issues.async_get_issue(DOMAIN, issue_id) is None)


async def test_fifty_commands_at_once_are_each_answered(
    house: House, twin: Twin, greenhouse: str
) -> None:
    keys = [one.key for one in house.satellites.channels()]
    assert len(keys) == 8
    outcomes = await asyncio.gather(
        *(house.satellites.write(keys[i % 8], "toggle") for i in range(50))
    )
    assert [one.channel for one in outcomes] == [keys[i % 8] for i in range(50)]
    assert {one.code for one in outcomes} <= {"ok", "wrong_kind"}


async def test_two_commands_keep_their_order_through_the_entity(
    house: House, twin: Twin, greenhouse: str
) -> None:
    calls = [
        house.call(service, {"entity_id": PUMP}, "switch")
        for service in ("turn_on", "turn_off") * 10
    ]
    await asyncio.gather(*calls)
    levels = [one["level"] for one in twin.control("edges pump")["edges"]]
    assert levels == [1, 0] * 10
    assert house.state(PUMP) == "off"


async def test_changes_in_a_row_leave_one_connection(
    house: House, twin: Twin, greenhouse: str
) -> None:
    subentry = house.entry.subentries[greenhouse]
    async with Wire(twin.port) as wire:
        for _ in range(3):
            for port in (wire.port, twin.port):
                house.hass.config_entries.async_update_subentry(
                    house.entry, subentry, data={**subentry.data, "port": port}
                )
                await asyncio.sleep(0)
        await house.hass.async_block_till_done()
        await house.until(lambda: house.is_up(greenhouse))
        async with asyncio.timeout(10):
            while (
                await asyncio.to_thread(lambda: twin.control("stats")["clients"]) != 1
            ):
                await asyncio.sleep(0.02)
        tasks = [one for one in asyncio.all_tasks() if "satellite" in one.get_name()]
        assert len(tasks) == 1
