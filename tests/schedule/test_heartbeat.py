"""The heartbeat: no model call when there is nothing, no message when all is well."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.mimiclaw.schedule.heartbeat_file import done_items, tick, to_do
from custom_components.mimiclaw.schedule.system_turns import is_nothing
from custom_components.mimiclaw.workspace.seeding import FIRST_FILES
from tests.channels.bot_api import BotApi
from tests.channels.conftest import Serve
from tests.channels.house import BEN, ChatHouse, until
from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Call, Reply

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 12, 1, 12, 0, tzinfo=BERLIN)
TO_BEN = {"deliver_to": f"telegram:{BEN.id}"}


@pytest.fixture(autouse=True)
async def noon(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(NOON)


async def beat(
    hass: HomeAssistant,
    house: ChatHouse,
    freezer: FrozenDateTimeFactory,
    hours: float = 0.5,
) -> None:
    """Let half an hour pass, and the heart beat."""
    freezer.move_to(NOON + timedelta(hours=hours))
    await house.entry.runtime_data.heartbeat.async_beat()


async def test_it_beats_by_itself(
    hass: HomeAssistant, house: ChatHouse, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve(Reply(text="HEARTBEAT_OK"))
    await house.add_assistant(anthropic(server), options=TO_BEN)
    write(house, "- [ ] something\n")
    async_fire_time_changed(hass, NOON + timedelta(minutes=30))
    await until(lambda: server.asked)


def write(house: ChatHouse, text: str) -> None:
    (house.workspace / "HEARTBEAT.md").write_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        FIRST_FILES["/HEARTBEAT.md"],
        "# Heartbeat\n\n- [x] done\n- [X] done too\n   \n",
        "<!-- - [ ] not now -->\n",
        "- [ ]\n-\n---\n",
    ],
)
async def test_with_nothing_to_do_no_model_is_asked(
    hass: HomeAssistant,
    house: ChatHouse,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    text: str,
) -> None:
    server = await serve()
    await house.add_assistant(anthropic(server), options=TO_BEN)
    write(house, text)
    for number in range(1, 5):
        await beat(hass, house, freezer, number / 2)
    assert server.asked == []


async def test_all_well_is_not_told(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(
        Reply(text="HEARTBEAT_OK"), Reply(text="**HEARTBEAT_OK**. All clear.")
    )
    await house.add_assistant(anthropic(server), options=TO_BEN)
    write(house, "- [ ] tell me when the cellar is wet\n")
    await beat(hass, house, freezer)
    await beat(hass, house, freezer, 1.0)
    assert len(server.asked) == 2
    assert api.sent(BEN.id) == []
    assert "the cellar is wet" in str(server.asked[0]["messages"][-1])


async def test_its_answer_reaches_somebody_and_what_was_done_is_ticked(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(
        Reply(text="The bins are out today.\n- [x] Remind of the bins."),
        Reply(text="HEARTBEAT_OK"),
    )
    await house.add_assistant(anthropic(server), options=TO_BEN)
    write(
        house, "# Heartbeat\n- [ ] remind of the **bins**\n- [ ] look at the cellar\n"
    )
    await beat(hass, house, freezer)
    [sent] = await api.until_sent(BEN.id)
    assert sent.text == "The bins are out today."
    text = (house.workspace / "HEARTBEAT.md").read_text()
    assert (
        text == "# Heartbeat\n- [x] remind of the **bins**\n- [ ] look at the cellar\n"
    )
    await beat(hass, house, freezer, 1.0)
    assert (
        "bins"
        not in str(server.asked[1]["messages"][-1]["content"]).split("HEARTBEAT.md")[-1]
    )


async def test_it_cannot_schedule(
    hass: HomeAssistant, house: ChatHouse, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    add = Call("cron_add", {"name": "x", "at": "18:00", "message": "m"}, "one")
    server = await serve(Reply(calls=(add,)), Reply(text="HEARTBEAT_OK"))
    await house.add_assistant(anthropic(server), options=TO_BEN)
    write(house, "- [ ] something\n")
    await beat(hass, house, freezer)
    assert "cannot change the schedule" in str(server.asked[1]["messages"][-1])
    assert not (house.workspace / "cron.json").exists()


async def test_a_failing_provider_is_no_message(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(
        answer=lambda _b: Reply(status=401, error=("authentication_error", "no"))
    )
    await house.add_assistant(anthropic(server), options=TO_BEN)
    write(house, "- [ ] something\n")
    await beat(hass, house, freezer)
    assert api.sent(BEN.id) == []


@pytest.mark.parametrize(
    ("start", "end", "asked"),
    [("22:00", "07:00", 1), ("12:00", "14:00", 0), ("13:00", "12:45", 0)],
)
async def test_quiet_hours(
    hass: HomeAssistant,
    house: ChatHouse,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    start: str,
    end: str,
    asked: int,
) -> None:
    server = await serve(answer=lambda _b: Reply(text="HEARTBEAT_OK"))
    await house.add_assistant(
        anthropic(server), options={**TO_BEN, "quiet_from": start, "quiet_until": end}
    )
    write(house, "- [ ] something\n")
    await beat(hass, house, freezer)
    assert len(server.asked) == asked


async def test_zero_minutes_is_never(
    hass: HomeAssistant, house: ChatHouse, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve()
    await house.add_assistant(anthropic(server), options={"heartbeat_minutes": 0})
    write(house, "- [ ] something\n")
    for hours in (0.5, 1.0, 24.0):
        freezer.move_to(NOON + timedelta(hours=hours))
        async_fire_time_changed(hass, NOON + timedelta(hours=hours))
        await hass.async_block_till_done()
    assert house.entry.runtime_data.heartbeat.last_beat is None


def test_what_is_to_do() -> None:
    text = "# Head\nplain line\n- [ ] box\n* [x] ticked\n1. [ ] numbered\n- item\n"
    assert to_do(text) == ["plain line", "- [ ] box", "1. [ ] numbered", "- item"]


def test_ticking_changes_one_sign_and_nothing_else() -> None:
    text = "a\r\n  - [ ] Feed  the `cat`\r\n- [ ] other\n"
    _, done = done_items("- [x] feed the cat.")
    assert tick(text, done) == "a\r\n  - [x] Feed  the `cat`\r\n- [ ] other\n"


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("HEARTBEAT_OK", True),
        (" `HEARTBEAT_OK`.\n", True),
        ("", True),
        ("Everything is fine. HEARTBEAT_OK", True),
        (
            "The cellar is under water and the pump does not start, please come home. HEARTBEAT_OK",
            False,
        ),
        ("The cellar is wet.", False),
    ],
)
def test_what_is_nothing(text: str, nothing: bool) -> None:
    assert is_nothing(text) is nothing
