"""Actions for automations and scripts: write, pulse and read a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import VolDictType
import probatio

from .ask_action import async_setup_ask
from .channels.inbox import async_setup_inbox
from .const import DOMAIN
from .satellite.limits import MAX_DURATION_S
from .satellite.refusals import raise_if_refused
from .satellite.targets import ATTR_CHANNEL, channels_meant, invalid
from .schedule_actions import async_setup_schedule_actions
from .skill_actions import async_setup_skill_actions

if TYPE_CHECKING:
    from homeassistant.core import ServiceResponse
    from homeassistant.util.json import JsonValueType

    from .runtime import MimiClawConfigEntry
    from .satellite.model import Channel, Command, Outcome
    from .satellite.registry import Satellites

GPIO_WRITE = "gpio_write"
GPIO_PULSE = "gpio_pulse"
GPIO_READ = "gpio_read"

ATTR_STATE = "state"
ATTR_DURATION = "duration"

_WHERE: VolDictType = {**cv.TARGET_FIELDS, probatio.Optional(ATTR_CHANNEL): cv.string}
_DURATION = probatio.All(
    cv.positive_time_period,
    lambda period: period.total_seconds(),
    probatio.Range(min=0.001, max=MAX_DURATION_S),
)
WRITE_SCHEMA = probatio.Schema(
    {
        **_WHERE,
        probatio.Required(ATTR_STATE): probatio.In(("on", "off", "toggle")),
        probatio.Optional(ATTR_DURATION): _DURATION,
    }
)
PULSE_SCHEMA = probatio.Schema({**_WHERE, probatio.Optional(ATTR_DURATION): _DURATION})
READ_SCHEMA = probatio.Schema(_WHERE)


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions; they are there as long as Home Assistant runs."""
    async_setup_ask(hass)
    async_setup_skill_actions(hass)
    async_setup_schedule_actions(hass)
    async_setup_inbox(hass)
    hass.services.async_register(
        DOMAIN,
        GPIO_WRITE,
        _write,
        schema=WRITE_SCHEMA,
        supports_response=SupportsResponse.OPTIONAL,
    )
    hass.services.async_register(
        DOMAIN,
        GPIO_PULSE,
        _pulse,
        schema=PULSE_SCHEMA,
        supports_response=SupportsResponse.OPTIONAL,
    )
    hass.services.async_register(
        DOMAIN,
        GPIO_READ,
        _read,
        schema=READ_SCHEMA,
        supports_response=SupportsResponse.ONLY,
    )


async def _write(call: ServiceCall) -> ServiceResponse:
    return await _command(call, call.data[ATTR_STATE])


async def _pulse(call: ServiceCall) -> ServiceResponse:
    return await _command(call, "pulse")


async def _command(call: ServiceCall, state: Command) -> ServiceResponse:
    satellites = _loaded_entry(call.hass).runtime_data.satellites
    channels = channels_meant(call.hass, satellites, call.data)
    duration = call.data.get(ATTR_DURATION)
    outcomes = [
        await satellites.write(channel.key, state, duration, "automation")
        for channel in channels
    ]
    return _answer(satellites, channels, outcomes)


async def _read(call: ServiceCall) -> ServiceResponse:
    satellites = _loaded_entry(call.hass).runtime_data.satellites
    channels = channels_meant(call.hass, satellites, call.data)
    outcomes = [await satellites.read(channel.key) for channel in channels]
    return _answer(satellites, channels, outcomes)


def _answer(
    satellites: Satellites, channels: list[Channel], outcomes: list[Outcome]
) -> ServiceResponse:
    """Return what the device read back; raise the first refusal."""
    for outcome in outcomes:
        raise_if_refused(satellites, outcome)
    answers: list[JsonValueType] = [
        {
            "channel": channel.id,
            "satellite": channel.satellite_name,
            "state": outcome.state,
            "value": outcome.value,
            "ends_in": outcome.deadline_ms / 1000 or None,
        }
        for channel, outcome in zip(channels, outcomes, strict=True)
    ]
    return {"channels": answers}


def _loaded_entry(hass: HomeAssistant) -> MimiClawConfigEntry:
    for entry in hass.config_entries.async_entries(DOMAIN):
        if entry.state is ConfigEntryState.LOADED:
            return entry
    raise invalid("not_loaded")
