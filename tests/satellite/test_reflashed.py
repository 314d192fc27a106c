"""A device that comes back with other firmware, or as another device."""

from __future__ import annotations

import asyncio
from pathlib import Path

from homeassistant.components import conversation
from homeassistant.const import EVENT_STATE_CHANGED, STATE_UNAVAILABLE
from homeassistant.core import Context, Event, EventStateChangedData, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.intent import IntentResponseErrorCode
import pytest

from custom_components.mimiclaw.const import DOMAIN
from scripts.house.twin import Twin

from .conftest import STOCK_PORT, House
from .wire import Wire

PUMP = "switch.greenhouse_water_pump"


async def _reflash(house: House, twin: Twin, program: Path, subentry_id: str) -> None:
    await asyncio.to_thread(twin.stop)
    await house.until(lambda: not house.is_up(subentry_id))
    twin.program = program
    await asyncio.to_thread(twin.start)
    await house.until(lambda: house.is_up(subentry_id))


async def test_entities_follow_the_channels(
    house: House,
    twin: Twin,
    greenhouse: str,
    twin_program: Path,
    reflashed_program: Path,
) -> None:
    registry = er.async_get(house.hass)
    registry.async_update_entity(PUMP, aliases=["the wet one"])
    await _reflash(house, twin, reflashed_program, greenhouse)

    # Renamed: the entity stays, with its id and what the owner made of it.
    pump = house.hass.states.get(PUMP)
    assert pump is not None
    assert pump.name == "Greenhouse Garden pump"
    assert [one.id for one in house.satellites.resolve("the wet one")] == ["pump"]
    # Gone, new, and of another kind.
    assert registry.async_get("switch.greenhouse_exhaust_fan") is None
    assert house.state("switch.greenhouse_exhaust_fan") == "(none)"
    assert house.state("button.greenhouse_yard_gate") == "(none)"
    assert house.state("switch.greenhouse_yard_gate") == "off"
    sprinkler = registry.async_get_entity_id(
        "switch", DOMAIN, f"{twin.mac.lower()}-sprinkler"
    )
    assert sprinkler is not None
    assert house.state(sprinkler) == "off"
    # Two names that look alike to ESPHome's ids do not get each other's state.
    lamp = registry.async_get_entity_id("switch", DOMAIN, f"{twin.mac.lower()}-lamp")
    assert lamp is not None
    key = house.satellites.resolve("lamp")[0].key
    assert (await house.satellites.write(key, "on", actor="agent")).ok
    await house.until(lambda: house.state(lamp) == "on")
    assert house.state(sprinkler) == "off"

    await _reflash(house, twin, twin_program, greenhouse)
    assert house.state("switch.greenhouse_exhaust_fan") == "off"
    assert house.state(PUMP) == "off"
    # Nothing came back under a second name.
    assert not [one for one in house.hass.states.async_entity_ids() if one[-2:] == "_2"]


async def test_a_renamed_node_keeps_its_entities(
    house: House, twin: Twin, greenhouse: str
) -> None:
    registry = er.async_get(house.hass)
    before = {
        one.entity_id: one.unique_id
        for one in er.async_entries_for_config_entry(registry, house.entry.entry_id)
    }
    await asyncio.to_thread(twin.stop)
    twin.name, twin.friendly_name = "orangery", "Orangery"
    await asyncio.to_thread(twin.start)
    await house.until(lambda: house.is_up(greenhouse))
    pump = house.hass.states.get(PUMP)
    assert pump is not None
    assert pump.state == "off"
    assert pump.name == "Orangery Water pump"
    after = {
        one.entity_id: one.unique_id
        for one in er.async_entries_for_config_entry(registry, house.entry.entry_id)
    }
    assert after == before
    assert house.satellites.resolve("orangery/pump")[0].satellite_name == "Orangery"


async def test_the_same_refusal_at_every_door(
    house: House, twin: Twin, greenhouse: str, reflashed_program: Path
) -> None:
    await _reflash(house, twin, reflashed_program, greenhouse)
    lamp = er.async_get(house.hass).async_get_entity_id(
        "switch", DOMAIN, f"{twin.mac.lower()}-lamp"
    )
    assert lamp is not None
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("turn_on", {"entity_id": lamp}, "switch")
    assert caught.value.translation_key == "channel_actor_denied"
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("gpio_write", {"channel": "lamp", "state": "on"})
    assert caught.value.translation_key == "channel_actor_denied"
    key = house.satellites.resolve("lamp")[0].key
    outcome = await house.satellites.write(key, "on", actor="fast_path")
    assert outcome.code == "actor_denied"
    # Home Assistant's own sentences may come before the fast path.
    spoken = await conversation.async_converse(
        house.hass,
        "turn on the greenhouse reading lamp",
        None,
        Context(),
        language="en",
        agent_id=conversation.HOME_ASSISTANT_AGENT,
    )
    assert spoken.response.error_code is IntentResponseErrorCode.FAILED_TO_HANDLE
    assert twin.control("edges lamp")["count"] == 0
    outcome = await house.satellites.write(key, "on", actor="agent")
    assert outcome.ok
    assert twin.control("read lamp")["on"] is True


async def test_limits_and_partners_are_named(
    house: House, twin: Twin, greenhouse: str, reflashed_program: Path
) -> None:
    await _reflash(house, twin, reflashed_program, greenhouse)
    await house.call("gpio_write", {"channel": "pump", "state": "on"})
    key = house.satellites.resolve("gate")[0].key
    outcome = await house.satellites.write(key, "on")
    assert outcome.code == "interlock"
    other = house.satellites.channel(outcome.other)
    assert other is not None
    assert other.id == "pump"
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("gpio_write", {"channel": "gate", "state": "on"})
    assert "Garden pump" in str(caught.value)
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("gpio_write", {"channel": "pump", "state": "off"})
    assert caught.value.translation_key == "channel_min_on"
    assert caught.value.translation_placeholders is not None
    wait = float(caught.value.translation_placeholders["wait"])
    assert 0 < wait <= 60


async def test_longest_on_time_ends_it_and_says_so(
    house: House, twin: Twin, greenhouse: str, reflashed_program: Path
) -> None:
    await _reflash(house, twin, reflashed_program, greenhouse)
    await asyncio.sleep(1.1)  # its shortest off-time begins with the boot
    await house.call("gpio_write", {"channel": "sprinkler", "state": "on"})
    await house.until(lambda: _policy(house) == "max_on")
    event = house.hass.states.get("event.greenhouse_policy")
    assert event is not None
    assert event.attributes["channel"] == "sprinkler"
    assert twin.control("read sprinkler")["on"] is False


async def test_fail_safe_reaches_automations_when_the_link_is_back(
    house: House, twin: Twin, reflashed_program: Path
) -> None:
    await asyncio.to_thread(twin.stop)
    twin.program = reflashed_program
    await asyncio.to_thread(twin.start)
    seen: list[tuple[str, str]] = []

    @callback
    def note(event: Event[EventStateChangedData]) -> None:
        state = event.data["new_state"]
        if event.data["entity_id"] == "event.greenhouse_policy" and state:
            what = state.attributes
            seen.append((str(what.get("event_type")), str(what.get("detail"))))

    house.hass.bus.async_listen(EVENT_STATE_CHANGED, note)
    wire = Wire(twin.port)
    async with wire:
        subentry_id = await house.add(wire.port)
        await house.call("gpio_write", {"channel": "gate", "state": "on"})
    await house.until(lambda: twin.control("read gate")["on"] is False)
    async with wire:
        await house.until(lambda: house.is_up(subentry_id))
        await house.until(lambda: ("link_back", "None") in seen)
        assert ("fail_safe", "link_lost") in seen
        assert house.state("switch.greenhouse_yard_gate") == "off"
        await house.hass.config_entries.async_unload(house.entry.entry_id)


def _policy(house: House) -> str:
    state = house.hass.states.get("event.greenhouse_policy")
    return str(state.attributes.get("event_type")) if state else ""


async def test_flashed_with_something_else(
    house: House, twin: Twin, greenhouse: str, stock: int
) -> None:
    issues = ir.async_get(house.hass)
    issue_id = f"satellite_trouble_{greenhouse}"
    subentry = house.entry.subentries[greenhouse]
    await asyncio.to_thread(twin.stop)
    house.hass.config_entries.async_update_subentry(
        house.entry,
        subentry,
        data={**subentry.data, "port": STOCK_PORT},
        unique_id="02:4d:43:00:0f:01",
    )
    await house.hass.async_block_till_done()
    await house.until(lambda: issues.async_get_issue(DOMAIN, issue_id))
    issue = issues.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "satellite_not_satellite"
    assert not house.is_up(greenhouse)


async def test_another_device_at_its_address(
    house: House, twin: Twin, greenhouse: str
) -> None:
    issues = ir.async_get(house.hass)
    issue_id = f"satellite_trouble_{greenhouse}"
    mac = twin.mac
    await asyncio.to_thread(twin.stop)
    twin.mac = "02:4D:43:00:00:77"
    await asyncio.to_thread(twin.start)
    await house.until(lambda: issues.async_get_issue(DOMAIN, issue_id))
    issue = issues.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "satellite_wrong_device"
    assert house.state(PUMP) == STATE_UNAVAILABLE
    await asyncio.to_thread(twin.stop)
    twin.mac = mac
    await asyncio.to_thread(twin.start)
    # It waits longer between attempts now; a sign of life shortens that.
    house.satellites.poke(mac.lower())
    await house.until(lambda: house.is_up(greenhouse))
    assert issues.async_get_issue(DOMAIN, issue_id) is None
