"""A switch and a sensor for each job, coming and going with the file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity
from homeassistant.components.switch import SwitchEntity
from homeassistant.core import callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity
from homeassistant.util import dt as dt_util

from .const import DOMAIN
from .schedule.errors import ScheduleError
from .service_device import service_device
from .workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant
    from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

    from .runtime import MimiClawConfigEntry
    from .schedule.job import Job

SWITCH = "switch"
SENSOR = "sensor"


@callback
def async_add_job_switches(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    add: AddConfigEntryEntitiesCallback,
) -> None:
    """Add a switch for each job, now and later."""
    _follow(hass, entry, add, SWITCH, JobSwitch)


@callback
def async_add_job_sensors(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    add: AddConfigEntryEntitiesCallback,
) -> None:
    """Add a sensor of the next run for each job, now and later."""
    _follow(hass, entry, add, SENSOR, JobSensor)


@callback
def _follow(
    hass: HomeAssistant,
    entry: MimiClawConfigEntry,
    add: AddConfigEntryEntitiesCallback,
    platform: str,
    make: Callable[[MimiClawConfigEntry, Job], JobEntity],
) -> None:
    scheduler = entry.runtime_data.schedule.scheduler
    known: set[str] = set()

    @callback
    def changed() -> None:
        jobs = {job.id: job for job in scheduler.jobs}
        add([make(entry, job) for job_id, job in jobs.items() if job_id not in known])
        known.clear()
        known.update(jobs)
        if scheduler.loaded and not scheduler.broken:
            _forget_the_others(hass, entry, platform, known)

    changed()
    entry.async_on_unload(scheduler.add_listener(changed))


@callback
def _forget_the_others(
    hass: HomeAssistant, entry: MimiClawConfigEntry, platform: str, jobs: set[str]
) -> None:
    """Take out the entities of jobs that are gone, also those removed while down."""
    registry = er.async_get(hass)
    kept = {_unique_id(entry, job_id, platform) for job_id in jobs}
    start = f"{entry.entry_id}_job_"
    for one in er.async_entries_for_config_entry(registry, entry.entry_id):
        if (
            one.domain == platform
            and one.unique_id.startswith(start)
            and one.unique_id not in kept
        ):
            registry.async_remove(one.entity_id)


def _unique_id(entry: MimiClawConfigEntry, job_id: str, platform: str) -> str:
    return f"{entry.entry_id}_job_{job_id}_{platform}"


class JobEntity(Entity):
    """What the entities of a job share."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _platform = ""

    def __init__(self, entry: MimiClawConfigEntry, job: Job) -> None:
        """Take the job."""
        self._scheduler = entry.runtime_data.schedule.scheduler
        self._job = job
        self._attr_unique_id = _unique_id(entry, job.id, self._platform)
        self._attr_device_info = service_device(entry)
        self._attr_translation_placeholders = {"job": job.name}

    @property
    def available(self) -> bool:
        """Tell whether the job is there."""
        return self._scheduler.job(self._job.id) is not None

    async def async_added_to_hass(self) -> None:
        """Follow the job."""
        self.async_on_remove(self._scheduler.add_listener(self._changed))

    @callback
    def _changed(self) -> None:
        job = self._scheduler.job(self._job.id)
        if job is not None:
            self._job = job
            self.async_write_ha_state()


class JobSwitch(JobEntity, SwitchEntity):
    """Whether a job runs when its time comes."""

    _attr_translation_key = "job"
    _platform = SWITCH

    @property
    def is_on(self) -> bool:
        """Tell whether it runs."""
        return self._job.active

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """Say what it is; the message may be private and is not told."""
        return {"job_id": self._job.id, "paused": self._job.paused}

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Let it run again, after a pause too."""
        await self._enable(on=True)

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Let it rest."""
        await self._enable(on=False)

    async def _enable(self, *, on: bool) -> None:
        try:
            await self._scheduler.enable(self._job.id, on=on)
        except (ScheduleError, WorkspaceError) as err:
            raise HomeAssistantError(
                translation_domain=DOMAIN,
                translation_key="schedule_refused",
                translation_placeholders={"reason": str(err)},
            ) from err


class JobSensor(JobEntity, SensorEntity):
    """When a job runs next."""

    _attr_translation_key = "job_next_run"
    _attr_device_class = SensorDeviceClass.TIMESTAMP
    _platform = SENSOR

    @property
    def native_value(self) -> datetime | None:
        """Return the time, None when it does not run."""
        slot = self._scheduler.next_run(self._job.id)
        return None if slot is None else dt_util.utc_from_timestamp(slot)

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """Say what it is and when it ran last."""
        last = self._job.last_run
        return {
            "job_id": self._job.id,
            "last_run": dt_util.utc_from_timestamp(last).isoformat() if last else None,
        }
