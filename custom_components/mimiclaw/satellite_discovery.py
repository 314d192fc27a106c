"""Satellites that announce themselves on the network."""

from __future__ import annotations

from abc import abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import (
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentry,
    ConfigSubentryData,
)
import probatio

from .const import CONF_NOISE_PSK, DOMAIN, SUBENTRY_SATELLITE
from .satellite.errors import LinkError, Trouble
from .satellite.limits import DEFAULT_PORT
from .satellite.probe import async_probe
from .satellite.session import PROJECT, Address, colons
from .satellite_flow import (
    KEY_FIELD,
    async_follow,
    form_errors,
    satellite_data,
    satellite_of,
)

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry
    from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo

    from .satellite.link import Node


class SatelliteDiscovery(ConfigFlow):
    """The steps of a config flow that begins with a satellite's announcement."""

    _found: Address
    _encrypted = False
    _name = ""

    async def async_step_zeroconf(
        self, discovery_info: ZeroconfServiceInfo
    ) -> ConfigFlowResult:
        """Take an announcement: follow a known device, offer a new one."""
        properties = discovery_info.properties
        mac = colons(properties.get("mac") or "")
        if not mac or not str(properties.get("project_name", "")).startswith(PROJECT):
            return self.async_abort(reason="satellite_not_satellite")
        port = discovery_info.port or DEFAULT_PORT
        self._found = Address(discovery_info.host, port, mac=mac)
        self._encrypted = bool(properties.get("api_encryption"))
        node = discovery_info.hostname.removesuffix(".").removesuffix(".local")
        self._name = properties.get("friendly_name") or node
        await self.async_set_unique_id(mac)
        entry = self._entry()
        if entry is not None and (known := satellite_of(entry, mac)) is not None:
            await async_follow(self.hass, entry, known, self._found)
            if entry.state is ConfigEntryState.LOADED:
                entry.runtime_data.satellites.poke(mac)
            return self.async_abort(reason="already_configured")
        self.context["title_placeholders"] = {"name": self._name}
        return await self.async_step_satellite()

    async def async_step_satellite(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask the owner, and for the key if there is one."""
        errors: dict[str, str] = {}
        if user_input is not None:
            psk = user_input.get(CONF_NOISE_PSK, "").strip()
            found = self._found
            try:
                node = await async_probe(
                    self.hass, Address(found.host, found.port, psk, found.mac)
                )
            except LinkError as err:
                self._encrypted = self._encrypted or err.trouble is Trouble.KEY_NEEDED
                errors = form_errors(err)
                if not self._encrypted:
                    # The form has no field of that name.
                    errors = {"base": next(iter(errors.values()))}
            else:
                return self._add(node, satellite_data(found.host, found.port, psk))
        key = {probatio.Required(CONF_NOISE_PSK): KEY_FIELD} if self._encrypted else {}
        return self.async_show_form(
            step_id="satellite",
            data_schema=probatio.Schema(key),
            errors=errors,
            description_placeholders={"name": self._name, "host": self._found.host},
        )

    def _add(self, node: Node, data: dict[str, Any]) -> ConfigFlowResult:
        """Add the satellite to the assistant, setting that up first if need be."""
        if (entry := self._entry()) is None:
            return self.create_with(
                {
                    "subentry_type": SUBENTRY_SATELLITE,
                    "data": data,
                    "title": node.friendly_name,
                    "unique_id": node.mac,
                }
            )
        self.hass.config_entries.async_add_subentry(
            entry,
            ConfigSubentry(
                data=MappingProxyType(data),
                subentry_type=SUBENTRY_SATELLITE,
                title=node.friendly_name,
                unique_id=node.mac,
            ),
        )
        return self.async_abort(
            reason="satellite_added",
            description_placeholders={"name": node.friendly_name},
        )

    @abstractmethod
    def create_with(self, satellite: ConfigSubentryData) -> ConfigFlowResult:
        """Set the assistant up with its first satellite."""

    def _entry(self) -> ConfigEntry[Any] | None:
        entries = self.hass.config_entries.async_entries(
            DOMAIN, include_ignore=False, include_disabled=True
        )
        return entries[0] if entries else None
