"""From what people say to the channels they mean."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from custom_components.mimiclaw.satellite.model import Channel, ChannelKind
from custom_components.mimiclaw.satellite.naming import fold, resolve

PUMP = Channel(
    "a/pump",
    "a",
    "Greenhouse",
    "pump",
    "Water pump",
    ChannelKind.RELAY,
    names={"de": ("Wasserpumpe",), "fr": ("Pompe à eau",), "zh-CN": ("水泵",)},
    pin=5,
    area="Garden",
)
FAN = replace(PUMP, key="a/fan", id="fan", name="Fan", names={"": ("blower",)}, pin=6)
SHED = replace(
    PUMP, key="b/pump", satellite="b", satellite_name="Shed", area="Yard", pin=7
)
ALL = [PUMP, FAN, SHED]


def _keys(text: str, area: str | None = None, language: str | None = None) -> list[str]:
    return [one.key for one in resolve(ALL, text, language, area)]


def test_by_key_id_name_alias_and_pin() -> None:
    assert _keys("a/pump") == ["a/pump"]
    assert _keys("fan") == _keys("FAN") == _keys("Blower") == ["a/fan"]
    assert (
        _keys("gpio6") == _keys("GPIO 6") == _keys("pin 6") == _keys("6") == ["a/fan"]
    )
    assert _keys("shed/water pump") == _keys("b/pump") == ["b/pump"]


def test_case_accents_and_gaps_do_not_matter() -> None:
    only = [PUMP]
    for text in (
        "pompe a eau",
        "POMPE À EAU",
        "pompe\u0301 a\u0300  eau"[:4] + "e à_eau",
    ):
        assert resolve(only, text) == only, text
    assert resolve(only, "ｗａｔｅｒ-ｐｕｍｐ") == only
    assert resolve(only, "水泵") == only


def test_an_area_chooses_but_never_hides() -> None:
    assert _keys("water pump") == ["a/pump", "b/pump"]
    assert _keys("water pump", "yard") == ["b/pump"]
    assert _keys("water pump", "Attic") == ["a/pump", "b/pump"]
    assert _keys("fan", "Attic") == ["a/fan"]


def test_a_name_of_ones_own_language_comes_first() -> None:
    stolen = replace(FAN, names={"nl": ("Wasserpumpe",)})
    channels = [PUMP, stolen]
    assert resolve(channels, "wasserpumpe", "de-AT") == [PUMP]
    assert resolve(channels, "wasserpumpe", "nl") == [stolen]
    assert resolve(channels, "wasserpumpe", "en") == channels


@given(st.text())
def test_what_is_nobodys_name_means_nothing(text: str) -> None:
    found = resolve(ALL, text)
    names = {
        fold(name)
        for one in ALL
        for name in (one.id, one.name, *[n for ns in one.names.values() for n in ns])
    }
    _, slash, tail = text.rpartition("/")
    known = fold(text) in names or (slash and fold(tail) in names)
    if not known and not any(c.isdigit() for c in text) and text != "a/pump":
        assert found == []


@given(st.text())
def test_folding_is_settled_after_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
