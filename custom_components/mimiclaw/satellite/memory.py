"""Remember what each satellite has, for when it is away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.helpers.storage import Store

from ..const import DOMAIN, LOGGER
from .describe import dump_description, parse_description
from .errors import LinkError

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .model import Description

VERSION = 1
#: A flapping device must not write the disk at its own pace.
SAVE_DELAY_S = 5.0


class Memory:
    """The last description of each device, by its MAC address."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._store: Store[dict[str, Any]] = Store(
            hass, VERSION, f"{DOMAIN}.satellites"
        )
        self._known: dict[str, dict[str, Any]] = {}

    async def async_load(self) -> None:
        """Read what was kept."""
        self._known = await self._store.async_load() or {}

    def recall(self, mac: str) -> Description | None:
        """Return what a device had when it was last heard."""
        if (kept := self._known.get(mac)) is None:
            return None
        try:
            return parse_description(kept)
        except LinkError as err:
            LOGGER.warning("What was kept of satellite %s is unusable: %s", mac, err)
            return None

    def keep(self, mac: str, description: Description) -> None:
        """Keep this for the next time."""
        self._known[mac] = dump_description(description)
        self._store.async_delay_save(lambda: self._known, SAVE_DELAY_S)

    def forget(self, mac: str) -> None:
        """Drop a device that was removed."""
        if self._known.pop(mac, None) is not None:
            self._store.async_delay_save(lambda: self._known, SAVE_DELAY_S)

    async def async_flush(self) -> None:
        """Write now what still waits to be written."""
        await self._store.async_save(self._known)
