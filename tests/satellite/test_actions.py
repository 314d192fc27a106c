"""The actions, as automations call them."""

from __future__ import annotations

from typing import Any

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)
import probatio
import pytest

from custom_components.mimiclaw.const import DOMAIN
from scripts.house.twin import Twin
from tests.conftest import MakeTwin

from .conftest import House

PUMP = "switch.greenhouse_water_pump"


def _device(house: House, mac: str) -> str:
    device = dr.async_get(house.hass).async_get_device_by_identifier(
        (DOMAIN, mac.lower()), house.entry.entry_id
    )
    assert device is not None
    return device.id


async def _refused(house: House, service: str, data: dict[str, Any]) -> str:
    with pytest.raises(HomeAssistantError) as caught:
        await house.call(service, data)
    assert caught.value.translation_domain == DOMAIN
    # The sentence exists and all its blanks are filled.
    assert "{" not in str(caught.value)
    assert str(caught.value) != caught.value.translation_key
    return str(caught.value.translation_key)


async def test_by_entity(house: House, twin: Twin, greenhouse: str) -> None:
    answer = await house.call("gpio_write", {"entity_id": PUMP, "state": "on"})
    assert answer["channels"][0] == {
        "channel": "pump",
        "satellite": "Greenhouse",
        "state": True,
        "value": None,
        "ends_in": None,
    }
    assert twin.control("read pump")["on"] is True


async def test_by_device_and_name(house: House, twin: Twin, greenhouse: str) -> None:
    device = _device(house, twin.mac)
    for name in ("pump", "Water pump", "WATER PUMP", "Wasserpumpe", "抽水机"):
        await house.call(
            "gpio_write", {"device_id": device, "channel": name, "state": "toggle"}
        )
    assert twin.control("edges pump")["count"] == 5


async def test_a_timed_on_ends_on_the_device(
    house: House, twin: Twin, greenhouse: str
) -> None:
    answer = await house.call(
        "gpio_write",
        {"channel": "pump", "state": "on", "duration": {"milliseconds": 200}},
    )
    assert answer["channels"][0]["ends_in"] == 0.2
    await house.until(lambda: house.state(PUMP) == "off")
    on, off = twin.control("edges pump")["edges"]
    assert abs(off["t_us"] - on["t_us"] - 200_000) < 50_000


async def test_pulse(house: House, twin: Twin, greenhouse: str) -> None:
    answer = await house.call("gpio_pulse", {"channel": "gate"})
    assert answer["channels"][0]["ends_in"] == 0.5
    assert await _refused(house, "gpio_pulse", {"channel": "pump"}) == (
        "channel_bad_duration"
    )


async def test_read_answers_and_changes_nothing(
    house: House, twin: Twin, greenhouse: str
) -> None:
    twin.control("set moisture 33")
    await house.call("gpio_write", {"channel": "fan", "state": "on"})
    before = twin.control("edges fan")["count"]
    answer = await house.call("gpio_read", {"channel": "fan"})
    assert answer["channels"][0]["state"] is True
    await house.until(lambda: house.state("sensor.greenhouse_soil_moisture") == "33.0")
    answer = await house.call("gpio_read", {"channel": "moisture"})
    assert answer["channels"][0]["value"] == 33.0
    assert twin.control("edges fan")["count"] == before


@pytest.mark.parametrize(
    ("service", "data", "key"),
    [
        ("gpio_write", {"channel": "nothing", "state": "on"}, "channel_unknown"),
        ("gpio_write", {"state": "on"}, "channel_missing"),
        ("gpio_write", {"channel": "door", "state": "on"}, "channel_wrong_kind"),
        (
            "gpio_write",
            {"channel": "valve", "state": "on", "duration": {"hours": 1}},
            "channel_over_max",
        ),
        (
            "gpio_write",
            {"channel": "pump", "state": "off", "duration": {"seconds": 1}},
            "channel_bad_duration",
        ),
        (
            "gpio_write",
            {"entity_id": "switch.not_ours", "state": "on"},
            "channel_no_entity",
        ),
        (
            "gpio_write",
            {"device_id": "nonsense", "channel": "pump", "state": "on"},
            "channel_no_device",
        ),
    ],
)
async def test_refusals_are_sentences(
    house: House,
    twin: Twin,
    greenhouse: str,
    service: str,
    data: dict[str, Any],
    key: str,
) -> None:
    edges = {
        one.id: twin.control(f"edges {one.id}")["count"]
        for one in house.satellites.channels()
    }
    assert await _refused(house, service, data) == key
    for channel, count in edges.items():
        assert twin.control(f"edges {channel}")["count"] == count


async def test_a_device_without_a_name_switches_nothing(
    house: House, twin: Twin, greenhouse: str
) -> None:
    device = _device(house, twin.mac)
    with pytest.raises(ServiceValidationError) as caught:
        await house.call("gpio_write", {"device_id": device, "state": "on"})
    assert caught.value.translation_key == "channel_missing"


@pytest.mark.parametrize("duration", [{"seconds": 0}, {"days": 2}, {"seconds": -1}])
async def test_absurd_durations_are_not_sent(
    house: House, twin: Twin, greenhouse: str, duration: dict[str, int]
) -> None:
    with pytest.raises(probatio.Invalid):
        await house.call(
            "gpio_write", {"channel": "pump", "state": "on", "duration": duration}
        )
    assert twin.control("edges pump")["count"] == 0


async def test_two_satellites_with_one_name(
    house: House, twin: Twin, greenhouse: str, make_twin: MakeTwin
) -> None:
    shed = make_twin(
        mac="02:4D:43:00:00:02", name="mimiclaw-shed", friendly_name="Shed"
    )
    await house.add(shed.port)
    data = {"channel": "pump", "state": "on"}
    assert await _refused(house, "gpio_write", data) == "channel_ambiguous"
    await house.call("gpio_write", {**data, "channel": "Shed/pump"})
    assert (twin.control("read pump")["on"], shed.control("read pump")["on"]) == (
        False,
        True,
    )
    await house.call("gpio_write", {**data, "device_id": _device(house, twin.mac)})
    assert twin.control("read pump")["on"] is True
    assert house.state("switch.shed_water_pump") == "on"
    both = [_device(house, twin.mac), _device(house, shed.mac)]
    await house.call(
        "gpio_write", {"device_id": both, "channel": "pump", "state": "off"}
    )
    assert twin.control("read pump")["on"] is False
    assert shed.control("read pump")["on"] is False


async def test_an_area_narrows_down_but_does_not_hide(
    house: House, twin: Twin, greenhouse: str, make_twin: MakeTwin
) -> None:
    shed = make_twin(
        mac="02:4D:43:00:00:02", name="mimiclaw-shed", friendly_name="Shed"
    )
    await house.add(shed.port)
    yard = ar.async_get(house.hass).async_create("Yard")
    attic = ar.async_get(house.hass).async_create("Attic")
    dr.async_get(house.hass).async_update_device(
        _device(house, shed.mac), area_id=yard.id
    )
    await house.hass.async_block_till_done()
    found = house.satellites.resolve("pump", "en", "Yard")
    assert [one.satellite_name for one in found] == ["Shed"]
    # Asked from a room that has no pump, a name is still found; two stay two.
    assert len(house.satellites.resolve("pump", "en", attic.name)) == 2
    dr.async_get(house.hass).async_update_device(
        _device(house, shed.mac), name_by_user="Barn"
    )
    await house.hass.async_block_till_done()
    only = house.satellites.resolve("barn/pump", "en", attic.name)
    assert [one.area for one in only] == ["Yard"]
    # An unknown place or name means nothing, never everything.
    assert house.satellites.resolve("lights in the moon", "en", "Moon") == []


async def test_an_area_as_target_means_its_channels(
    house: House, twin: Twin, greenhouse: str
) -> None:
    yard = ar.async_get(house.hass).async_create("Yard")
    er.async_get(house.hass).async_update_entity(PUMP, area_id=yard.id)
    await house.call("gpio_write", {"area_id": yard.id, "state": "on"})
    assert twin.control("read pump")["on"] is True
    assert twin.control("read fan")["on"] is False
    assert await _refused(house, "gpio_write", {"area_id": "moon", "state": "on"}) == (
        "channel_missing"
    )
