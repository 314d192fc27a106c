"""A satellite's entities in Home Assistant."""

from __future__ import annotations

import asyncio
from functools import partial

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
import pytest

from custom_components.mimiclaw.const import DOMAIN
from scripts.house.twin import Twin

from .conftest import House

PUMP = "switch.greenhouse_water_pump"
GATE = "button.greenhouse_yard_gate"
DOOR = "binary_sensor.greenhouse_greenhouse_door"
MOISTURE = "sensor.greenhouse_soil_moisture"
POLICY = "event.greenhouse_policy"


async def test_each_channel_is_what_it_is(
    house: House, twin: Twin, greenhouse: str
) -> None:
    assert house.state(PUMP) == "off"
    assert house.state(GATE) == "unknown"
    assert house.state(DOOR) == "off"
    assert house.state(MOISTURE) == "0.0"
    door = house.hass.states.get(DOOR)
    moisture = house.hass.states.get(MOISTURE)
    assert door is not None
    assert moisture is not None
    assert door.attributes["device_class"] == "door"
    assert moisture.attributes["unit_of_measurement"] == "%"
    assert moisture.attributes["device_class"] == "moisture"
    assert moisture.attributes["state_class"] == "measurement"


async def test_device_and_registry_go_by_mac(
    house: House, twin: Twin, greenhouse: str
) -> None:
    mac = twin.mac.lower()
    device = dr.async_get(house.hass).async_get_device_by_identifier(
        (DOMAIN, mac), house.entry.entry_id
    )
    assert device is not None
    assert device.name == "Greenhouse"
    assert device.manufacturer == "MimiClaw"
    assert device.config_subentry_id == greenhouse
    registry = er.async_get(house.hass)
    pump = registry.async_get(PUMP)
    assert pump is not None
    assert pump.unique_id == f"{mac}-pump"
    assert pump.config_subentry_id == greenhouse
    figures = [
        one
        for one in er.async_entries_for_device(
            registry, device.id, include_disabled_entities=True
        )
        if one.entity_category is not None
    ]
    assert len(figures) == 6
    assert all(one.disabled_by is not None for one in figures)


async def test_switching_shows_what_the_device_read_back(
    house: House, twin: Twin, greenhouse: str
) -> None:
    await house.call("turn_on", {"entity_id": PUMP}, "switch")
    assert house.state(PUMP) == "on"
    assert twin.control("read pump")["on"] is True
    await house.call("toggle", {"entity_id": PUMP}, "switch")
    assert house.state(PUMP) == "off"
    assert twin.control("read pump")["on"] is False

    twin.control("stick pump 0")
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("turn_on", {"entity_id": PUMP}, "switch")
    assert caught.value.translation_key == "channel_not_moved"
    assert house.state(PUMP) == "off"


async def test_a_button_presses_for_its_own_time(
    house: House, twin: Twin, greenhouse: str
) -> None:
    await house.call("press", {"entity_id": GATE}, "button")
    await house.until(lambda: twin.control("edges gate")["count"] >= 2)
    on, off = twin.control("edges gate")["edges"][-2:]
    assert (on["level"], off["level"]) == (1, 0)
    assert abs(off["t_us"] - on["t_us"] - 500_000) < 50_000


async def test_inputs_arrive_by_themselves(
    house: House, twin: Twin, greenhouse: str
) -> None:
    twin.control("set door 1")
    await house.until(lambda: house.state(DOOR) == "on")
    twin.control("set moisture 61.5")
    await house.until(lambda: house.state(MOISTURE) == "61.5")


async def test_policy_events_can_be_reacted_to(
    house: House, twin: Twin, greenhouse: str
) -> None:
    with pytest.raises(ServiceValidationError) as caught:
        await house.call(
            "gpio_pulse", {"channel": "valve", "duration": {"minutes": 16}}
        )
    assert caught.value.translation_key == "channel_over_max"
    await house.until(lambda: house.state(POLICY) not in {"unknown", "unavailable"})
    event = house.hass.states.get(POLICY)
    assert event is not None
    assert event.attributes["event_type"] == "refused"
    assert event.attributes["channel"] == "valve"
    assert event.attributes["detail"] == "over_max"


async def test_unavailable_while_away_and_back_without_a_reload(
    house: House, twin: Twin, greenhouse: str
) -> None:
    everything = (PUMP, GATE, DOOR, MOISTURE, POLICY)
    await house.call("turn_on", {"entity_id": PUMP}, "switch")
    await asyncio.to_thread(twin.stop, kill=True)
    await house.until(lambda: house.state(PUMP) == STATE_UNAVAILABLE)
    assert [house.state(one) for one in everything] == [STATE_UNAVAILABLE] * 5
    with pytest.raises(HomeAssistantError) as caught:
        await house.call("gpio_write", {"channel": "pump", "state": "on"})
    assert caught.value.translation_key == "channel_unreachable"
    await asyncio.to_thread(twin.start)
    await house.until(lambda: house.state(PUMP) == "off")
    assert STATE_UNAVAILABLE not in [house.state(one) for one in everything]
    # The command of the time in between is not made up for.
    assert twin.control("edges pump")["count"] == 0


async def test_a_remembered_satellite_is_there_before_its_device(
    house: House, twin: Twin, greenhouse: str
) -> None:
    await asyncio.to_thread(twin.stop)
    await house.until(lambda: not house.is_up(greenhouse))
    assert await house.hass.config_entries.async_reload(house.entry.entry_id)
    await house.hass.async_block_till_done()
    assert house.state(PUMP) == STATE_UNAVAILABLE
    assert [one.id for one in house.satellites.resolve("water pump")] == ["pump"]
    await asyncio.to_thread(twin.start)
    await house.until(lambda: house.state(PUMP) == "off")


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("de", "Wasserpumpe"),
        ("de-CH", "Wasserpumpe"),
        ("zh-Hans", "水泵"),
        ("zh-Hant", "抽水機"),
        ("fr", "Pompe à eau"),
        ("pl", "Water pump"),
    ],
)
async def test_names_follow_the_language_of_the_house(
    house: House, twin: Twin, language: str, name: str
) -> None:
    house.hass.config.language = language
    await house.add(twin.port)
    entity_id = er.async_get(house.hass).async_get_entity_id(
        "switch", DOMAIN, f"{twin.mac.lower()}-pump"
    )
    assert entity_id is not None
    state = house.hass.states.get(entity_id)
    assert state is not None
    assert state.name == f"Greenhouse {name}"


async def test_a_channel_that_wants_a_yes_is_not_exposed_to_assist(
    house: House, twin: Twin, greenhouse: str
) -> None:
    registry = er.async_get(house.hass)
    heater = registry.async_get("switch.greenhouse_space_heater")
    pump = registry.async_get(PUMP)
    assert heater is not None
    assert pump is not None
    assert heater.options["conversation"] == {"should_expose": False}
    assert not any(one.get("should_expose") is False for one in pump.options.values())


async def test_what_the_device_tells_of_itself(
    house: House, twin: Twin, greenhouse: str
) -> None:
    registry = er.async_get(house.hass)
    mac = twin.mac.lower()
    names = ("jitter_p99", "jitter_max", "refusals", "link_losses", "queue_high_water")
    ids = {
        one: registry.async_get_entity_id("sensor", DOMAIN, f"{mac}-:{one}")
        for one in (*names, "uptime")
    }
    for entity_id in ids.values():
        assert entity_id is not None
        registry.async_update_entity(entity_id, disabled_by=None)
    assert await house.hass.config_entries.async_reload(house.entry.entry_id)
    await house.until(lambda: house.is_up(greenhouse))
    for name, entity_id in ids.items():
        assert entity_id is not None
        told = partial(lambda one: house.state(one) != "unknown", entity_id)
        await house.until(told)
        assert float(house.state(entity_id)) >= 0, name
