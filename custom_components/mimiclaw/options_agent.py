"""The options of the agent itself: how it works, what it may spend, how it searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigFlowResult, OptionsFlow
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.helpers import llm
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.selector import (
    BooleanSelector,
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

from .agent.profile import FRONTIER, PROFILES
from .const import (
    CONF_BASE_URL,
    CONF_DAILY_BUDGET,
    CONF_EMBEDDINGS,
    CONF_ENGINE,
    CONF_LANGUAGES,
    CONF_LOCAL_INTENTS,
    CONF_PROFILE,
    CONF_WEB_SEARCH,
    DOMAIN,
    LOGGER,
)
from .fast_path.languages import all_languages
from .provider_setup import embeddings_config, search_config
from .providers.embeddings import create_embeddings
from .providers.protocol import ProviderError
from .providers.web_search import WebSearch

NO_ENGINE = "none"
#: What is looked for to see whether an engine answers.
TITLE = "Home Assistant"


class AgentOptionSteps(OptionsFlow):
    """Three pages of the options."""

    def _save(self, changes: Mapping[str, Any]) -> ConfigFlowResult:
        """Keep every other option; a value of None takes one out."""
        options = {**self.config_entry.options, **changes}
        return self.async_create_entry(
            data={key: value for key, value in options.items() if value is not None}
        )

    async def async_step_agent(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Say how large the model is, what it may use and what it may spend."""
        names = (
            CONF_PROFILE,
            CONF_LLM_HASS_API,
            CONF_LANGUAGES,
            CONF_LOCAL_INTENTS,
            CONF_DAILY_BUDGET,
        )
        if user_input is not None:
            return self._save({name: user_input.get(name) for name in names})
        known = self.config_entry.options
        languages = await self.hass.async_add_executor_job(all_languages)
        # Ours come back through the Assist API: only others' are offered.
        apis = [
            SelectOptionDict(value=api.id, label=api.name)
            for api in llm.async_get_apis(self.hass)
        ]
        schema = probatio.Schema(
            {
                probatio.Required(
                    CONF_PROFILE, default=known.get(CONF_PROFILE, FRONTIER.name)
                ): SelectSelector(
                    SelectSelectorConfig(
                        options=list(PROFILES), translation_key="profile"
                    )
                ),
                probatio.Optional(
                    CONF_LLM_HASS_API,
                    description={"suggested_value": known.get(CONF_LLM_HASS_API)},
                ): SelectSelector(SelectSelectorConfig(options=apis, multiple=True)),
                probatio.Optional(
                    CONF_LANGUAGES,
                    description={"suggested_value": known.get(CONF_LANGUAGES)},
                ): SelectSelector(
                    SelectSelectorConfig(options=languages, multiple=True)
                ),
                probatio.Required(
                    CONF_LOCAL_INTENTS, default=known.get(CONF_LOCAL_INTENTS, True)
                ): BooleanSelector(),
                probatio.Optional(
                    CONF_DAILY_BUDGET,
                    description={"suggested_value": known.get(CONF_DAILY_BUDGET)},
                ): NumberSelector(
                    NumberSelectorConfig(
                        min=0,
                        step=0.01,
                        unit_of_measurement="USD",
                        mode=NumberSelectorMode.BOX,
                    )
                ),
            }
        )
        return self.async_show_form(step_id="agent", data_schema=schema)

    async def async_step_embeddings(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Name a server for the search by meaning, and try it."""
        errors: dict[str, str] = {}
        if user_input is not None:
            if not user_input.get(CONF_BASE_URL):
                return self._save({CONF_EMBEDDINGS: None})
            errors = await _try(user_input)
            if not errors:
                return self._save({CONF_EMBEDDINGS: user_input})
        known = user_input or self.config_entry.options.get(CONF_EMBEDDINGS, {})

        def suggested(name: str) -> dict[str, Any]:
            return {"suggested_value": known.get(name)}

        text = TextSelector()
        url = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))
        secret = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD))
        schema = probatio.Schema(
            {
                probatio.Optional(
                    CONF_BASE_URL, description=suggested(CONF_BASE_URL)
                ): url,
                probatio.Optional(CONF_MODEL, description=suggested(CONF_MODEL)): text,
                probatio.Optional(CONF_API_KEY): secret,
            }
        )
        return self.async_show_form(
            step_id="embeddings", data_schema=schema, errors=errors
        )

    async def async_step_web_search(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Name a search engine for models whose provider does not search, and try it."""
        errors: dict[str, str] = {}
        if user_input is not None:
            if user_input[CONF_ENGINE] == NO_ENGINE:
                return self._save({CONF_WEB_SEARCH: None})
            engine = WebSearch(
                search_config(user_input), async_get_clientsession(self.hass)
            )
            try:
                await engine.find(TITLE)
                return self._save({CONF_WEB_SEARCH: user_input})
            except ProviderError as err:
                LOGGER.warning("The search engine was not accepted: %s", err)
                errors = {"base": "web_search_failed"}
        known = user_input or self.config_entry.options.get(CONF_WEB_SEARCH, {})
        schema = probatio.Schema(
            {
                probatio.Required(
                    CONF_ENGINE, default=known.get(CONF_ENGINE, NO_ENGINE)
                ): SelectSelector(
                    SelectSelectorConfig(
                        options=[NO_ENGINE, "brave", "tavily", "searxng"],
                        translation_key="engine",
                    )
                ),
                probatio.Optional(CONF_API_KEY): TextSelector(
                    TextSelectorConfig(type=TextSelectorType.PASSWORD)
                ),
                probatio.Optional(
                    CONF_BASE_URL,
                    description={"suggested_value": known.get(CONF_BASE_URL)},
                ): TextSelector(TextSelectorConfig(type=TextSelectorType.URL)),
            }
        )
        return self.async_show_form(
            step_id="web_search", data_schema=schema, errors=errors
        )


async def _try(data: Mapping[str, Any]) -> dict[str, str]:
    """Ask the server for one vector; return the form's errors."""
    if not data.get(CONF_MODEL):
        return {CONF_MODEL: "model_missing"}
    embeddings = await create_embeddings(embeddings_config(data))
    try:
        vectors = await embeddings.embed([DOMAIN])
    except Exception as err:  # noqa: BLE001  whatever the SDK raises, it does not work
        LOGGER.warning("The embeddings endpoint was not accepted: %r", type(err))
        return {"base": "embeddings_failed"}
    finally:
        await embeddings.aclose()
    return {} if vectors and vectors[0] else {"base": "embeddings_failed"}
