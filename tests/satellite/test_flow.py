"""Adding, changing and repairing a satellite, by hand and by its announcement."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import Any

from homeassistant.components.repairs.issue_handler import RepairsFlowManager
from homeassistant.config_entries import SOURCE_RECONFIGURE, SOURCE_ZEROCONF
from homeassistant.const import CONF_HOST, CONF_PORT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
from homeassistant.setup import async_setup_component
import pytest

from custom_components.mimiclaw.const import (
    CONF_NOISE_PSK,
    DOMAIN,
    SUBENTRY_PROVIDER,
    SUBENTRY_SATELLITE,
)
from scripts.house.twin import Twin
from tests.conftest import MakeTwin

from .conftest import House
from .noise_front import NoiseFront
from .test_link import KEY, OTHER_KEY
from .wire import Wire


def announcement(
    twin: Twin,
    port: int | None = None,
    *,
    encrypted: bool = False,
    changes: dict[str, str] | None = None,
) -> ZeroconfServiceInfo:
    """Return what Home Assistant makes of the device's mDNS packets."""
    properties = {
        "mac": twin.mac.replace(":", "").lower(),
        "friendly_name": "Greenhouse",
        "project_name": "mimiclaw.satellite",
        "project_version": "0.1.0",
        "version": "2026.10.0",
        **(
            {"api_encryption": "Noise_NNpsk0_25519_ChaChaPoly_SHA256"}
            if encrypted
            else {}
        ),
        **(changes or {}),
    }
    return ZeroconfServiceInfo(
        ip_address=ip_address("127.0.0.1"),
        ip_addresses=[ip_address("127.0.0.1")],
        port=port or twin.port,
        hostname="mimiclaw-twin.local.",
        type="_esphomelib._tcp.local.",
        name="mimiclaw-twin._esphomelib._tcp.local.",
        properties=properties,
    )


async def _announce(hass: HomeAssistant, info: ZeroconfServiceInfo) -> Any:
    return await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_ZEROCONF}, data=info
    )


async def test_by_hand(house: House, twin: Twin) -> None:
    result = await house.fill_in(twin.port)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Greenhouse"
    subentry = list(house.entry.subentries.values())[-1]
    assert subentry.subentry_type == SUBENTRY_SATELLITE
    assert subentry.unique_id == twin.mac.lower()
    assert subentry.data == {
        CONF_HOST: "127.0.0.1",
        CONF_PORT: twin.port,
        CONF_NOISE_PSK: "",
    }


async def test_nobody_there(house: House) -> None:
    async with Wire(1) as wire:
        port = wire.port
    result = await house.fill_in(port)
    assert result["errors"] == {"base": "satellite_unreachable"}


async def test_an_esphome_node_that_is_no_satellite(house: House, stock: int) -> None:
    result = await house.fill_in(stock)
    assert result["errors"] == {"base": "satellite_not_satellite"}


async def test_keys_are_tried_before_anything_is_saved(
    house: House, twin: Twin
) -> None:
    async with NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front:
        result = await house.fill_in(front.port)
        assert result["errors"] == {CONF_NOISE_PSK: "satellite_key_needed"}
        result = await house.fill_in(front.port, OTHER_KEY)
        assert result["errors"] == {CONF_NOISE_PSK: "satellite_key_wrong"}
        result = await house.fill_in(front.port, "not a key")
        assert result["errors"] == {CONF_NOISE_PSK: "satellite_key_wrong"}
        result = await house.fill_in(front.port, KEY)
        assert result["type"] is FlowResultType.CREATE_ENTRY
        await house.until(lambda: house.is_up(list(house.entry.subentries)[-1]))
        await house.hass.config_entries.async_unload(house.entry.entry_id)
    result = await house.fill_in(twin.port, KEY)
    assert result["errors"] == {CONF_NOISE_PSK: "satellite_key_removed"}


async def test_the_same_device_is_not_added_twice(
    house: House, twin: Twin, greenhouse: str
) -> None:
    result = await house.fill_in(twin.port)
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"
    assert len(house.satellites.satellites()) == 1


async def test_adding_a_moved_device_by_hand_moves_it(
    house: House, twin: Twin, greenhouse: str
) -> None:
    async with Wire(twin.port) as wire:
        result = await house.fill_in(wire.port)
        assert result["reason"] == "already_configured"
        assert house.entry.subentries[greenhouse].data[CONF_PORT] == wire.port
        await house.until(lambda: house.is_up(greenhouse))
        assert wire.accepted
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_reconfigure_wants_the_same_device(
    house: House, twin: Twin, greenhouse: str, make_twin: MakeTwin
) -> None:
    other = make_twin(mac="02:4D:43:00:00:02")
    flows = house.hass.config_entries.subentries
    result = await flows.async_init(
        (house.entry.entry_id, SUBENTRY_SATELLITE),
        context={"source": SOURCE_RECONFIGURE, "subentry_id": greenhouse},
    )
    assert result["step_id"] == "reconfigure"
    result = await flows.async_configure(
        result["flow_id"], {CONF_HOST: "127.0.0.1", CONF_PORT: other.port}
    )
    assert result["errors"] == {"base": "satellite_wrong_device"}
    async with Wire(twin.port) as wire:
        result = await flows.async_configure(
            result["flow_id"], {CONF_HOST: "127.0.0.1", CONF_PORT: wire.port}
        )
        assert result["reason"] == "reconfigure_successful"
        await house.until(lambda: wire.accepted > 1 and house.is_up(greenhouse))
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_an_announcement_sets_the_assistant_up(
    hass: HomeAssistant, twin: Twin
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    result = await _announce(hass, announcement(twin))
    assert result["type"] is FlowResultType.FORM
    assert result["step_id"] == "satellite"
    result = await hass.config_entries.flow.async_configure(result["flow_id"], {})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    entry = result["result"]
    kinds = [one.subentry_type for one in entry.subentries.values()]
    assert sorted(kinds) == [SUBENTRY_PROVIDER, SUBENTRY_SATELLITE]
    await hass.async_block_till_done()
    house = House(hass, entry)
    await house.until(lambda: house.state("switch.greenhouse_water_pump") == "off")
    await hass.config_entries.async_unload(entry.entry_id)


async def test_an_announcement_adds_to_the_assistant_with_its_key(
    house: House, twin: Twin
) -> None:
    hass = house.hass
    async with NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front:
        info = announcement(twin, front.port, encrypted=True)
        result = await _announce(hass, info)
        again = await _announce(hass, info)
        assert again["reason"] == "already_in_progress"
        flow = hass.config_entries.flow
        result = await flow.async_configure(
            result["flow_id"], {CONF_NOISE_PSK: OTHER_KEY}
        )
        assert result["errors"] == {CONF_NOISE_PSK: "satellite_key_wrong"}
        result = await flow.async_configure(result["flow_id"], {CONF_NOISE_PSK: KEY})
        assert result["type"] is FlowResultType.ABORT
        assert result["reason"] == "satellite_added"
        await hass.async_block_till_done()
        await house.until(lambda: house.is_up(list(house.entry.subentries)[-1]))
        await hass.config_entries.async_unload(house.entry.entry_id)


@pytest.mark.parametrize(
    "changes", [{"project_name": "other.thing"}, {"project_name": ""}, {"mac": ""}]
)
async def test_others_announcements_are_left_alone(
    house: House, twin: Twin, changes: dict[str, str]
) -> None:
    result = await _announce(house.hass, announcement(twin, changes=changes))
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "satellite_not_satellite"


async def test_a_moved_device_is_followed_and_not_asked_about(
    house: House, twin: Twin, greenhouse: str
) -> None:
    async with Wire(twin.port) as wire:
        result = await _announce(house.hass, announcement(twin, wire.port))
        assert result["reason"] == "already_configured"
        await house.hass.async_block_till_done()
        await house.until(lambda: house.is_up(greenhouse) and wire.accepted > 1)
        assert house.entry.subentries[greenhouse].data[CONF_PORT] == wire.port
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_a_stale_or_forged_address_is_not_followed(
    house: House, twin: Twin, greenhouse: str, make_twin: MakeTwin
) -> None:
    other = make_twin(mac="02:4D:43:00:00:02")
    async with Wire(1) as wire:
        nobody = wire.port
    for port in (nobody, other.port):
        result = await _announce(house.hass, announcement(twin, port))
        assert result["reason"] == "already_configured"
        assert house.entry.subentries[greenhouse].data[CONF_PORT] == twin.port
    assert house.is_up(greenhouse)


async def _repair(house: House, issue_id: str, answer: dict[str, Any]) -> Any:
    manager: RepairsFlowManager = house.hass.data["repairs"]["flow_manager"]
    result = await manager.async_init(DOMAIN, data={"issue_id": issue_id})
    assert result["type"] is FlowResultType.FORM
    return await manager.async_configure(result["flow_id"], answer)


async def test_a_changed_key_is_a_repair_that_asks_for_it(
    house: House, twin: Twin
) -> None:
    assert await async_setup_component(house.hass, "repairs", {})
    issues = ir.async_get(house.hass)
    front = NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac)
    async with front:
        subentry_id = await house.add(front.port, KEY)
    issue_id = f"satellite_trouble_{subentry_id}"
    assert issues.async_get_issue(DOMAIN, issue_id) is None
    front.key = OTHER_KEY
    async with front:
        await house.until(lambda: issues.async_get_issue(DOMAIN, issue_id))
        issue = issues.async_get_issue(DOMAIN, issue_id)
        assert issue is not None
        assert issue.translation_key == "satellite_key_wrong"
        assert issue.is_fixable
        result = await _repair(house, issue_id, {CONF_NOISE_PSK: KEY})
        assert result["errors"] == {CONF_NOISE_PSK: "satellite_key_wrong"}
        result = await _repair(house, issue_id, {CONF_NOISE_PSK: OTHER_KEY})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        await house.until(lambda: house.is_up(subentry_id))
        assert issues.async_get_issue(DOMAIN, issue_id) is None
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_a_removed_key_waits_for_the_owners_word(
    house: House, twin: Twin
) -> None:
    assert await async_setup_component(house.hass, "repairs", {})
    issues = ir.async_get(house.hass)
    async with NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front:
        subentry_id = await house.add(front.port, KEY)
        port = front.port
    issue_id = f"satellite_trouble_{subentry_id}"
    plain = Wire(twin.port)
    plain.port = port
    async with plain:
        await house.until(lambda: issues.async_get_issue(DOMAIN, issue_id))
        issue = issues.async_get_issue(DOMAIN, issue_id)
        assert issue is not None
        assert issue.translation_key == "satellite_key_removed"
        assert not house.is_up(subentry_id)
        result = await _repair(house, issue_id, {})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        await house.until(lambda: house.is_up(subentry_id))
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_weak_wifi_never_asks_for_a_key(house: House, twin: Twin) -> None:
    async with (
        NoiseFront(twin.port, KEY, "mimiclaw-twin", twin.mac) as front,
        Wire(front.port) as wire,
    ):
        subentry_id = await house.add(wire.port, KEY)
        wire.snap = True
        wire.cut()
        seen = wire.accepted
        await house.until(lambda: wire.accepted > seen + 3)
        assert not house.is_up(subentry_id)
        assert not ir.async_get(house.hass).issues
        assert not house.hass.config_entries.flow.async_progress()
        wire.snap = False
        await house.until(lambda: house.is_up(subentry_id))
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_removing_a_satellite_leaves_nothing(
    house: House, twin: Twin, greenhouse: str
) -> None:
    house.hass.config_entries.async_remove_subentry(house.entry, greenhouse)
    await house.hass.async_block_till_done()
    assert house.satellites.satellites() == []
    assert house.satellites.channels() == []
    assert house.state("switch.greenhouse_water_pump") == "(none)"
    async with asyncio.timeout(10):
        while await asyncio.to_thread(lambda: twin.control("stats")["clients"]):
            await asyncio.sleep(0.02)
