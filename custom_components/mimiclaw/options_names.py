"""The options' page for further names of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult
from homeassistant.helpers.selector import TextSelector, TextSelectorConfig
import probatio

from .const import CONF_ALIASES
from .options_agent import AgentOptionSteps

if TYPE_CHECKING:
    from .satellite.model import Channel


class NameOptionSteps(AgentOptionSteps):
    """What else a channel answers to, besides its device's and its entity's names."""

    async def async_step_names(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Show a field a channel, filled with the names it has been given."""
        entry = self.config_entry
        channels: list[Channel] = []
        if entry.state is ConfigEntryState.LOADED:
            channels = entry.runtime_data.satellites.channels()
        if not channels:
            return self.async_abort(reason="no_channels")
        labels = {f"{one.satellite_name}: {one.name}": one.key for one in channels}
        known = dict(entry.options.get(CONF_ALIASES, {}))
        if user_input is not None:
            for label, key in labels.items():
                known.pop(key, None)
                if names := user_input.get(label):
                    known[key] = [name.strip() for name in names if name.strip()]
            return self._save({CONF_ALIASES: known or None})
        several = TextSelector(TextSelectorConfig(multiple=True))
        schema = probatio.Schema(
            {
                probatio.Optional(
                    label, description={"suggested_value": known.get(key, [])}
                ): several
                for label, key in labels.items()
            }
        )
        return self.async_show_form(step_id="names", data_schema=schema)
