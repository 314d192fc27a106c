"""Voice notes, pictures, documents."""

from __future__ import annotations

from collections.abc import AsyncIterable
from pathlib import Path

from homeassistant.components import stt
from homeassistant.config_entries import ConfigFlow
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    MockPlatform,
    mock_config_flow,
    mock_integration,
    mock_platform,
)

from custom_components.mimiclaw.channels.attachments import safe_name
from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Reply

from .bot_api import BotApi
from .conftest import Serve
from .house import ANNA, ChatHouse

JPEG = b"\xff\xd8\xff\xe0" + b"picture" * 20


class Ear(stt.SpeechToTextEntity):
    """A speech-to-text that takes what it is told to take."""

    _attr_name = "Ear"

    def __init__(self, formats: list[stt.AudioFormats]) -> None:
        self._formats = formats
        self.heard = b""
        self.metadata: stt.SpeechMetadata | None = None

    @property
    def supported_languages(self) -> list[str]:
        return ["en-GB", "de-DE"]

    @property
    def supported_bit_rates(self) -> list[stt.AudioBitRates]:
        return list(stt.AudioBitRates)

    @property
    def supported_channels(self) -> list[stt.AudioChannels]:
        return list(stt.AudioChannels)

    @property
    def supported_formats(self) -> list[stt.AudioFormats]:
        return self._formats

    @property
    def supported_codecs(self) -> list[stt.AudioCodecs]:
        return list(stt.AudioCodecs)

    @property
    def supported_sample_rates(self) -> list[stt.AudioSampleRates]:
        return list(stt.AudioSampleRates)

    async def async_process_audio_stream(
        self, metadata: stt.SpeechMetadata, stream: AsyncIterable[bytes]
    ) -> stt.SpeechResult:
        self.metadata = metadata
        self.heard = b"".join([chunk async for chunk in stream])
        return stt.SpeechResult(
            "what do the notes say of tomatoes?", stt.SpeechResultState.SUCCESS
        )


async def listen(hass: HomeAssistant, ear: Ear) -> None:
    """Set a speech-to-text up."""
    assert await async_setup_component(hass, stt.DOMAIN, {})

    async def setup(hass: HomeAssistant, entry: object) -> bool:
        await hass.config_entries.async_forward_entry_setups(entry, ["stt"])  # type: ignore[arg-type]
        return True

    async def add(hass: object, entry: object, add_entities: object) -> None:
        add_entities([ear])  # type: ignore[operator]

    mock_integration(hass, MockModule("ear", async_setup_entry=setup))
    mock_platform(hass, "ear.config_flow")
    mock_platform(hass, "ear.stt", MockPlatform(async_setup_entry=add))
    entry = MockConfigEntry(domain="ear")
    entry.add_to_hass(hass)
    with mock_config_flow("ear", ConfigFlow):
        assert await hass.config_entries.async_setup(entry.entry_id)


async def test_a_voice_note_is_written_down_and_answered(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    ear = Ear([stt.AudioFormats.OGG])
    await listen(hass, ear)
    server = await serve(Reply(text="Nothing yet."))
    await house.add_assistant(anthropic(server))
    await api.send_file("voice", b"OggS" + b"voice" * 10_000, ANNA, mime="audio/ogg")
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Nothing yet."
    assert ear.heard.startswith(b"OggS")
    assert len(ear.heard) == 50_004
    assert ear.metadata is not None
    assert ear.metadata.language == "en-GB"
    assert "what do the notes say of tomatoes?" in str(server.asked[0]["messages"])
    left = Path(hass.config.path("telegram_bot"))
    assert not left.exists() or list(left.iterdir()) == []


async def test_without_speech_to_text_it_says_so(house: ChatHouse, api: BotApi) -> None:
    await house.add_assistant()
    await api.send_file("voice", b"OggS", ANNA, mime="audio/ogg")
    [sent] = await api.until_sent(ANNA.id)
    assert "speech-to-text" in sent.text


async def test_a_picture_is_seen(house: ChatHouse, api: BotApi, serve: Serve) -> None:
    server = await serve(Reply(text="A tomato."))
    await house.add_assistant(anthropic(server))
    await api.send_file("photo", JPEG, ANNA, caption="what is this?")
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "A tomato."
    content = server.asked[0]["messages"][-1]["content"]
    assert {block["type"] for block in content} == {"text", "image"}


async def test_a_document_is_kept(house: ChatHouse, api: BotApi, serve: Serve) -> None:
    server = await serve(Reply(text="It is about boilers."))
    await house.add_assistant(anthropic(server))
    text = "# Boiler\nService it in March. 中文\n"
    await api.send_file(
        "document",
        text.encode(),
        ANNA,
        name="../../Boiler manual.md",
        mime="text/markdown",
    )
    [sent] = await api.until_sent(ANNA.id)
    assert "/docs/Boiler-manual.md" in sent.text
    assert (house.workspace / "docs" / "Boiler-manual.md").read_text() == text
    assert server.asked == []
    await api.send_file(
        "document",
        b"other",
        ANNA,
        name="Boiler manual.md",
        mime="text/markdown",
        caption="what is in it?",
    )
    await api.until_sent(ANNA.id, 2)
    assert (house.workspace / "docs" / "Boiler-manual.md").read_text() == text
    assert (house.workspace / "docs" / "Boiler-manual-2.md").read_text() == "other"
    assert "/docs/Boiler-manual-2.md" in str(server.asked[0]["messages"])


@pytest.mark.parametrize(
    ("data", "name", "mime", "word"),
    [
        (b"MZ\x00\xff", "run.exe", "application/x-msdownload", "cannot read"),
        (b"\xff\xfe\x00bad", "notes.txt", "text/plain", "cannot read"),
        (b"x" * (8 * 2**20 + 1), "large.txt", "text/plain", "too large"),
    ],
)
async def test_what_cannot_be_used_is_said(
    house: ChatHouse, api: BotApi, data: bytes, name: str, mime: str, word: str
) -> None:
    await house.add_assistant()
    await api.send_file("document", data, ANNA, name=name, mime=mime)
    [sent] = await api.until_sent(ANNA.id)
    assert word in sent.text
    assert not (house.workspace / "docs" / name).exists()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Manual v1.2.md", "Manual-v1-2.md"),
        ("..\\..\\secrets.yaml", "secrets.yaml"),
        (".hidden", "document.hidden"),
        ("", "document.md"),
        ("说明书.txt", "说明书.txt"),
        ("a" * 300 + ".md", "a" * 60 + ".md"),
    ],
)
def test_names_of_documents_are_plain(given: str, kept: str) -> None:
    assert safe_name(given) == kept
