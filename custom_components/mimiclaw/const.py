"""Home Assistant's keys: domain, configuration, events."""

from __future__ import annotations

import logging
from typing import Final

DOMAIN: Final = "mimiclaw"
LOGGER: Final = logging.getLogger(__package__)

#: The workspace, below Home Assistant's configuration folder. HACS replaces the whole
#: component folder at an update, so nothing the owner has may live in there.
WORKSPACE_FOLDER: Final = "mimiclaw"

SUBENTRY_PROVIDER: Final = "provider"
SUBENTRY_SATELLITE: Final = "satellite"

CONF_PROVIDER: Final = "provider"
CONF_BASE_URL: Final = "base_url"
CONF_EMBEDDINGS: Final = "embeddings"
CONF_ENGINE: Final = "engine"
CONF_THINKING: Final = "thinking"
CONF_WEB_SEARCH: Final = "web_search"
CONF_ALIASES: Final = "aliases"
CONF_DAILY_BUDGET: Final = "daily_budget"
CONF_PROFILE: Final = "profile"
CONF_LANGUAGES: Final = "languages"
CONF_LOCAL_INTENTS: Final = "local_intents"
CONF_NOISE_PSK: Final = "noise_psk"
#: A satellite's subentry has it when it uses the connection of the ESPHome integration.
CONF_ESPHOME_ENTRY: Final = "esphome_entry"

#: In the form: how much a model thinks is left to itself.
THINKING_BY_MODEL: Final = "model"

PROVIDER_OFFLINE: Final = "offline"
PROVIDER_ANTHROPIC: Final = "anthropic"
PROVIDER_OPENAI: Final = "openai"

#: Fired once a turn with what it did and what it cost.
EVENT_TURN: Final = "mimiclaw_turn"
