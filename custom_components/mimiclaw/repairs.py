"""Repairs: give a satellite the key that fits, settle the update of a skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.components.repairs import (
    ConfirmRepairFlow,
    RepairsFlow,
    RepairsFlowResult,
)
from homeassistant.const import CONF_HOST, CONF_PORT
import probatio

from .const import CONF_NOISE_PSK
from .satellite.errors import LinkError, Trouble
from .satellite.limits import DEFAULT_PORT
from .satellite.probe import async_probe
from .satellite.session import Address
from .satellite_flow import KEY_FIELD, form_errors, satellite_data
from .skill_repairs import SkillUpdateRepair

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, Any] | None
) -> RepairsFlow:
    """Return the repair for an issue."""
    if data and "subentry_id" in data:
        return SatelliteKeyRepair(data)
    if data and "skill" in data:
        return SkillUpdateRepair(data["skill"])
    return ConfirmRepairFlow()


class SatelliteKeyRepair(RepairsFlow):
    """Ask for the device's key, or for the word that it has none any more."""

    def __init__(self, data: dict[str, Any]) -> None:
        """Take what the issue knows."""
        self._about = data

    async def async_step_init(
        self, user_input: dict[str, str] | None = None
    ) -> RepairsFlowResult:
        """Begin with what fits the trouble."""
        if self._about["trouble"] == Trouble.KEY_REMOVED:
            return await self.async_step_plain()
        return await self.async_step_key()

    async def async_step_key(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Ask for the key and try it."""
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._try(user_input[CONF_NOISE_PSK].strip())
            if not errors:
                return self.async_create_entry(data={})
        return self.async_show_form(
            step_id="key",
            data_schema=probatio.Schema({probatio.Required(CONF_NOISE_PSK): KEY_FIELD}),
            errors=errors,
            description_placeholders={"name": self._about["name"]},
        )

    async def async_step_plain(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Go on without encryption, if the owner says so: never by ourselves."""
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._try("")
            if not errors:
                return self.async_create_entry(data={})
            errors = {"base": next(iter(errors.values()))}
        return self.async_show_form(
            step_id="plain",
            data_schema=probatio.Schema({}),
            errors=errors,
            description_placeholders={"name": self._about["name"]},
        )

    async def _try(self, psk: str) -> dict[str, str]:
        """Try a key; keep it if it fits, else return the form's errors."""
        entry = self.hass.config_entries.async_get_entry(self._about["entry_id"])
        subentry = entry.subentries.get(self._about["subentry_id"]) if entry else None
        if entry is None or subentry is None:
            return {}
        host = subentry.data[CONF_HOST]
        port = subentry.data.get(CONF_PORT, DEFAULT_PORT)
        address = Address(host, port, psk, subentry.unique_id or "")
        try:
            await async_probe(self.hass, address)
        except LinkError as err:
            return form_errors(err)
        self.hass.config_entries.async_update_subentry(
            entry, subentry, data=satellite_data(host, port, psk)
        )
        return {}
