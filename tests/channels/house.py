"""A Home Assistant with the real telegram_bot, its Telegram on loopback, and the assistant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from homeassistant.config_entries import ConfigEntryState, ConfigSubentryDataWithId
from homeassistant.const import CONF_HOST, CONF_PORT
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mimiclaw.channels.telegram import TelegramChannel
from custom_components.mimiclaw.const import DOMAIN

from .bot_api import BotApi, User

ANNA: Final = User(111, "Anna")
BEN: Final = User(222, "Ben")
STRANGER: Final = User(333, "Eve")
GROUP: Final = -1001
PEOPLE: Final = {"111": "person.anna", "222": "household", str(GROUP): "household"}

OFFLINE: Final = ConfigSubentryDataWithId(
    data={"provider": "offline"},
    subentry_type="provider",
    title="Offline",
    unique_id=None,
    subentry_id="provider-offline",
)


class ChatHouse:
    """What the tests of Telegram use of a house."""

    def __init__(self, hass: HomeAssistant, api: BotApi) -> None:
        self.hass = hass
        self.api = api
        self.entry: MockConfigEntry
        self.bot: MockConfigEntry

    @property
    def telegram(self) -> TelegramChannel:
        found: TelegramChannel = self.entry.runtime_data.telegram
        return found

    @property
    def workspace(self) -> Path:
        return Path(self.hass.config.path("mimiclaw"))

    @property
    def journal(self) -> str:
        """What the channel wrote down so far."""
        path = self.workspace / ".state" / "telegram.jsonl"
        return path.read_text() if path.exists() else ""

    async def add_bot(self, *chats: int, title: str = "Mimi") -> MockConfigEntry:
        """Set telegram_bot up, polling the loopback server."""
        self.bot = MockConfigEntry(
            domain="telegram_bot",
            title=title,
            version=1,
            minor_version=3,
            data={
                "platform": "polling",
                "api_key": self.api.token,
                "api_endpoint": self.api.url,
                "proxy_url": None,
            },
            options={"parse_mode": "markdown"},
            subentries_data=[
                ConfigSubentryDataWithId(
                    data={"chat_id": chat},
                    subentry_type="allowed_chat_ids",
                    title=f"Chat {chat}",
                    unique_id=str(chat),
                    subentry_id=f"chat{chat}",
                )
                for chat in chats
            ],
        )
        self.bot.add_to_hass(self.hass)
        assert await self.hass.config_entries.async_setup(self.bot.entry_id)
        await self.hass.async_block_till_done()
        return self.bot

    async def add_assistant(
        self,
        *subentries: ConfigSubentryDataWithId,
        options: dict[str, Any] | None = None,
    ) -> MockConfigEntry:
        """Set the assistant up; whoever is in PEOPLE may talk."""
        self.entry = MockConfigEntry(
            domain=DOMAIN,
            title="MimiClaw",
            subentries_data=list(subentries) or [OFFLINE],
            options={"telegram_people": dict(PEOPLE)} | (options or {}),
        )
        self.entry.add_to_hass(self.hass)
        assert await self.hass.config_entries.async_setup(self.entry.entry_id)
        await self.hass.async_block_till_done()
        return self.entry

    async def restart_assistant(self) -> None:
        """Take the assistant down and up again."""
        assert await self.hass.config_entries.async_unload(self.entry.entry_id)
        assert await self.hass.config_entries.async_setup(self.entry.entry_id)
        await self.hass.async_block_till_done()

    async def add_satellite(self, port: int) -> None:
        """Add a twin as a person does."""
        flows = self.hass.config_entries.subentries
        result = await flows.async_init(
            (self.entry.entry_id, "satellite"), context={"source": "user"}
        )
        await flows.async_configure(
            result["flow_id"], {CONF_HOST: "127.0.0.1", CONF_PORT: port}
        )
        satellites = self.entry.runtime_data.satellites
        await until(lambda: any(one.available for one in satellites.satellites()))

    async def close(self) -> None:
        """Take everything down."""
        for domain in (DOMAIN, "telegram_bot"):
            for entry in self.hass.config_entries.async_entries(domain):
                if entry.state is ConfigEntryState.LOADED:
                    await self.hass.config_entries.async_unload(entry.entry_id)


async def until(condition: Callable[[], Any], patience_s: float = 20.0) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(patience_s):
        while not condition():
            await asyncio.sleep(0.005)
