"""The entry, and its subentries: providers and satellites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import (
    ConfigEntry,
    ConfigFlowResult,
    ConfigSubentryData,
    ConfigSubentryFlow,
    OptionsFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import callback
from homeassistant.helpers.selector import (
    BooleanSelector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
import probatio

from .const import (
    CONF_BASE_URL,
    CONF_PROVIDER,
    CONF_THINKING,
    CONF_WEB_SEARCH,
    DOMAIN,
    LOGGER,
    PROVIDER_ANTHROPIC,
    PROVIDER_OFFLINE,
    PROVIDER_OPENAI,
    SUBENTRY_PROVIDER,
    SUBENTRY_SATELLITE,
    THINKING_BY_MODEL,
)
from .options_flow import MimiClawOptionsFlow
from .provider_setup import async_create_provider, provider_config
from .providers.factory import DEFAULT_MODELS
from .providers.protocol import ErrorKind, ProviderError
from .satellite_discovery import SatelliteDiscovery
from .satellite_flow import SatelliteSubentryFlow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homeassistant.core import HomeAssistant

TITLE = "MimiClaw"

PROVIDERS = (PROVIDER_OFFLINE, PROVIDER_ANTHROPIC, PROVIDER_OPENAI)
PROVIDER_TITLES = {
    PROVIDER_OFFLINE: "Offline",
    PROVIDER_ANTHROPIC: "Anthropic",
    PROVIDER_OPENAI: "OpenAI",
}

PASSWORD = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD))
URL = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))

#: "model" leaves it to the model, which may think by itself.
THINKING = SelectSelector(
    SelectSelectorConfig(
        options=[THINKING_BY_MODEL, "off", "low", "medium", "high"],
        mode=SelectSelectorMode.DROPDOWN,
        translation_key="thinking",
    )
)

PROVIDER_SCHEMA = probatio.Schema(
    {
        probatio.Required(CONF_PROVIDER, default=PROVIDER_OFFLINE): SelectSelector(
            SelectSelectorConfig(
                options=list(PROVIDERS),
                mode=SelectSelectorMode.LIST,
                translation_key="provider",
            )
        )
    }
)


def credentials_schema(kind: str, known: Mapping[str, Any]) -> probatio.Schema:
    """Return the form for one kind of provider, filled with what is known.

    A server in the house may need no key, so only Anthropic's is required.
    """
    key = probatio.Required if kind == PROVIDER_ANTHROPIC else probatio.Optional
    model = known.get(CONF_MODEL, DEFAULT_MODELS[kind])
    address = {"suggested_value": known.get(CONF_BASE_URL, "")}
    return probatio.Schema(
        {
            key(CONF_API_KEY): PASSWORD,
            probatio.Required(CONF_MODEL, default=model): TextSelector(),
            probatio.Optional(CONF_BASE_URL, description=address): URL,
            probatio.Required(
                CONF_THINKING, default=known.get(CONF_THINKING, THINKING_BY_MODEL)
            ): THINKING,
            probatio.Required(
                CONF_WEB_SEARCH, default=known.get(CONF_WEB_SEARCH, False)
            ): BooleanSelector(),
        }
    )


async def async_check(hass: HomeAssistant, data: Mapping[str, Any]) -> dict[str, str]:
    """Ask the provider whether this works; return the form's errors."""
    config = provider_config(data, PROVIDER_TITLES[data[CONF_PROVIDER]])
    try:
        provider = await async_create_provider(hass, config)
        try:
            await provider.check()
        finally:
            await provider.aclose()
    except ProviderError as err:
        LOGGER.warning("The provider was not accepted: %s", err)
        field = {
            ErrorKind.KEY: CONF_API_KEY,
            ErrorKind.NOT_FOUND: CONF_MODEL,
        }.get(err.kind, "base")
        return {field: f"provider_{err.kind.value}"}
    return {}


def subentry_title(data: Mapping[str, Any]) -> str:
    """Return a title that tells two providers of one kind apart."""
    title = PROVIDER_TITLES[data[CONF_PROVIDER]]
    return f"{title} {data[CONF_MODEL]}" if data.get(CONF_MODEL) else title


class MimiClawConfigFlow(SatelliteDiscovery, domain=DOMAIN):
    """Set the assistant up: choose a model, check it, done."""

    VERSION = 1

    def __init__(self) -> None:
        """Begin without an answer."""
        self._kind = PROVIDER_OFFLINE

    @classmethod
    @callback
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Return what can be added to the assistant."""
        return {
            SUBENTRY_PROVIDER: ProviderSubentryFlow,
            SUBENTRY_SATELLITE: SatelliteSubentryFlow,
        }

    @staticmethod
    @callback
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return the dialog of the assistant's options."""
        return MimiClawOptionsFlow()

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Choose the provider."""
        # Not by the manifest's single_config_entry: that would also turn away the
        # satellites that announce themselves later.
        if self._async_current_entries():
            return self.async_abort(reason="single_instance_allowed")
        if user_input is None:
            return self.async_show_form(step_id="user", data_schema=PROVIDER_SCHEMA)
        self._kind = user_input[CONF_PROVIDER]
        if self._kind == PROVIDER_OFFLINE:
            return self._create(dict(user_input))
        return await self.async_step_credentials()

    async def async_step_credentials(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for key, model and address, and try them."""
        errors: dict[str, str] = {}
        if user_input is not None:
            data = {CONF_PROVIDER: self._kind, **user_input}
            errors = await async_check(self.hass, data)
            if not errors:
                return self._create(data)
        return self.async_show_form(
            step_id="credentials",
            data_schema=credentials_schema(self._kind, user_input or {}),
            errors=errors,
            description_placeholders={"provider": PROVIDER_TITLES[self._kind]},
        )

    def create_with(self, satellite: ConfigSubentryData) -> ConfigFlowResult:
        """Make the entry with a satellite, and the provider that needs no key."""
        return self._create({CONF_PROVIDER: PROVIDER_OFFLINE}, satellite)

    def _create(
        self, data: dict[str, Any], *others: ConfigSubentryData
    ) -> ConfigFlowResult:
        """Make the entry with its first provider."""
        return self.async_create_entry(
            title=TITLE,
            data={},
            subentries=[
                {
                    "subentry_type": SUBENTRY_PROVIDER,
                    "data": data,
                    "title": subentry_title(data),
                    "unique_id": None,
                },
                *others,
            ],
        )


class ProviderSubentryFlow(ConfigSubentryFlow):
    """Add a provider, or change one: kind, model, address and key as one."""

    def __init__(self) -> None:
        """Begin without an answer."""
        self._kind = PROVIDER_OFFLINE
        self._known: Mapping[str, Any] = {}

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Choose the provider."""
        if user_input is None:
            return self.async_show_form(step_id="user", data_schema=PROVIDER_SCHEMA)
        self._kind = user_input[CONF_PROVIDER]
        if self._kind == PROVIDER_OFFLINE:
            return self.async_create_entry(
                title=subentry_title(user_input), data=user_input
            )
        return await self.async_step_credentials()

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Change a provider."""
        self._known = self._get_reconfigure_subentry().data
        self._kind = self._known[CONF_PROVIDER]
        if self._kind == PROVIDER_OFFLINE:
            return self.async_abort(reason="nothing_to_configure")
        return await self.async_step_credentials()

    async def async_step_credentials(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask for key, model and address, and try them."""
        errors: dict[str, str] = {}
        if user_input is not None:
            data = {CONF_PROVIDER: self._kind, **user_input}
            errors = await async_check(self.hass, data)
            if not errors and self._known:
                return self.async_update_and_abort(
                    self._get_entry(),
                    self._get_reconfigure_subentry(),
                    title=subentry_title(data),
                    data=data,
                )
            if not errors:
                return self.async_create_entry(title=subentry_title(data), data=data)
        return self.async_show_form(
            step_id="credentials",
            data_schema=credentials_schema(self._kind, user_input or self._known),
            errors=errors,
            description_placeholders={"provider": PROVIDER_TITLES[self._kind]},
        )
