"""Voice notes, pictures and documents: fetched, and made into something a turn can use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
import logging
from pathlib import PurePosixPath
import re
from typing import TYPE_CHECKING, Final
import unicodedata

from homeassistant.components import stt
from homeassistant.exceptions import HomeAssistantError

from ..providers.protocol import Image
from ..workspace.errors import WorkspaceError
from .errors import ChannelError
from .limits import DOCUMENT_BYTES, PICTURE_BYTES, TRANSCRIBE_S, VOICE_BYTES

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from ..workspace.workspace import Workspace
    from .telegram_actions import TelegramActions
    from .update import File, Update

_LOGGER = logging.getLogger(__name__)

_PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_VOICE: Final = ("audio/ogg", "audio/opus", "application/ogg")
#: What is kept as a document: text that the assistant can read.
_TEXT_ENDS: Final = frozenset(
    {".md", ".markdown", ".txt", ".csv", ".json", ".yaml", ".yml", ".log", ".ini"}
)
_CHUNK: Final = 16 * 1024


class Unusable(Exception):
    """It cannot be used; `key` names the sentence for the person."""

    def __init__(self, key: str, **placeholders: str) -> None:
        super().__init__(key)
        self.key = key
        self.placeholders = placeholders


@dataclass(frozen=True, slots=True)
class Content:
    """What a file brings to a turn: words, pictures, a line for the model.

    `stored` is the path of a document that was kept.
    """

    text: str = ""
    images: tuple[Image, ...] = ()
    stored: str = ""


class Attachments:
    """Fetches files by telegram_bot and reads them."""

    def __init__(
        self,
        hass: HomeAssistant,
        actions: TelegramActions,
        workspace: Workspace,
    ) -> None:
        """Take what is needed."""
        self._hass = hass
        self._actions = actions
        self._workspace = workspace

    async def content(self, update: Update, language: str) -> Content:
        """Return what the file of an update brings. Raises Unusable."""
        file = update.file
        if file is None:
            return Content()
        mime = file.mime.split(";")[0].strip().lower()
        if mime.startswith(_VOICE):
            data = await self._fetch(update, file, VOICE_BYTES)
            return Content(text=await self._words(data, language))
        if mime in _PICTURES:
            data = await self._fetch(update, file, PICTURE_BYTES)
            return Content(images=(Image(mime, data),))
        name = PurePosixPath(file.name)
        if mime.startswith("text/") or name.suffix.lower() in _TEXT_ENDS:
            data = await self._fetch(update, file, DOCUMENT_BYTES)
            return Content(stored=await self._keep(data, file.name))
        raise Unusable("telegram_file_unknown", name=file.name or mime or "?")

    async def _fetch(self, update: Update, file: File, limit: int) -> bytes:
        if file.size > limit:
            raise Unusable("telegram_file_large", limit=str(limit // 2**20))
        # The name is ours: one that the sender chose would be a path on our disk.
        name = "mimiclaw_" + re.sub(r"[^\w-]", "", file.file_id)[-80:]
        try:
            return await self._actions.download(update.chat, file.file_id, name, limit)
        except ChannelError as err:
            _LOGGER.warning("A file was not fetched: %s", err)
            raise Unusable("telegram_file_lost") from err

    async def _words(self, data: bytes, language: str) -> str:
        """Let the household's speech-to-text write a voice note down. Raises Unusable."""
        engine = self._engine()
        if engine is None:
            raise Unusable("telegram_voice_no_engine")
        metadata = _metadata(engine, language)
        stream: AsyncIterable[bytes] = _chunks(data)
        if not engine.check_metadata(metadata):
            metadata = _wave(metadata)
            if not engine.check_metadata(metadata):
                raise Unusable("telegram_voice_no_engine")
            stream = _chunks(await self._as_wave(data))
        try:
            async with asyncio.timeout(TRANSCRIBE_S):
                result = await engine.internal_async_process_audio_stream(
                    metadata, stream
                )
        except Exception as err:
            _LOGGER.warning("A voice note was not understood: %s", err)
            raise Unusable("telegram_voice_failed") from err
        if result.result is not stt.SpeechResultState.SUCCESS or not result.text:
            raise Unusable("telegram_voice_failed")
        return result.text

    def _engine(self) -> stt.SpeechToTextEntity | None:
        """Return the preferred pipeline's speech-to-text, else any."""
        engine_id: str | None = None
        if "assist_pipeline" in self._hass.config.components:
            from homeassistant.components.assist_pipeline import async_get_pipeline

            try:
                engine_id = async_get_pipeline(self._hass).stt_engine
            except HomeAssistantError:
                engine_id = None
        if stt.DOMAIN not in self._hass.config.components:
            return None
        engine_id = engine_id or stt.async_default_engine(self._hass)
        if engine_id is None:
            return None
        return stt.async_get_speech_to_text_entity(self._hass, engine_id)

    async def _as_wave(self, data: bytes) -> bytes:
        """Turn a voice note into what every engine takes. Raises Unusable."""
        binary = "ffmpeg"
        if "ffmpeg" in self._hass.config.components:
            from homeassistant.components.ffmpeg import get_ffmpeg_manager

            binary = get_ffmpeg_manager(self._hass).binary
        arguments = "-nostdin -loglevel error -i pipe:0 -ac 1 -ar 16000 -f wav pipe:1"
        try:
            process = await asyncio.create_subprocess_exec(
                binary,
                *arguments.split(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as err:
            raise Unusable("telegram_voice_no_engine") from err
        try:
            async with asyncio.timeout(TRANSCRIBE_S):
                wave, _ = await process.communicate(data)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise Unusable("telegram_voice_failed") from None
        if process.returncode or not wave:
            raise Unusable("telegram_voice_failed")
        return wave

    async def _keep(self, data: bytes, name: str) -> str:
        """Put a document into /docs and return its path. Raises Unusable."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Unusable("telegram_file_unknown", name=name or "?") from None
        try:
            return await asyncio.to_thread(self._store, safe_name(name), text)
        except WorkspaceError as err:
            raise Unusable("telegram_file_refused", reason=str(err)) from err

    def _store(self, name: str, text: str) -> str:
        """Write a new document; one of the same name stays. Blocking."""
        stem, dot, end = name.rpartition(".")
        for number in range(1, 100):
            shown = name if number == 1 else f"{stem}-{number}{dot}{end}"
            path = f"/docs/{shown}"
            if (self._workspace.root / "docs" / shown).exists():
                continue
            self._workspace.replace(path, text, None)
            return path
        raise WorkspaceError(f"There are too many documents called {name}.")


def safe_name(name: str) -> str:
    """Return a plain file name for a document, whatever the sender called it."""
    given = unicodedata.normalize("NFC", PurePosixPath(name.replace("\\", "/")).name)
    stem, dot, end = given.rpartition(".")
    if not dot:
        stem, end = given, "md"
    clean = re.sub(r"[^\w-]+", "-", stem).strip("-_")[:60] or "document"
    ending = re.sub(r"\W", "", end)[:8].lower() or "txt"
    ending = {"markdown": "md"}.get(ending, ending)
    return f"{clean}.{ending}"


def _metadata(engine: stt.SpeechToTextEntity, language: str) -> stt.SpeechMetadata:
    """Describe a voice note as Telegram records it."""
    known = engine.supported_languages
    base = language.split("-", maxsplit=1)[0]
    fits = next((one for one in known if one == language), None) or next(
        (one for one in known if one.split("-")[0] == base), language
    )
    return stt.SpeechMetadata(
        language=fits,
        format=stt.AudioFormats.OGG,
        codec=stt.AudioCodecs.OPUS,
        bit_rate=stt.AudioBitRates.BITRATE_16,
        sample_rate=stt.AudioSampleRates.SAMPLERATE_48000,
        channel=stt.AudioChannels.CHANNEL_MONO,
    )


def _wave(metadata: stt.SpeechMetadata) -> stt.SpeechMetadata:
    return stt.SpeechMetadata(
        language=metadata.language,
        format=stt.AudioFormats.WAV,
        codec=stt.AudioCodecs.PCM,
        bit_rate=stt.AudioBitRates.BITRATE_16,
        sample_rate=stt.AudioSampleRates.SAMPLERATE_16000,
        channel=stt.AudioChannels.CHANNEL_MONO,
    )


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), _CHUNK):
        yield data[start : start + _CHUNK]
