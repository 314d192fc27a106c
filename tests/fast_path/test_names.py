"""Names: aliases, areas, spelling, numbers, two channels of one name."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.fast_path.channels import ChannelNames
from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.router import FastPath

from .conftest import Read, channel, plain


def fast_path(
    *channels: ChannelNames, languages: tuple[str, ...] = ("en",)
) -> FastPath:
    return FastPath(Grammar.compile(languages, channels))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Turn on the WATER   PUMP!!!", "en"),
        ("turn on the ｗａｔｅｒ ｐｕｍｐ", "en"),
        ("turn on the water-pump", "en"),
        ("turn on the waterpump 💧💧", "en"),
        ("\u200fturn on\u200b the pump\u200e", "en"),
        ("🙂 turn on the pump.", "en"),
        ("allume la pompe a eau", "fr"),
        ("ALLUME LA POMPE À EAU", "fr"),
        ("打开 水泵", "zh-CN"),
        ("включи водяной насос", "ru"),
        ("включи водяного насоса", "ru"),
    ],
)
def test_spelling_does_not_matter(read: Read, text: str, language: str) -> None:
    assert read(text, language) == [("turn_on", "pump", None)]


def test_umlauts_may_be_missing_or_written_out(read: Read) -> None:
    for door in ("Gewächshaustür", "Gewaechshaustuer", "Gewachshaustur"):
        assert read(f"ist die {door} offen", "de") == [("query", "door", None)]


def test_the_longer_name_wins_over_the_one_inside_it(read: Read) -> None:
    assert read("zet de ventilatorkachel aan", "nl") == [("turn_on", "heater", None)]
    assert read("Включи тепловентилятор", "ru") == [("turn_on", "heater", None)]


@pytest.mark.parametrize("spoken", ["relay 3", "Relay three", "the relay 3", "relay-3"])
def test_a_number_in_a_name_is_said_in_digits_or_words(spoken: str) -> None:
    path = fast_path(*(channel(f"g/{n}", f"Relay {n}") for n in (1, 2, 3, 12)))
    assert plain(path.recognize(f"turn on {spoken}", ["en"])) == [
        ("turn_on", "3", None)
    ]


def test_numbers_of_names_and_times_do_not_run_together() -> None:
    path = fast_path(*(channel(f"g/{n}", f"Relay {n}") for n in (1, 12)))
    assert plain(path.recognize("turn on relay 1 for 2 minutes", ["en"])) == [
        ("pulse", "1", 120)
    ]
    assert path.recognize("turn on relay 1 2", ["en"]) is None


def test_a_name_with_an_article_is_known_without_it() -> None:
    path = fast_path(channel("g/a", "The Big Blower"))
    for said in ("turn on big blower", "turn on the big blower"):
        assert plain(path.recognize(said, ["en"])) == [("turn_on", "a", None)]


def test_a_channel_without_names_in_a_language_keeps_those_it_has() -> None:
    path = fast_path(channel("g/a", "Booster", language="en"), languages=("de",))
    assert plain(path.recognize("Booster an", ["de"])) == [("turn_on", "a", None)]


def test_two_of_one_name_need_something_to_tell_them_apart() -> None:
    path = fast_path(
        channel("north/pump", "pump", area="Kitchen"),
        channel("south/pump", "pump", area="Cellar"),
    )
    assert path.recognize("turn on the pump", ["en"]) is None
    assert path.recognize("turn on the pump", ["en"], area="Garden") is None

    def key(text: str, area: str | None = None) -> str | None:
        match = path.recognize(text, ["en"], area=area)
        return match.commands[0].channel if match else None

    assert key("turn on the pump", "cellar") == "south/pump"
    assert key("turn on the kitchen pump") == "north/pump"
    assert key("turn on the pump in the kitchen", "Cellar") == "north/pump"
    assert key("turn on the south pump") == "south/pump"
    assert key("turn on the pump in the attic") is None


def test_a_wrong_area_is_not_overlooked() -> None:
    path = fast_path(
        channel("north/pump", "pump", area="Kitchen"),
        channel("south/fan", "fan", area="Cellar"),
    )
    assert path.recognize("turn on the pump in the cellar", ["en"]) is None


def test_everything_in_an_area_is_everything_only_if_it_is() -> None:
    here = channel("greenhouse/pump", "pump"), channel("greenhouse/fan", "fan")
    path = fast_path(*here, channel("greenhouse/door", "door", kind="input"))
    for said in ("turn off everything in the greenhouse", "everything off"):
        assert plain(path.recognize(said, ["en"])) == [("all_off", None, None)]
    assert path.recognize("turn off everything in the kitchen", ["en"]) is None
    path = fast_path(*here, channel("cellar/pump", "cellar pump"))
    assert path.recognize("turn off everything in the greenhouse", ["en"]) is None
    assert path.recognize("turn off everything", ["en"])


def test_the_one_that_can_do_it_is_meant() -> None:
    path = fast_path(
        channel("g/contact", "door", kind="input"), channel("g/opener", "door")
    )
    assert plain(path.recognize("open the door", ["en"])) == [
        ("turn_on", "opener", None)
    ]
    assert path.recognize("what is the status of the door", ["en"]) is None


def test_channels_change_without_reading_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = Grammar.compile(["en", "pl"], [channel("g/a", "old lamp")])
    monkeypatch.setattr("pathlib.Path.read_text", None)
    path = FastPath(grammar.with_channels([channel("g/a", "new lamp")]))
    assert path.recognize("turn on the old lamp", ["en"]) is None
    assert plain(path.recognize("turn on the new lamp", ["en"])) == [
        ("turn_on", "a", None)
    ]
