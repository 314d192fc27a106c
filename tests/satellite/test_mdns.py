"""Found by real mDNS packets, on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
import socket

from homeassistant.components import zeroconf as ha_zeroconf
from homeassistant.components.zeroconf.models import HaAsyncZeroconf, HaZeroconf
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
import pytest
from zeroconf import ServiceInfo, Zeroconf
from zeroconf.asyncio import AsyncZeroconf

from custom_components.mimiclaw.const import DOMAIN
from scripts.house.twin import Twin

from .conftest import House
from .wire import Wire

#: Home Assistant replaces both for good, so that a process has one instance. Kept from
#: before any test ran.
_INIT = Zeroconf.__init__

LOOPBACK = ["127.0.0.1"]
TYPE = "_esphomelib._tcp.local."


def _new(cls: type[Zeroconf], *args: object, **kwargs: object) -> Zeroconf:
    return object.__new__(cls)


def _service(twin: Twin, port: int) -> ServiceInfo:
    """Return what the firmware announces."""
    return ServiceInfo(
        TYPE,
        f"mimiclaw-twin.{TYPE}",
        addresses=[socket.inet_aton("127.0.0.1")],
        port=port,
        properties={
            "mac": twin.mac.replace(":", "").lower(),
            "friendly_name": "Greenhouse",
            "project_name": "mimiclaw.satellite",
            "project_version": "0.1.0",
        },
        server="mimiclaw-twin.local.",
    )


@pytest.fixture
async def device(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AsyncZeroconf]:
    """Let Home Assistant listen on loopback; yield the device's own responder."""
    monkeypatch.setattr(Zeroconf, "__init__", _INIT)
    # Not undone: a class whose __new__ was taken away again refuses its arguments.
    Zeroconf.__new__ = _new  # type: ignore[method-assign, assignment]
    listening = HaAsyncZeroconf(zc=HaZeroconf(interfaces=LOOPBACK))
    house.hass.data[ha_zeroconf.DATA_INSTANCE] = listening
    assert await async_setup_component(house.hass, "zeroconf", {})
    responder = AsyncZeroconf(interfaces=LOOPBACK)
    yield responder
    await responder.async_close()
    await listening.ha_async_close()


async def test_found_added_and_followed(
    house: House, twin: Twin, device: AsyncZeroconf
) -> None:
    flows = house.hass.config_entries.flow
    announced = await device.async_register_service(_service(twin, twin.port))
    await announced
    await house.until(lambda: flows.async_progress_by_handler(DOMAIN))
    found = flows.async_progress_by_handler(DOMAIN)[0]
    assert found["context"]["title_placeholders"] == {"name": "Greenhouse"}
    result = await flows.async_configure(found["flow_id"], {})
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "satellite_added"
    subentry_id = str(list(house.entry.subentries)[-1])
    await house.until(lambda: house.is_up(subentry_id))

    async with Wire(twin.port) as wire:
        announced = await device.async_update_service(_service(twin, wire.port))
        await announced
        await house.until(lambda: wire.accepted > 1 and house.is_up(subentry_id))
        assert house.entry.subentries[subentry_id].data["port"] == wire.port
        assert not flows.async_progress_by_handler(DOMAIN)
        await house.hass.config_entries.async_unload(house.entry.entry_id)


async def test_a_local_name_is_enough(
    house: House, twin: Twin, device: AsyncZeroconf
) -> None:
    result = await house.fill_in(twin.port, host="mimiclaw-twin.local")
    assert result["errors"] == {"host": "satellite_resolve"}
    announced = await device.async_register_service(_service(twin, twin.port))
    await announced
    result = await house.fill_in(twin.port, host="mimiclaw-twin.local")
    assert result["type"] is FlowResultType.CREATE_ENTRY
    subentry_id = str(list(house.entry.subentries)[-1])
    await house.until(lambda: house.is_up(subentry_id))
