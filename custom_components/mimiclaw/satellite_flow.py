"""Add a satellite by hand, change it, or give it a new key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_HOST, CONF_PORT
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
import probatio

from .const import CONF_ESPHOME_ENTRY, CONF_NOISE_PSK, LOGGER
from .satellite.borrowed_entities import Lender, lender_of, lenders
from .satellite.errors import LinkError, Trouble
from .satellite.limits import DEFAULT_PORT
from .satellite.probe import async_probe
from .satellite.session import Address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homeassistant.config_entries import ConfigEntry, ConfigSubentry
    from homeassistant.core import HomeAssistant

    from .satellite.link import Node

KEY_FIELD = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD))
PORT_FIELD = NumberSelector(
    NumberSelectorConfig(min=1, max=65535, step=1, mode=NumberSelectorMode.BOX)
)

#: The field of the form that an error belongs to.
_FIELDS = {
    Trouble.KEY_NEEDED: CONF_NOISE_PSK,
    Trouble.KEY_WRONG: CONF_NOISE_PSK,
    Trouble.KEY_REMOVED: CONF_NOISE_PSK,
    Trouble.RESOLVE: CONF_HOST,
}


def form_errors(err: LinkError) -> dict[str, str]:
    """Return the form's errors for what went wrong."""
    LOGGER.debug("The satellite was not accepted: %s", err)
    return {_FIELDS.get(err.trouble, "base"): f"satellite_{err.trouble}"}


def address_schema(known: Mapping[str, Any]) -> probatio.Schema:
    """Return the form for an address, filled with what is known; never with the key."""
    return probatio.Schema(
        {
            probatio.Required(
                CONF_HOST, default=known.get(CONF_HOST, probatio.UNDEFINED)
            ): str,
            probatio.Required(
                CONF_PORT, default=known.get(CONF_PORT, DEFAULT_PORT)
            ): probatio.All(PORT_FIELD, probatio.Coerce(int)),
            probatio.Optional(CONF_NOISE_PSK): KEY_FIELD,
        }
    )


def satellite_data(host: str, port: int, noise_psk: str) -> dict[str, Any]:
    """Return what a satellite's subentry holds."""
    return {CONF_HOST: host, CONF_PORT: port, CONF_NOISE_PSK: noise_psk}


def satellite_of(entry: ConfigEntry[Any], mac: str) -> ConfigSubentry | None:
    """Return the subentry of a device that has been added already."""
    return next(
        (one for one in entry.subentries.values() if one.unique_id == mac), None
    )


class SatelliteSubentryFlow(ConfigSubentryFlow):
    """Add a satellite, or change one."""

    _node: Node
    _lender: Lender

    def __init__(self) -> None:
        """Begin without an answer."""
        self._data: dict[str, Any] = {}

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Choose the way to it, when ESPHome already has one of ours."""
        if self._free_lenders():
            return self.async_show_menu(
                step_id="user", menu_options=["borrow", "address"]
            )
        return await self.async_step_address()

    async def async_step_address(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask for address and key, and try them."""
        errors: dict[str, str] = {}
        if user_input is not None:
            try:
                node = await self._try(user_input)
            except LinkError as err:
                errors = form_errors(err)
            else:
                return await self._found(node)
        return self.async_show_form(
            step_id="address",
            data_schema=address_schema(user_input or {}),
            errors=errors,
        )

    async def async_step_way(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Offer the connection that ESPHome already has to this very device."""
        return self.async_show_menu(
            step_id="way",
            menu_options=["lent", "own"],
            description_placeholders={"name": self._node.friendly_name},
        )

    async def async_step_lent(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Use ESPHome's connection."""
        return self._create_lent(self._lender)

    async def async_step_own(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Use a connection of our own."""
        return self._create(self._node)

    async def async_step_borrow(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Choose among the satellites that ESPHome has."""
        free = {one.entry_id: one for one in self._free_lenders()}
        if user_input is not None:
            chosen = free.get(user_input[CONF_ESPHOME_ENTRY])
            if chosen is not None:
                return self._create_lent(chosen)
        if not free:
            return self.async_abort(reason="satellite_none_lent")
        options = [
            SelectOptionDict(value=one.entry_id, label=one.title)
            for one in free.values()
        ]
        return self.async_show_form(
            step_id="borrow",
            data_schema=probatio.Schema(
                {
                    probatio.Required(CONF_ESPHOME_ENTRY): SelectSelector(
                        SelectSelectorConfig(options=options)
                    )
                }
            ),
        )

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Change address or key; the device has to be the same one."""
        subentry = self._get_reconfigure_subentry()
        if CONF_ESPHOME_ENTRY in subentry.data:
            return self.async_abort(reason="satellite_lent")
        errors: dict[str, str] = {}
        if user_input is not None:
            try:
                await self._try(user_input, subentry.unique_id or "")
            except LinkError as err:
                errors = form_errors(err)
            else:
                return self.async_update_and_abort(
                    self._get_entry(), subentry, data=self._data
                )
        return self.async_show_form(
            step_id="reconfigure",
            data_schema=address_schema(user_input or subentry.data),
            errors=errors,
            description_placeholders={"name": subentry.title},
        )

    async def _try(self, user_input: Mapping[str, Any], mac: str = "") -> Node:
        address = Address(
            host=user_input[CONF_HOST].strip(),
            port=user_input[CONF_PORT],
            noise_psk=user_input.get(CONF_NOISE_PSK, "").strip(),
            mac=mac,
        )
        self._data = satellite_data(address.host, address.port, address.noise_psk)
        return await async_probe(self.hass, address)

    async def _found(self, node: Node) -> SubentryFlowResult:
        """Go on with a device that answered."""
        self._node = node
        entry = self._get_entry()
        if (known := satellite_of(entry, node.mac)) is not None:
            if CONF_ESPHOME_ENTRY not in known.data:
                self.hass.config_entries.async_update_subentry(
                    entry, known, data=self._data
                )
            return self.async_abort(reason="already_configured")
        if (lender := lender_of(self.hass, node.mac)) is None:
            return self._create(node)
        self._lender = lender
        return await self.async_step_way()

    def _create(self, node: Node) -> SubentryFlowResult:
        return self.async_create_entry(
            title=node.friendly_name, data=self._data, unique_id=node.mac
        )

    def _create_lent(self, lender: Lender) -> SubentryFlowResult:
        return self.async_create_entry(
            title=lender.title,
            data={CONF_ESPHOME_ENTRY: lender.entry_id},
            unique_id=lender.mac,
        )

    def _free_lenders(self) -> list[Lender]:
        entry = self._get_entry()
        return [one for one in lenders(self.hass) if not satellite_of(entry, one.mac)]


async def async_follow(
    hass: HomeAssistant,
    entry: ConfigEntry[Any],
    subentry: ConfigSubentry,
    found: Address,
) -> None:
    """Follow a device that showed itself at another address, if it really is there.

    An announcement may be stale or forged: only a device that answers there, knows the
    key and has the MAC address is followed.
    """
    if CONF_ESPHOME_ENTRY in subentry.data:
        return
    known = subentry.data
    if (known[CONF_HOST], known[CONF_PORT]) == (found.host, found.port):
        return
    psk = known.get(CONF_NOISE_PSK) or ""
    address = Address(found.host, found.port, psk, subentry.unique_id or "")
    try:
        await async_probe(hass, address)
    except LinkError as err:
        LOGGER.debug("%s is not at %s: %s", subentry.title, found.host, err)
        return
    hass.config_entries.async_update_subentry(
        entry, subentry, data=satellite_data(address.host, address.port, psk)
    )
