"""What a provider's owner has to mend, in the repairs; gone when it works again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .providers.protocol import ErrorKind

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .assistant import Assistant
    from .message import Message

#: Waiting does not mend these.
_FOR_THE_OWNER: Final = frozenset(
    {ErrorKind.KEY, ErrorKind.QUOTA, ErrorKind.NOT_FOUND, ErrorKind.CERTIFICATE}
)


class ProviderIssues:
    """Watches how turns end."""

    def __init__(self, hass: HomeAssistant, assistant: Assistant) -> None:
        """Take the assistant to watch."""
        self._hass = hass
        self._assistant = assistant
        self._unsubscribe: CALLBACK_TYPE | None = None

    @callback
    def async_start(self) -> None:
        """Begin to watch."""
        self._unsubscribe = self._assistant.async_listen(self._turn_ended)

    @callback
    def async_stop(self) -> None:
        """Watch no more."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    @callback
    def _turn_ended(self, _message: Message, record: Mapping[str, Any]) -> None:
        provider = record["provider"]
        if record["path"] != "agent" or not provider:
            return
        for failed in record["failed_providers"]:
            self._report(failed["provider"], failed["kind"])
        if record["outcome"] == "answered":
            self._clear(provider)

    def _report(self, provider: str, kind: str) -> None:
        if kind not in _FOR_THE_OWNER:
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            f"provider_{provider}",
            is_fixable=False,
            severity=ir.IssueSeverity.ERROR,
            translation_key=f"provider_{kind}",
            translation_placeholders={"provider": provider},
        )

    def _clear(self, provider: str) -> None:
        ir.async_delete_issue(self._hass, DOMAIN, f"provider_{provider}")
