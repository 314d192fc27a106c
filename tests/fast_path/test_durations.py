"""Lengths of time in digits and words, in each language with a sentence file."""

from __future__ import annotations

import pytest

from .conftest import Read

TIMES = {
    "en": (
        "run the pump for {}",
        {
            "90 s": 90,
            "90s": 90,
            "10 min": 600,
            "10min.": 600,
            "half an hour": 1800,
            "an hour and a half": 5400,
            "one and a half hours": 5400,
            "1.5 hours": 5400,
            "a quarter of an hour": 900,
            "three quarters of an hour": 2700,
            "1 minute 30 seconds": 90,
            "one minute and thirty seconds": 90,
            "forty-five seconds": 45,
            "two hours": 7200,
            "1 h 30": 5400,
        },
    ),
    "de": (
        "lass die Pumpe {} laufen",
        {
            "90 Sekunden": 90,
            "eine halbe Stunde": 1800,
            "anderthalb Stunden": 5400,
            "zweieinhalb Minuten": 150,
            "1,5 Stunden": 5400,
            "eine Viertelstunde": 900,
            "eine Dreiviertelstunde": 2700,
            "fünfundvierzig Sekunden": 45,
            "fuenfundvierzig Sekunden": 45,
            "eine Minute dreißig Sekunden": 90,
            "zwei Stunden und zehn Minuten": 7800,
        },
    ),
    "fr": (
        "fais tourner la pompe pendant {}",
        {
            "90 secondes": 90,
            "une demi-heure": 1800,
            "une heure et demie": 5400,
            "une minute et demie": 90,
            "un quart d'heure": 900,
            "trois quarts d'heure": 2700,
            "soixante-quinze secondes": 75,
            "1h30": 5400,
            "2 minutes 30": 150,
            "une minute et trente secondes": 90,
            "une vingtaine de minutes": 1200,
        },
    ),
    "es": (
        "enciende la bomba durante {}",
        {
            "90 segundos": 90,
            "media hora": 1800,
            "una hora y media": 5400,
            "minuto y medio": 90,
            "un cuarto de hora": 900,
            "tres cuartos de hora": 2700,
            "treinta y cinco minutos": 2100,
            "un minuto y treinta segundos": 90,
            "un par de minutos": 120,
        },
    ),
    "nl": (
        "zet de pomp {} aan",
        {
            "90 seconden": 90,
            "een half uur": 1800,
            "een half uurtje": 1800,
            "anderhalf uur": 5400,
            "tweeënhalf uur": 9000,
            "een kwartier": 900,
            "drie kwartier": 2700,
            "vijfenveertig seconden": 45,
            "een minuut en dertig seconden": 90,
        },
    ),
    "ru": (
        "включи насос на {}",
        {
            "90 секунд": 90,
            "полчаса": 1800,
            "полтора часа": 5400,
            "полторы минуты": 90,
            "час": 3600,
            "минутку": 60,
            "пару минут": 120,
            "два с половиной часа": 9000,
            "минут десять": 600,
            "сорок пять секунд": 45,
            "четверть часа": 900,
            "одну минуту тридцать секунд": 90,
        },
    ),
    "zh-CN": (
        "水泵开{}",
        {
            "90秒": 90,
            "９０秒": 90,
            "十分钟": 600,
            "半个小时": 1800,
            "半小时": 1800,
            "一个半小时": 5400,
            "两个钟头": 7200,
            "一刻钟": 900,
            "一分半": 90,
            "1分30秒": 90,
            "四十五秒": 45,
            "一小时三十分钟": 5400,
        },
    ),
    "zh-TW": (
        "水泵開{}",
        {
            "90秒": 90,
            "十分鐘": 600,
            "半個小時": 1800,
            "一個半小時": 5400,
            "兩個鐘頭": 7200,
            "一刻鐘": 900,
            "一分半": 90,
            "四十五秒": 45,
        },
    ),
    "ja": (
        "ポンプを{}動かして",
        {
            "90秒": 90,
            "９０秒間": 90,
            "十分": 600,
            "10分間": 600,
            "三十分": 1800,
            "1時間半": 5400,
            "一時間半": 5400,
            "1分30秒": 90,
            "二時間": 7200,
        },
    ),
    "th": (
        "เปิดปั๊ม{}",
        {
            "90 วินาที": 90,
            "๙๐ วินาที": 90,
            "สิบนาที": 600,
            "ครึ่งชั่วโมง": 1800,
            "ชั่วโมงครึ่ง": 5400,
            "สองชั่วโมงครึ่ง": 9000,
            "หนึ่งนาทีสามสิบวินาที": 90,
            "สี่สิบห้าวินาที": 45,
        },
    ),
}


@pytest.mark.parametrize(
    ("language", "sentence", "seconds"),
    [
        (language, template.format(spoken), seconds)
        for language, (template, times) in TIMES.items()
        for spoken, seconds in times.items()
    ],
)
def test_a_length_of_time_is_understood(
    read: Read, language: str, sentence: str, seconds: float
) -> None:
    assert read(sentence, language) == [("pulse", "pump", seconds)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("turn on the pump in ten minutes", "en"),
        ("Pumpe in zehn Minuten an", "de"),
        ("allume la pompe dans dix minutes", "fr"),
        ("allume la pompe pour 10 heures", "fr"),
        ("enciende la bomba en diez minutos", "es"),
        ("zet de pomp over tien minuten aan", "nl"),
        ("zet de pomp voor tien uur aan", "nl"),
        ("включи насос через десять минут", "ru"),
        ("十分钟后打开水泵", "zh-CN"),
        ("水泵十分钟后关", "zh-CN"),
        ("十分鐘後打開水泵", "zh-TW"),
        ("10分後にポンプを動かして", "ja"),
        ("ポンプを半分開けて", "ja"),
        ("อีกสิบนาทีเปิดปั๊ม", "th"),
    ],
)
def test_a_delay_or_an_hour_of_the_day_is_none(
    read: Read, text: str, language: str
) -> None:
    assert read(text, language) == []
