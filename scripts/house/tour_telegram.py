"""The tour's Telegram step: a Bot API on loopback, Home Assistant's own telegram_bot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from .demo_house import House
from .steps import StepFailed

ROOT = Path(__file__).resolve().parents[2]
#: Who writes in the tour.
CHAT = 111
TOKEN = "4242:loopback"
PATIENCE_S = 30
ATTEMPTS = 20


@asynccontextmanager
async def bot_api() -> AsyncIterator[str]:
    """Run the tests' Bot API in a process of its own; give its address."""
    process = await asyncio.create_subprocess_exec(
        str(ROOT / ".venv" / "bin" / "python"),
        "-m",
        "tests.channels.bot_api",
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            line = await process.stdout.readline()
        if not line:
            raise StepFailed("the Bot API on loopback did not start")
        yield line.decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


class Phone:
    """The telephone of somebody who writes to the bot."""

    def __init__(self, web: aiohttp.ClientSession, address: str) -> None:
        self._web = web
        self._address = address
        self._last = 0

    async def next_message(self) -> dict[str, Any]:
        """Wait for a message that was not there before. Raises StepFailed."""
        known = self._last
        found = await self.message(lambda one: one["message_id"] > known)
        self._last = int(found["message_id"])
        return found

    async def say(self, text: str) -> None:
        """Write to the bot."""
        await self._post("say", {"text": text, "user_id": CHAT, "name": "Anna"})

    async def press(self, message_id: int, label: str) -> None:
        """Press a button under one of its messages."""
        body = {"user_id": CHAT, "message_id": message_id, "label": label}
        await self._post("press", body)

    async def _post(self, what: str, body: dict[str, Any]) -> None:
        address = f"{self._address}/control/{what}"
        async with self._web.post(address, json=body) as answer:
            answer.raise_for_status()

    async def message(self, seen: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a message of the bot. Raises StepFailed."""
        messages: list[dict[str, Any]] = []
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    address = f"{self._address}/control/messages/{CHAT}"
                    async with self._web.get(address) as answer:
                        messages = await answer.json()
                    found = [one for one in messages if seen(one)]
                    if found:
                        return dict(found[-1])
                    await asyncio.sleep(0.02)
        except TimeoutError:
            texts = [one["text"] for one in messages]
            raise StepFailed(f"the bot did not say it; it said: {texts}") from None


async def _connect(house: House, address: str) -> None:
    """Set telegram_bot up against the server, and let the chat speak for the household."""
    made = await house.home.set_up(
        "telegram_bot",
        {
            "platform": "polling",
            "api_key": TOKEN,
            "additional_settings": {"api_endpoint": address},
        },
    )
    bot = made["result"]["entry_id"]
    await house.home.add_subentry(bot, "allowed_chat_ids", {"chat_id": CHAT})
    flow = await house.home.post(
        "/api/config/config_entries/options/flow", {"handler": house.entry_id}
    )
    path = f"/api/config/config_entries/options/flow/{flow['flow_id']}"
    form = await house.home.post(path, {"next_step_id": "telegram"})
    label = form["data_schema"][0]["name"]
    await house.home.post(path, {label: "household"})


async def _turn_on(house: House, phone: Phone) -> dict[str, Any]:
    """Say it until it is done: the options reload the assistant and its satellite."""
    for _ in range(ATTEMPTS):
        await phone.say("turn on the water pump")
        said = await phone.next_message()
        if await asyncio.to_thread(house.pin, "pump"):
            return said
        await asyncio.sleep(1)
    raise StepFailed(f"the pump stays off: {said['text']}")


async def telegram(house: House) -> str:
    """By Telegram: a command moves the pin, /relays shows it, a button turns it off."""
    async with bot_api() as address, aiohttp.ClientSession() as web:
        phone = Phone(web, address)
        await _connect(house, address)
        said = await _turn_on(house, phone)
        await phone.say("/relays")
        shown = await phone.message(lambda one: bool(one["buttons"]))
        label = next(
            one["text"] for one in shown["buttons"] if "pump" in one["text"].lower()
        )
        await phone.press(shown["message_id"], label)
        await house.pin_becomes("pump", False)
        return f"{said['text']} Then off by a button of {len(shown['buttons'])}."
