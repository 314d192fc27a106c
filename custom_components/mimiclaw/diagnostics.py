"""What helps to debug an assistant, without a key, an address or a word of anybody's."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_API_KEY, CONF_HOST

from .const import CONF_BASE_URL, CONF_NOISE_PSK

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .runtime import MimiClawConfigEntry, Runtime

#: An address can hold a key or a name, too.
REDACT = {CONF_API_KEY, CONF_BASE_URL, CONF_NOISE_PSK, CONF_HOST, "title", "mac"}


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: MimiClawConfigEntry
) -> dict[str, Any]:
    """Return configuration, channels, and counts of files."""
    runtime = entry.runtime_data
    return {
        "options": async_redact_data(dict(entry.options), REDACT),
        "subentries": [
            {
                "type": subentry.subentry_type,
                "data": async_redact_data(dict(subentry.data), REDACT),
            }
            for subentry in entry.subentries.values()
        ],
        "providers": {
            "count": len(runtime.providers.names),
            "resting": len(runtime.providers.resting()),
            "kind": runtime.providers.config.kind,
            "model": runtime.providers.config.model,
        },
        "channels": [
            {
                "id": channel.id,
                "kind": channel.kind.value,
                "available": runtime.satellites.available(channel.key),
                "confirm": channel.confirm,
                "max_on_ms": channel.max_on_ms,
            }
            for channel in runtime.satellites.channels()
        ],
        "sentence_problems": [str(one) for one in runtime.commander.grammar.problems],
        "spent_today": runtime.costs.today().as_dict(),
        "workspace": await asyncio.to_thread(_count, runtime),
    }


def _count(runtime: Runtime) -> dict[str, Any]:
    """Return how many files there are, by folder. Blocking. No names: they tell much."""
    root = runtime.workspace.root
    counts: Counter[str] = Counter()
    for file in root.rglob("*"):
        if file.is_file():
            counts[file.relative_to(root).parts[0]] += 1
    return {
        "files": dict(counts),
        "problems": dict(Counter(one.kind for one in runtime.workspace.problems())),
    }
