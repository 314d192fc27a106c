"""What helps to debug an assistant, without a key, an address or a word of anybody's."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homeassistant.components.diagnostics import REDACTED
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL

from .const import (
    CONF_EMBEDDINGS,
    CONF_ENGINE,
    CONF_LANGUAGES,
    CONF_PROFILE,
    CONF_PROVIDER,
    CONF_THINKING,
    CONF_WEB_SEARCH,
)

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from .runtime import MimiClawConfigEntry, Runtime

#: Texts that tell nothing of anybody. Whatever else is a text stays out: an address can
#: hold a key, a target is a chat's number, and an option to come is nobody's business.
_SHOWN = frozenset(
    {
        CONF_ENGINE,
        CONF_LANGUAGES,
        CONF_LLM_HASS_API,
        CONF_MODEL,
        CONF_PROFILE,
        CONF_PROVIDER,
        CONF_THINKING,
    }
)
#: Options with options in them; in any other, the keys are names or numbers of people.
_NESTED = frozenset({CONF_EMBEDDINGS, CONF_WEB_SEARCH})


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: MimiClawConfigEntry
) -> dict[str, Any]:
    """Return configuration, channels, and counts of files."""
    runtime = entry.runtime_data
    return {
        "options": _plain(entry.options),
        "subentries": [
            {
                "type": subentry.subentry_type,
                "data": _plain(subentry.data),
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


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without anybody's words: switches, numbers, choices."""
    return {name: _shown(name, value) for name, value in data.items()}


def _shown(name: str, value: Any) -> Any:
    if value is None or name in _SHOWN or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return _plain(value) if name in _NESTED else f"{len(value)} entries"
    return REDACTED


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
