"""What is said, in the language it was asked in."""

from __future__ import annotations

import re

import pytest
import yaml

from custom_components.mimiclaw.fast_path.languages import own_languages
from custom_components.mimiclaw.fast_path.replies import REPLIES, Replies


@pytest.fixture(scope="module")
def replies() -> Replies:
    return Replies.load(["pl", "it", "tr"])


def _file(language: str) -> dict[str, str]:
    text = (REPLIES / f"{language}.yaml").read_text(encoding="utf-8")
    replies: dict[str, str] = yaml.safe_load(text)["replies"]
    return replies


def _slots(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("language", sorted(own_languages()))
def test_every_own_language_says_the_same_things_with_the_same_slots(
    language: str,
) -> None:
    mine, english = _file(language), _file("en")
    assert mine.keys() == english.keys()
    for kind, text in english.items():
        assert _slots(mine[kind]) == _slots(text), kind


@pytest.mark.parametrize("language", sorted(own_languages()))
def test_a_reply_is_short_enough_to_be_spoken(replies: Replies, language: str) -> None:
    slots = {"name": "water pump", "other": "fan", "value": "41 %"}
    times = {"duration": 90.0, "remaining": 12.0, "limit": 900.0}
    for kind in _file(language):
        text = replies.reply(language, kind, **slots, **times)
        assert 3 <= len(text) <= 80, text
        assert "{" not in text


@pytest.mark.parametrize(
    ("language", "seconds", "spoken"),
    [
        ("en", 1, "1 second"),
        ("en", 90, "1 minute 30 seconds"),
        ("en", 3600, "1 hour"),
        ("en", 3661, "1 hour 1 minute"),
        ("en", 0.2, "1 second"),
        ("en", 11.2, "12 seconds"),
        ("de", 60, "eine Minute"),
        ("fr", 5400, "1 heure 30 minutes"),
        ("es", 1, "un segundo"),
        ("nl", 7200, "2 uur"),
        ("ru", 1, "1 секунду"),
        ("ru", 3, "3 секунды"),
        ("ru", 12, "12 секунд"),
        ("ru", 21, "21 секунду"),
        ("zh-CN", 90, "1分钟30秒"),
        ("zh-TW", 60, "1分鐘"),
        ("ja", 5400, "1時間30分"),
        ("th", 45, "45 วินาที"),
    ],
)
def test_a_length_of_time_is_spoken(
    replies: Replies, language: str, seconds: float, spoken: str
) -> None:
    assert replies.duration(language, seconds) == spoken


def test_a_refusal_says_why_and_how_long(replies: Replies) -> None:
    said = replies.reply("en", "min_off", name="Pump", remaining=42.0)
    assert said == "Pump has to stay off for another 42 seconds."
    said = replies.reply("de", "interlock", name="Heizung", other="Ventilator")
    assert "Heizung" in said
    assert "Ventilator" in said


def test_several_replies_are_one(replies: Replies) -> None:
    parts = [replies.reply("en", "turn_on", name=name) for name in ("pump", "fan")]
    assert replies.several("en", parts) == "Pump is on. Fan is on."


def test_regions_and_other_languages(replies: Replies) -> None:
    assert replies.reply("de-AT", "all_off") == "Alles ist aus."
    assert replies.reply("zh-Hant", "all_off") == "全部已關閉。"
    assert replies.reply("it", "state_on", name="pompa") == "Pompa: acceso"
    assert replies.reply("it", "offline", name="pompa").startswith("Pompa can't")
    assert replies.reply("xx", "all_off") == "Everything is off."


def test_an_unknown_kind_or_a_missing_slot_is_an_error(replies: Replies) -> None:
    with pytest.raises(KeyError):
        replies.reply("en", "applause")
    with pytest.raises(KeyError):
        replies.reply("en", "turn_on")
