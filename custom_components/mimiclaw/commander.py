"""The fast path at work: a sentence becomes commands, their outcomes a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
import time
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.event import async_track_time_interval

from .const import DOMAIN, LOGGER
from .fast_path.channels import ChannelNames
from .fast_path.command import Action, Command, Match
from .fast_path.consent import consent
from .fast_path.consent import load as load_consent
from .fast_path.errors import SentenceFileError
from .fast_path.grammar import Grammar
from .fast_path.languages import all_languages, closest
from .fast_path.router import FastPath
from .open_question import named
from .relay_faces import relays_meant
from .satellite.model import Code, Outcome
from .satellite.model import Command as Order
from .spoken import Spoken

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .satellite.registry import Satellites
    from .tools.consent import Consent

ACTOR: Final = "fast_path"

#: What each action tells the satellite; a momentary channel knows its own pulse.
ORDERS: Mapping[str, Order] = {
    "turn_on": "on",
    "turn_off": "off",
    "toggle": "toggle",
    "pulse": "pulse",
}


#: The issue that names the mistakes in sentence files.
SENTENCES_BROKEN: Final = "sentences_broken"
#: An edited sentence file is understood this soon.
_LOOK_EVERY: Final = timedelta(seconds=20)
#: Mistakes that the issue names.
_NAMED: Final = 10


def _stamps(folder: Path) -> dict[str, int]:
    """Return when each sentence file of the household was last changed. Blocking."""
    try:
        return {one.name: one.stat().st_mtime_ns for one in folder.glob("*.yaml")}
    except OSError:
        return {}


ACTIONS: Mapping[str, Action] = {
    "on": "turn_on",
    "off": "turn_off",
    "toggle": "toggle",
    "pulse": "pulse",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One command as the trace shows it."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    duration_ms: float
    is_error: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What the fast path says, and what it did."""

    text: str
    calls: tuple[Call, ...] = ()
    #: Commands that wait for the person's yes.
    pending: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class _Done:
    command: Command
    outcome: Outcome
    duration_ms: float


class Commander:
    """Owns the compiled grammar and carries out what it understands."""

    def __init__(
        self,
        hass: HomeAssistant,
        satellites: Satellites,
        languages: tuple[str, ...],
        sentences: Path,
    ) -> None:
        """Take the satellites, the household's languages and its sentence folder."""
        self._hass = hass
        self._satellites = satellites
        self._languages = languages
        self._sentences = sentences
        self._fast_path = FastPath(Grammar({}, (), ()))
        self._spoken = Spoken(satellites)
        #: Languages there are sentences for; no other is worth a compilation.
        self._served: list[str] = []
        self._compiled: set[str] = set()
        self._compiling = asyncio.Lock()
        self._stamps: dict[str, int] = {}
        self._unsubscribe: list[CALLBACK_TYPE] = []

    @property
    def grammar(self) -> Grammar:
        """Return what is understood with, and what was wrong with its files."""
        return self._fast_path.grammar

    @property
    def names(self) -> set[str]:
        """Return every name of every channel, in all languages."""
        return {
            name
            for channel in self.grammar.channels
            for names in channel.names.values()
            for name in names
        }

    def means_relay(self, slots: Mapping[str, Any]) -> bool:
        """Tell whether the slots of an intent mean an entity of one of our relays."""
        return bool(relays_meant(self._hass, self._satellites, slots))

    async def async_start(self) -> None:
        """Compile the household's languages and follow the channels."""
        await asyncio.to_thread(load_consent)
        self._served = await asyncio.to_thread(self._languages_there)
        await self._compile(self._languages)
        self._unsubscribe = [
            self._satellites.async_add_listener(self._channels_changed),
            async_track_time_interval(self._hass, self._look, _LOOK_EVERY),
        ]

    def _languages_there(self) -> list[str]:
        """Return the languages with sentences, the household's own too. Blocking."""
        own = [file.stem for file in self._sentences.glob("*.yaml")]
        return [*all_languages(), *own]

    async def async_stop(self) -> None:
        """Follow nothing any more."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()

    async def _look(self, _now: object = None) -> None:
        """Read the household's sentence files again when one has changed."""
        if await asyncio.to_thread(_stamps, self._sentences) != self._stamps:
            await self.async_reload()

    def _report(self, problems: Sequence[SentenceFileError]) -> None:
        """Name what is wrong with a sentence file, by file and line."""
        if not problems:
            ir.async_delete_issue(self._hass, DOMAIN, SENTENCES_BROKEN)
            return
        for problem in problems:
            LOGGER.warning("Sentence file: %s", problem)
        rows = "\n".join(f"- {problem}" for problem in problems[:_NAMED])
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            SENTENCES_BROKEN,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key=SENTENCES_BROKEN,
            translation_placeholders={"problems": rows},
        )

    async def async_reload(self) -> None:
        """Read the sentence files again."""
        self._served = await asyncio.to_thread(self._languages_there)
        known = tuple(self._compiled)
        self._compiled.clear()
        await self._compile(known)

    @callback
    def _channels_changed(self) -> None:
        channels = self._names()
        if channels != self.grammar.channels:
            self._fast_path = FastPath(self.grammar.with_channels(channels))

    def _names(self) -> tuple[ChannelNames, ...]:
        """Return every channel's names, its own among them in any language."""
        return tuple(
            ChannelNames(
                key=one.key,
                satellite=one.satellite_name,
                channel=one.id,
                kind=one.kind.value,
                momentary=one.momentary,
                names={**one.names, "": (*one.names.get("", ()), one.name)},
                area=one.area,
                unit=one.unit,
            )
            for one in self._satellites.channels()
        )

    async def _compile(self, languages: tuple[str, ...]) -> None:
        """Add languages to the grammar, off the event loop."""
        async with self._compiling:
            wanted = (*self._compiled, *languages)
            if self._compiled.issuperset(languages):
                return
            names = self._names()
            grammar = await asyncio.to_thread(
                Grammar.compile, wanted, names, self._sentences
            )
            await asyncio.to_thread(self._spoken.load, wanted)
            self._compiled.update(languages)
            self._stamps = await asyncio.to_thread(_stamps, self._sentences)
            self._report(grammar.problems)
            self._fast_path = FastPath(grammar)
            self._channels_changed()

    def question(self, consent: Consent, language: str, text: str) -> str | None:
        """Return our own question about a channel, "" if the text asks it already.

        None where the text does not say what the yes would be for and we have no
        sentence for it: such a yes must not count.
        """
        channel = self._satellites.channel(consent.key)
        if channel is None:
            return None if consent.kind != "skill" else ""
        names = {
            channel.name,
            *(one for some in channel.names.values() for one in some),
        }
        if named(names, text, at_end=consent.kind == "gpio"):
            return ""
        action = ACTIONS.get(consent.order)
        if action is None:
            return None
        if action == "pulse" and consent.duration_s is None and not channel.momentary:
            action = "turn_on"
        command = Command(action, channel.key, consent.duration_s)
        asked = Outcome(False, Code.CONFIRM, channel.key)
        return self._spoken.reply(language, action, [(command, asked)])

    def is_yes(self, text: str, language: str) -> bool:
        """Tell whether the text is nothing but a yes."""
        return consent(text, language) is True

    async def async_answer(
        self,
        text: str,
        language: str,
        area: str | None = None,
        pending: tuple[Command, ...] = (),
    ) -> Answer | None:
        """Carry out what is certainly a command; return None for anything else.

        `pending` are commands that the last answer asked the person about.
        """
        served = closest(language, self._served)
        if served is not None and served not in self._compiled:
            await self._compile((served,))
        if pending and (said := consent(text, language)) is not None:
            if not said:
                return Answer(self._spoken.left_alone(language))
            return await self._carry_out(pending, language, confirmed=True)
        match = self._recognize(text, language, area)
        if match is None:
            return None
        return await self._carry_out(self._commands(match), language, match.action)

    def _recognize(self, text: str, language: str, area: str | None) -> Match | None:
        languages = (language, *self._languages)
        return self._fast_path.recognize(text, languages, area)

    def _commands(self, match: Match) -> tuple[Command, ...]:
        """Return the commands of a match, one for each relay of an all."""
        if match.action not in {"all_on", "all_off"}:
            return match.commands
        action: Action = "turn_on" if match.action == "all_on" else "turn_off"
        return tuple(
            Command(action, channel.key)
            for channel in self._satellites.channels()
            if channel.driven and not channel.momentary
        )

    async def _carry_out(
        self,
        commands: tuple[Command, ...],
        language: str,
        action: str = "multi",
        *,
        confirmed: bool = False,
    ) -> Answer:
        """Do one after the other, and say what became of each."""
        done = [await self._do(command, confirmed=confirmed) for command in commands]
        pending = tuple(one.command for one in done if one.outcome.code is Code.CONFIRM)
        text = self._spoken.reply(
            language, action, [(one.command, one.outcome) for one in done]
        )
        return Answer(text, tuple(self._call(one) for one in done), pending)

    async def _do(self, command: Command, *, confirmed: bool) -> _Done:
        started = time.perf_counter()
        key = command.channel or ""
        if command.action == "query":
            outcome = await self._satellites.read(key)
        else:
            outcome = await self._satellites.write(
                key,
                ORDERS[command.action],
                command.duration_s,
                ACTOR,
                confirmed=confirmed,
            )
        return _Done(command, outcome, (time.perf_counter() - started) * 1000)

    def _call(self, done: _Done) -> Call:
        command, outcome = done.command, done.outcome
        channel = self._satellites.channel(command.channel or "")
        arguments: dict[str, Any] = {"channel": channel.id if channel else "?"}
        if command.action != "query":
            arguments["state"] = ORDERS[command.action]
        if command.duration_s is not None:
            arguments["duration_s"] = command.duration_s
        return Call(
            tool="gpio_read" if command.action == "query" else "gpio_write",
            arguments=arguments,
            result=outcome.code.value,
            duration_ms=done.duration_ms,
            is_error=not outcome.ok,
        )
