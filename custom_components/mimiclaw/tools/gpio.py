"""gpio_write, gpio_read, gpio_read_all: the channels of every satellite."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from ..providers.protocol import ToolSpec
from ..satellite.model import Actor, Channel, Code, Command, Outcome
from . import gpio_text
from .base import Tool, ToolContext, ToolError, schema
from .consent import drive

ACTOR: Actor = "agent"

#: What the original firmware's skills and models in general write for a state.
_STATES: Mapping[str, Command] = {
    "on": "on",
    "1": "on",
    "true": "on",
    "high": "on",
    "off": "off",
    "0": "off",
    "false": "off",
    "low": "off",
    "toggle": "toggle",
    "pulse": "pulse",
}

_CHANNEL = {
    "type": "string",
    "description": "Name, alias or id of the channel, as gpio_read_all lists them; "
    "'satellite/channel' where two satellites have one of that name.",
}


class Satellites(Protocol):
    """What these tools need of the satellites."""

    def channels(self) -> list[Channel]:
        """Return every known channel."""

    def channel(self, key: str) -> Channel | None:
        """Return one by its key."""

    def resolve(
        self, text: str, language: str | None = None, area: str | None = None
    ) -> list[Channel]:
        """Return those a text means."""

    async def read(self, key: str) -> Outcome:
        """Ask the device."""

    async def write(
        self,
        key: str,
        state: Command,
        duration_s: float | None = None,
        actor: Actor = "automation",
        *,
        confirmed: bool = False,
    ) -> Outcome:
        """Command the device."""


def tools(satellites: Satellites) -> tuple[Tool, ...]:
    """Return this family's tools."""
    return (
        Tool(
            ToolSpec(
                "gpio_write",
                "Switch a relay or output. The device enforces its own rules and says "
                "why it refuses. Claim success only from this result.",
                schema(
                    {
                        "channel": _CHANNEL,
                        "state": {
                            "type": "string",
                            "description": "on, off, toggle, or pulse (on for a time).",
                        },
                        "duration_s": {
                            "type": "number",
                            "description": "Seconds after which it goes off by itself; "
                            "with on or pulse.",
                        },
                    },
                    ("channel", "state"),
                ),
            ),
            _bind(_write, satellites),
            aliases={
                "pin": "channel",
                "name": "channel",
                "value": "state",
                "level": "state",
                "duration": "duration_s",
            },
        ),
        Tool(
            ToolSpec(
                "gpio_read",
                "Read a channel from its device, with its rules. Reading changes nothing.",
                schema({"channel": _CHANNEL}, ("channel",)),
            ),
            _bind(_read, satellites),
            aliases={"pin": "channel", "name": "channel"},
        ),
        Tool(
            ToolSpec(
                "gpio_read_all",
                "List every channel of every satellite with its state, names and rules.",
                schema({}),
            ),
            _bind(_read_all, satellites),
        ),
    )


type _Body = Callable[[Satellites, Mapping[str, Any], ToolContext], Awaitable[str]]


def _bind(
    body: _Body, satellites: Satellites
) -> Callable[[Mapping[str, Any], ToolContext], Awaitable[str]]:
    def run(arguments: Mapping[str, Any], context: ToolContext) -> Awaitable[str]:
        return body(satellites, arguments, context)

    return run


def _one(satellites: Satellites, text: str, context: ToolContext) -> Channel:
    found = satellites.resolve(text, context.language)
    if len(found) == 1:
        return found[0]
    if found:
        raise ToolError(gpio_text.ambiguous(text, found))
    known = ", ".join(one.id for one in satellites.channels()[:40])
    if not known:
        raise ToolError("There is no satellite yet, so there is nothing to switch.")
    raise ToolError(f"No channel is called {text!r}. There are: {known}.")


async def _write(
    satellites: Satellites, arguments: Mapping[str, Any], context: ToolContext
) -> str:
    channel = _one(satellites, arguments["channel"], context)
    state = _STATES.get(arguments["state"].strip().lower())
    if state is None:
        raise ToolError("The state must be on, off, toggle or pulse.")
    consent = drive(channel.key, state, arguments.get("duration_s"))
    outcome = await satellites.write(
        channel.key,
        state,
        consent.duration_s,
        ACTOR,
        confirmed=consent in context.confirmed,
    )
    if outcome.ok:
        return gpio_text.done(channel, outcome)
    if outcome.code is Code.CONFIRM:
        if context.system_turn:
            raise ToolError(
                f"{channel.name} was not touched: it needs a person's yes, and nobody "
                "is there in a scheduled turn."
            )
        context.asked.add(consent)
    raise ToolError(gpio_text.refusal(channel, outcome, satellites.channel))


async def _read(
    satellites: Satellites, arguments: Mapping[str, Any], context: ToolContext
) -> str:
    channel = _one(satellites, arguments["channel"], context)
    outcome = await satellites.read(channel.key)
    if not outcome.ok:
        raise ToolError(gpio_text.refusal(channel, outcome, satellites.channel))
    rules = gpio_text.policy(channel)
    text = f"{channel.name}: {gpio_text.reading(channel, outcome)}."
    return f"{text} Rules: {rules}." if rules else text


async def _read_all(
    satellites: Satellites, arguments: Mapping[str, Any], context: ToolContext
) -> str:
    channels = satellites.channels()
    if not channels:
        return "There is no satellite yet."
    outcomes = await asyncio.gather(*(satellites.read(one.key) for one in channels))
    several = len({one.satellite for one in channels}) > 1
    return "\n".join(
        gpio_text.line(channel, outcome, several=several)
        for channel, outcome in zip(channels, outcomes, strict=True)
    )
