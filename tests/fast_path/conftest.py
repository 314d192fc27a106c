"""A greenhouse with eight channels, as the cases have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.eval_fast_path import read_channels
from custom_components.mimiclaw.fast_path.channels import ChannelKind, ChannelNames
from custom_components.mimiclaw.fast_path.command import Match
from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.languages import own_languages
from custom_components.mimiclaw.fast_path.router import FastPath

CASES = Path(__file__).parent / "cases"

type Read = Callable[..., list[tuple[str, str | None, float | None]]]


def channel(
    key: str,
    *names: str,
    kind: ChannelKind = "relay",
    momentary: bool = False,
    area: str | None = None,
    language: str = "",
) -> ChannelNames:
    """A channel "<satellite>/<id>" with names for any language, or for one."""
    satellite, _, name = key.partition("/")
    return ChannelNames(
        key, satellite, name, kind, momentary, {language: names or (name,)}, area
    )


def plain(match: Match | None) -> list[tuple[str, str | None, float | None]]:
    """A match as action, channel without its satellite, and seconds."""
    if match is None:
        return []
    return [
        (c.action, c.channel and c.channel.rpartition("/")[2], c.duration_s)
        for c in match.commands
    ]


@pytest.fixture(scope="session")
def greenhouse() -> FastPath:
    """The greenhouse in every language with a sentence file."""
    channels = read_channels(CASES / "channels.json")
    return FastPath(Grammar.compile(sorted(own_languages()), channels))


@pytest.fixture(scope="session")
def read(greenhouse: FastPath) -> Read:
    """Read one sentence in one language, English unless said otherwise."""

    def _read(
        text: str, language: str = "en"
    ) -> list[tuple[str, str | None, float | None]]:
        return plain(greenhouse.recognize(text, [language]))

    return _read
