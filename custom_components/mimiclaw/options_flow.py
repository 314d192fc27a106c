"""The assistant's options: who may talk by Telegram, and when it speaks by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from homeassistant.config_entries import ConfigFlowResult
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TimeSelector,
)
import probatio

from .channels.people_allowed import CONF_BOT, CONF_PEOPLE, FOR_HOUSEHOLD
from .channels.telegram_actions import DOMAIN as TELEGRAM_DOMAIN
from .options_names import NameOptionSteps
from .schedule.heartbeat import CONF_MINUTES, CONF_QUIET_FROM, CONF_QUIET_UNTIL
from .schedule.limits import HEARTBEAT_MINUTES, HEARTBEAT_MINUTES_MAX
from .schedule.targets import CONF_DELIVER_TO, NOTIFICATION, TELEGRAM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homeassistant.config_entries import ConfigEntry
    from homeassistant.core import HomeAssistant

_NOBODY: Final = "nobody"


class MimiClawOptionsFlow(NameOptionSteps):
    """A menu of what can be set. The entry's update listener reloads it."""

    def __init__(self) -> None:
        """Begin without a choice."""
        self._bot: str | None = None

    async def async_step_init(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Show the menu."""
        return self.async_show_menu(
            step_id="init",
            menu_options=[
                "agent",
                "names",
                "embeddings",
                "web_search",
                "telegram",
                "proactive",
            ],
        )

    async def async_step_telegram(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Choose the bot, where there are several."""
        bots = self.hass.config_entries.async_entries(
            TELEGRAM_DOMAIN, include_ignore=False, include_disabled=False
        )
        if not bots:
            return self.async_abort(reason="no_telegram_bot")
        if user_input is not None:
            self._bot = user_input[CONF_BOT]
            return await self.async_step_people()
        if len(bots) == 1:
            self._bot = bots[0].entry_id
            return await self.async_step_people()
        known = self.config_entry.options.get(CONF_BOT)
        options = [
            SelectOptionDict(value=one.entry_id, label=one.title) for one in bots
        ]
        schema = probatio.Schema(
            {
                probatio.Required(
                    CONF_BOT, default=known or bots[0].entry_id
                ): SelectSelector(SelectSelectorConfig(options=options))
            }
        )
        return self.async_show_form(step_id="telegram", data_schema=schema)

    async def async_step_people(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Say who is behind each chat that the bot lets in."""
        bot = self.hass.config_entries.async_get_entry(self._bot or "")
        chats = _chats(bot)
        if not chats:
            return self.async_abort(reason="no_telegram_chats")
        known = dict(self.config_entry.options.get(CONF_PEOPLE) or {})
        if user_input is not None:
            for label, number in chats.items():
                who = user_input.get(label, _NOBODY)
                known.pop(number, None)
                if who != _NOBODY:
                    known[number] = who
            several = len(self.hass.config_entries.async_entries(TELEGRAM_DOMAIN)) > 1
            return self._save(
                {CONF_PEOPLE: known, CONF_BOT: self._bot if several else None}
            )
        choice = SelectSelector(
            SelectSelectorConfig(
                options=_people(self.hass), mode=SelectSelectorMode.DROPDOWN
            )
        )
        schema = probatio.Schema(
            {
                probatio.Required(label, default=known.get(number, _NOBODY)): choice
                for label, number in chats.items()
            }
        )
        return self.async_show_form(
            step_id="people",
            data_schema=schema,
            description_placeholders={"bot": bot.title if bot else ""},
        )

    async def async_step_proactive(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Say when the assistant looks by itself, and where it speaks then."""
        options = self.config_entry.options
        if user_input is not None:
            names = (CONF_MINUTES, CONF_QUIET_FROM, CONF_QUIET_UNTIL, CONF_DELIVER_TO)
            return self._save({name: user_input.get(name) for name in names})
        minutes = NumberSelector(
            NumberSelectorConfig(
                min=0,
                max=HEARTBEAT_MINUTES_MAX,
                step=1,
                unit_of_measurement="min",
                mode=NumberSelectorMode.BOX,
            )
        )

        def suggested(name: str) -> dict[str, Any]:
            return {"suggested_value": options.get(name)}

        schema = probatio.Schema(
            {
                probatio.Required(
                    CONF_MINUTES, default=options.get(CONF_MINUTES, HEARTBEAT_MINUTES)
                ): minutes,
                probatio.Optional(
                    CONF_QUIET_FROM, description=suggested(CONF_QUIET_FROM)
                ): TimeSelector(),
                probatio.Optional(
                    CONF_QUIET_UNTIL, description=suggested(CONF_QUIET_UNTIL)
                ): TimeSelector(),
                probatio.Optional(
                    CONF_DELIVER_TO, description=suggested(CONF_DELIVER_TO)
                ): SelectSelector(
                    SelectSelectorConfig(
                        options=_targets(self.hass, options),
                        mode=SelectSelectorMode.DROPDOWN,
                    )
                ),
            }
        )
        return self.async_show_form(step_id="proactive", data_schema=schema)


def _chats(bot: ConfigEntry | None) -> dict[str, str]:
    """Return the chats that the bot lets in: label to id."""
    found: dict[str, str] = {}
    for subentry in bot.subentries.values() if bot else ():
        number = str(subentry.data.get("chat_id"))
        found[f"{subentry.title} ({number})"] = number
    return found


def _people(hass: HomeAssistant) -> list[SelectOptionDict]:
    """Return whom a chat can stand for."""
    return [
        SelectOptionDict(value=_NOBODY, label="–"),
        SelectOptionDict(value=FOR_HOUSEHOLD, label=hass.config.location_name),
        *(
            SelectOptionDict(value=state.entity_id, label=state.name)
            for state in hass.states.async_all("person")
        ),
    ]


def _targets(hass: HomeAssistant, options: Mapping[str, Any]) -> list[SelectOptionDict]:
    """Return where the assistant can speak by itself."""
    chats = dict(options.get(CONF_PEOPLE) or {})
    return [
        SelectOptionDict(value=NOTIFICATION, label=NOTIFICATION),
        *(
            SelectOptionDict(value=f"{TELEGRAM}:{one}", label=f"Telegram {one} ({who})")
            for one, who in chats.items()
        ),
        *(
            SelectOptionDict(value=state.entity_id, label=state.name)
            for state in hass.states.async_all(("notify", "assist_satellite"))
        ),
    ]
