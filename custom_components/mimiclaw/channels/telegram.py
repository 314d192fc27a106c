"""The Telegram channel: hears telegram_bot's events, answers with its actions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
import logging
from typing import TYPE_CHECKING, Any, Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import CoreState, Event, callback
from homeassistant.helpers.start import async_at_started

from ..line_log import STATE_FOLDER, LineLog
from .attachments import Attachments, Unusable
from .catch_up import async_missed
from .chat_queues import ChatQueues
from .commands import Asked, Commands
from .errors import ChannelError, Refused
from .inbox import async_inbox
from .journal import Journal, Open
from .markdown import Piece, plain_pieces
from .people_allowed import CONF_BOT, Allowed, Guest, addressed
from .presses import Presses
from .questions import ANSWER, Questions
from .sender import Sender
from .telegram_actions import DOMAIN, TelegramActions
from .turns import Turns, Undelivered
from .update import Chat, Update, parse_conversation

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from ..phrases import Phrases
    from ..providers.failover import ProviderChain
    from ..satellite.registry import Satellites
    from ..workspace.workspace import Workspace
    from .ports import Assistant, Commander

_LOGGER = logging.getLogger(__name__)

JOURNAL: Final = "telegram.jsonl"
STOP: Final = "/stop"


class TelegramChannel:
    """Owns everything between telegram_bot and the assistant."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        assistant: Assistant,
        commander: Commander,
        workspace: Workspace,
        satellites: Satellites,
        providers: ProviderChain,
        phrases: Phrases,
        tools: Iterable[str],
        status_lines: Callable[[str], Awaitable[list[str]]],
    ) -> None:
        """Take the rooms it opens into."""
        self._hass = hass
        self._entry = entry
        self._phrases = phrases
        self.allowed = Allowed(hass, entry.options)
        self._journal = Journal(LineLog(workspace.root / STATE_FOLDER / JOURNAL))
        self._actions = TelegramActions(hass)
        self.sender = Sender(self._actions, self._journal.remember_ours)
        self.questions = Questions(self.sender)
        self._attachments = Attachments(hass, self._actions, workspace)
        self._commands = Commands(
            hass,
            entry.entry_id,
            workspace,
            satellites,
            providers,
            phrases,
            status_lines,
        )
        self._presses = Presses(self._actions, self._commands, phrases)
        self._turns = Turns(
            assistant,
            commander,
            phrases,
            self.sender,
            self._journal,
            frozenset(tools) - {"gpio_write"},
        )
        self._queues = ChatQueues()
        self._unsubscribe: list[CALLBACK_TYPE] = []
        self._strangers: set[tuple[int, int]] = set()
        self._said_which_bot = False
        self._stopping = False

    @property
    def _language(self) -> str:
        return self._hass.config.language

    @callback
    def async_start(self) -> None:
        """Begin once Home Assistant has started: before, nobody's person is known.

        What comes until then waits in the inbox.
        """
        was_running = self._hass.state is CoreState.running
        self._unsubscribe.append(
            async_at_started(self._hass, partial(self._begin, was_running))
        )

    async def _begin(self, was_running: bool, _hass: HomeAssistant) -> None:
        """Answer what the last run left open, and what was told too early; then listen."""
        try:
            left = await asyncio.to_thread(self._journal.load)
        except OSError as err:
            _LOGGER.warning("Telegram's journal cannot be read: %s", err)
            left = []
        missed = [] if was_running else await async_missed(self._hass)
        if self._stopping:
            return
        for one in left:
            self._queue(one.update, partial(self._resume, one))
        for update in missed:
            self._receive(update)
        self._unsubscribe += [
            async_inbox(self._hass).read(self._receive),
            self._hass.bus.async_listen("telegram_sent", self._sent_by_bot),
        ]

    async def async_stop(self) -> None:
        """End what is under way; the next start goes on with it."""
        self._stopping = True
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        await self._queues.stop()
        await self._journal.flush()

    async def idle(self) -> None:
        """Wait until everything received is answered."""
        await self._queues.idle()

    # Going out, for schedules and actions.

    def bot_entry(self) -> str | None:
        """Return the config entry of the bot: the chosen one, or the only one."""
        if chosen := self._entry.options.get(CONF_BOT):
            return str(chosen)
        entries = self._hass.config_entries.async_entries(
            DOMAIN, include_ignore=False, include_disabled=False
        )
        return entries[0].entry_id if len(entries) == 1 else None

    def chat(self, conversation_id: str) -> Chat | None:
        """Return a chat to write to, if the options name it and there is a bot."""
        parsed = parse_conversation(conversation_id)
        entry_id = self.bot_entry()
        if parsed is None or entry_id is None:
            return None
        if self.allowed.guest_of_chat(parsed[0]) is None:
            return None
        entry = self._hass.config_entries.async_get_entry(entry_id)
        if entry is None or entry.state is not ConfigEntryState.LOADED:
            return None
        return Chat(entry_id, *parsed)

    async def send(self, chat: Chat, pieces: list[Piece]) -> None:
        """Send a message of the assistant's own. Raises ChannelError."""
        await self.sender.deliver(chat, pieces)

    # Coming in.

    @callback
    def _sent_by_bot(self, event: Event[dict[str, Any]]) -> None:
        chat_id, number = event.data.get("chat_id"), event.data.get("message_id")
        if isinstance(chat_id, int) and isinstance(number, int):
            self._journal.remember_ours(chat_id, number)

    @callback
    def _receive(self, update: Update) -> None:
        """Take one update: let in who may, drop what was seen, put the rest in line."""
        if (
            self._stopping
            or not self._is_for_us(update)
            or self._journal.seen(update.key)
        ):
            return
        guest = self.allowed.guest(update)
        if guest is None:
            self._turn_away(update)
            return
        if update.kind == "callback":
            self._pressed(update)
            return
        said = self._said_to_us(update)
        if said is None:
            return
        if update.kind == "text" and self.questions.typed(update):
            self._journal.received(update)
            self._run(self._journal.end(update.key))
            return
        if update.command.partition("@")[0].lower() == STOP:
            self._journal.received(update)
            self._run(self._stop_chat(update))
            return
        written = self._journal.received(update)
        self._queue(update, partial(self._handle, update, said, written))

    def _is_for_us(self, update: Update) -> bool:
        bot = self.bot_entry()
        if bot is None and not self._said_which_bot:
            self._said_which_bot = True
            _LOGGER.warning(
                "There are several Telegram bots; choose one in the options of MimiClaw"
            )
        return bot is not None and bot == update.chat.entry_id

    def _turn_away(self, update: Update) -> None:
        """Say nothing to a stranger, and one line to the log."""
        who = (update.chat.chat_id, update.user_id)
        if who not in self._strangers:
            self._strangers.add(who)
            _LOGGER.warning(
                "Telegram user %s in chat %s is not named in the options and was not "
                "answered",
                update.user_id,
                update.chat.chat_id,
            )

    def _said_to_us(self, update: Update) -> str | None:
        """Return what is said to the assistant; None for talk among others."""
        if update.chat.private:
            if update.kind == "command":
                return f"{update.command} {update.text}".strip()
            return update.text
        to_us = update.reply_to is not None and self._journal.is_ours(
            update.chat.chat_id, update.reply_to
        )
        return addressed(update, to_us=to_us)

    def _queue(self, update: Update, work: Callable[[], Awaitable[None]]) -> None:
        self._queues.put(update.chat.conversation_id, work)

    def _run(self, work: Awaitable[None]) -> None:
        """Do something small beside the lines."""

        async def done() -> None:
            await work

        self._queues.put(f"beside {id(work)}", done)

    def _pressed(self, update: Update) -> None:
        """A button acts at once, beside what the chat waits for; presses keep their order."""
        self._journal.received(update)
        if update.text.startswith(ANSWER):
            chosen = self.questions.press(update)
            self._run(self._end_press(update, chosen))
            return
        self._queues.put(f"press {update.chat.chat_id}", partial(self._press, update))

    async def _press(self, update: Update) -> None:
        try:
            await self._presses.press(update, self._language)
        finally:
            if not self._stopping:
                await self._journal.end(update.key)

    async def _end_press(self, update: Update, chosen: str | None) -> None:
        text = chosen or await self._phrases.async_say(
            self._language, "telegram_button_old"
        )
        try:
            await self._actions.answer_press(update.chat, update.callback_id, text)
        except ChannelError as err:
            _LOGGER.debug("A press was not answered: %s", err)
        await self._journal.end(update.key)

    async def _stop_chat(self, update: Update) -> None:
        """End the turn that is under way, and forget what waits behind it."""
        key = update.chat.conversation_id
        waiting = self._queues.drop_waiting(key)
        stopped = await self._queues.cancel_current(key)
        await self._journal.end_chat(update.chat)
        said = "telegram_stopped" if stopped or waiting else "telegram_nothing_to_stop"
        text = await self._phrases.async_say(self._language, said)
        try:
            await self.sender.deliver(update.chat, plain_pieces(text))
        except ChannelError as err:
            _LOGGER.warning("A reply was not sent: %s", err)

    # Answering.

    async def _handle(
        self, update: Update, said: str, written: asyncio.Future[None]
    ) -> None:
        """Answer one message and close it in the journal."""
        await written
        guest = self.allowed.guest(update)
        if guest is None:
            await self._journal.end(update.key)
            return
        try:
            await self._answer(update, guest, said)
        except Undelivered as err:
            # It stays open: the next start delivers it.
            _LOGGER.warning("A reply waits for the next start: %s", err)
            return
        except Exception:
            _LOGGER.exception("A message was not answered")
            text = await self._phrases.async_say(self._language, "no_answer")
            await self._turns.deliver(update, plain_pieces(text))
        await self._journal.end(update.key)

    async def _answer(self, update: Update, guest: Guest, said: str) -> None:
        if update.kind == "command":
            asked = Asked(
                update.chat, guest.speaker, self._language, update.text.strip()
            )
            answer = await self._commands.answer(update.command, asked)
            if answer is not None:
                await self._turns.deliver(update, answer.pieces, answer.rows)
                return
        if update.file is None:
            await self._turns.answer(update, guest, said, self._language)
            return
        try:
            content = await self._attachments.content(update, self._language)
        except Unusable as err:
            text = await self._phrases.async_say(
                self._language, err.key, err.placeholders
            )
            await self._turns.deliver(update, plain_pieces(text))
            return
        if content.stored:
            said = await self._kept(update, content.stored, said)
            if not said:
                return
        text = "\n\n".join(one for one in (said, content.text) if one)
        await self._turns.answer(update, guest, text, self._language, content.images)

    async def _kept(self, update: Update, path: str, said: str) -> str:
        """Say where a document is; return what is left to be answered about it."""
        if said.strip():
            return f"{said}\n\n[{path}]"
        text = await self._phrases.async_say(
            self._language, "telegram_file_kept", {"path": path}
        )
        await self._turns.deliver(update, plain_pieces(text))
        return ""

    async def _resume(self, left: Open) -> None:
        """Bring to an end what the last run began, and do nothing twice."""
        update = left.update
        if self.allowed.guest(update) is None or update.kind == "callback":
            await self._journal.end(update.key)
            return
        if left.stage in {"in", "think"}:
            said = self._said_to_us(update) or update.text
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            done.set_result(None)
            await self._handle(update, said, done)
            return
        try:
            if left.stage == "out":
                pieces = [Piece(one["h"], one["t"]) for one in left.pieces]
                if left.sent < len(pieces):
                    await self._turns.deliver(update, pieces, first=left.sent)
            else:
                text = await self._phrases.async_say(
                    self._language, "telegram_interrupted", {"text": update.text[:200]}
                )
                await self._turns.deliver(update, plain_pieces(text))
        except Refused as err:
            _LOGGER.warning("A reply was refused: %s", err)
        except Undelivered as err:
            _LOGGER.warning("A reply waits for the next start: %s", err)
            return
        await self._journal.end(update.key)
