"""Tell the owner, in the repairs, what only he can mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from ..const import DOMAIN
from .errors import PASSING, Trouble

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry

    from .satellite import Satellite

#: These are mended by giving another key, which the repair asks for.
KEY_TROUBLES = frozenset({Trouble.KEY_NEEDED, Trouble.KEY_WRONG, Trouble.KEY_REMOVED})
RESTLESS = "restless"


def issue_id(kind: str, subentry_id: str) -> str:
    """Return the id of a satellite's issue: at most one of trouble, one of unrest."""
    return f"satellite_{kind}_{subentry_id}"


@callback
def show(hass: HomeAssistant, entry: ConfigEntry[Any], satellite: Satellite) -> None:
    """Make the issues say what is wrong with the satellite now, or nothing."""
    subentry_id = satellite.subentry_id
    trouble = satellite.trouble
    if trouble is None or trouble in PASSING:
        ir.async_delete_issue(hass, DOMAIN, issue_id("trouble", subentry_id))
    else:
        ir.async_create_issue(
            hass,
            DOMAIN,
            issue_id("trouble", subentry_id),
            is_fixable=trouble in KEY_TROUBLES,
            severity=ir.IssueSeverity.ERROR,
            translation_key=f"satellite_{trouble}",
            translation_placeholders={
                "name": satellite.name,
                "detail": satellite.trouble_detail,
            },
            data={
                "entry_id": entry.entry_id,
                "subentry_id": subentry_id,
                "trouble": trouble.value,
                "name": satellite.name,
            },
        )
    if not satellite.restless:
        ir.async_delete_issue(hass, DOMAIN, issue_id(RESTLESS, subentry_id))
    else:
        ir.async_create_issue(
            hass,
            DOMAIN,
            issue_id(RESTLESS, subentry_id),
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="satellite_restless",
            translation_placeholders={"name": satellite.name},
        )


@callback
def clear(hass: HomeAssistant, subentry_id: str) -> None:
    """Forget the issues of a satellite that was removed."""
    for kind in ("trouble", RESTLESS):
        ir.async_delete_issue(hass, DOMAIN, issue_id(kind, subentry_id))
