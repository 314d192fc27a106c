"""Jobs in Home Assistant: entities, actions, the tool, delivery, relays without a model."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
import json
from typing import Any
from zoneinfo import ZoneInfo

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest

from scripts.house.twin import Twin
from tests.channels.bot_api import BotApi
from tests.channels.conftest import Serve
from tests.channels.house import ANNA, ChatHouse, until
from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Call, Reply

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 12, 1, 12, 0, tzinfo=BERLIN)


@pytest.fixture(autouse=True)
async def noon(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """It is noon in Berlin."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(NOON)


async def at(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, when: datetime
) -> None:
    """Let it be a later time, and the schedule look at the clock."""
    freezer.move_to(when)
    [entry] = hass.config_entries.async_entries("mimiclaw")
    await entry.runtime_data.schedule.scheduler.wake()
    await hass.async_block_till_done()


def jobs(house: ChatHouse) -> list[dict[str, Any]]:
    path = house.workspace / "cron.json"
    found: list[dict[str, Any]] = (
        json.loads(path.read_text())["jobs"] if path.exists() else []
    )
    return found


async def act(hass: HomeAssistant, action: str, **data: Any) -> Any:
    answers = action in {"cron_add", "cron_list", "ask_person", "consider"}
    return await hass.services.async_call(
        "mimiclaw", action, data, blocking=True, return_response=answers
    )


def _failed(house: ChatHouse, times: int) -> bool:
    return bool(jobs(house)[0].get("failures") == times)


def state(hass: HomeAssistant, entity_id: str) -> str:
    found = hass.states.get(entity_id)
    return found.state if found else "(none)"


def is_on(twin: Twin, channel: str) -> bool:
    return bool(twin.control(f"read {channel}")["on"])


async def test_a_reminder_asked_for_in_a_chat_comes_to_that_chat(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    turns: list[dict[str, Any]],
) -> None:
    """The origin is captured in code: the model's chat_id is made up and ignored."""
    add = {
        "name": "oven",
        "at": "12:30",
        "message": "Take the cake out",
        "channel": "telegram",
        "chat_id": "12345",
    }
    server = await serve(
        Reply(calls=(Call("cron_add", add, "one"),)),
        Reply(text="I will remind you at 12:30."),
        Reply(text="Take the cake out of the oven!"),
    )
    await house.add_assistant(anthropic(server))
    await api.say("remind me of the cake at half past", ANNA)
    await api.until_sent(ANNA.id)
    [job] = jobs(house)
    assert (job["channel"], job["chat_id"], job["person"]) == (
        "telegram",
        "111",
        "anna",
    )
    result = str(server.asked[1]["messages"][-1])
    assert "Tuesday, 2026-12-01 12:30 CET" in result
    assert "in 30 min" in result
    await at(hass, freezer, NOON + timedelta(minutes=30))
    sent = await api.until_sent(ANNA.id, 2)
    assert sent[1].text == "Take the cake out of the oven!"
    await until(lambda: jobs(house) == [])
    fired = str(server.asked[2]["messages"][-1])
    assert "not a person" in fired
    assert "Take the cake out" in fired


async def test_a_fired_job_cannot_schedule_the_next(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
) -> None:
    again = Call("cron_add", {"name": "again", "at": "18:00", "message": "m"}, "one")
    server = await serve(Reply(calls=(again,)), Reply(text="Water the plants."))
    await house.add_assistant(anthropic(server))
    await act(
        hass,
        "cron_add",
        name="water",
        interval_s=600,
        message="plants",
        to="telegram:111",
    )
    await at(hass, freezer, NOON + timedelta(minutes=10))
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Water the plants."
    assert len(jobs(house)) == 1
    assert "cannot change the schedule" in str(server.asked[1]["messages"][-1])


async def test_a_relay_at_a_time_needs_no_model(
    hass: HomeAssistant,
    house: ChatHouse,
    twin: Twin,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    turns: list[dict[str, Any]],
) -> None:
    server = await serve()
    await house.add_assistant(anthropic(server))
    await house.add_satellite(twin.port)
    added = await act(
        hass,
        "cron_add",
        name="evening",
        at="19:00",
        relay="water pump",
        state="on",
        duration_s=600,
    )
    assert added["next_run"] == "2026-12-01T19:00:00+01:00"
    await at(hass, freezer, NOON + timedelta(hours=7))
    await until(lambda: is_on(twin, "pump"))
    await until(lambda: jobs(house) == [])
    assert server.asked == []
    assert turns == []


async def test_a_relay_that_is_refused_is_told(
    hass: HomeAssistant,
    house: ChatHouse,
    twin: Twin,
    api: BotApi,
    freezer: FrozenDateTimeFactory,
) -> None:
    await house.add_assistant()
    await house.add_satellite(twin.port)
    await act(
        hass,
        "cron_add",
        name="pump",
        expr="0 13 * * *",
        relay="water pump",
        to="telegram:111",
    )
    twin.stop(kill=True)
    satellites = house.entry.runtime_data.satellites
    await until(lambda: not any(one.available for one in satellites.satellites()))
    await at(hass, freezer, NOON + timedelta(hours=1))
    [sent] = await api.until_sent(ANNA.id)
    assert "pump" in sent.text
    await until(lambda: jobs(house)[0].get("failures") == 1)


async def test_what_the_model_may_not_switch_it_may_not_schedule(
    house: ChatHouse, twin: Twin, api: BotApi, serve: Serve
) -> None:
    add = Call(
        "cron_add", {"name": "x", "at": "19:00", "relay": "no such thing"}, "one"
    )
    server = await serve(Reply(calls=(add,)), Reply(text="There is none."))
    await house.add_assistant(anthropic(server))
    await house.add_satellite(twin.port)
    await api.say("switch it on tonight", ANNA)
    await api.until_sent(ANNA.id)
    assert "no channel" in str(server.asked[1]["messages"][-1])
    assert jobs(house) == []


async def test_each_job_has_a_switch_and_a_time(
    hass: HomeAssistant, house: ChatHouse, freezer: FrozenDateTimeFactory
) -> None:
    await house.add_assistant()
    added = await act(hass, "cron_add", name="water", expr="0 19 * * *", message="m")
    await hass.async_block_till_done()
    switch, sensor = "switch.mimiclaw_job_water", "sensor.mimiclaw_next_run_of_water"
    assert state(hass, switch) == "on"
    assert state(hass, sensor) == "2026-12-01T18:00:00+00:00"
    await hass.services.async_call(
        "switch", "turn_off", {"entity_id": switch}, blocking=True
    )
    assert state(hass, switch) == "off"
    assert state(hass, sensor) == "unknown"
    assert jobs(house)[0]["enabled"] is False
    await hass.services.async_call(
        "switch", "turn_on", {"entity_id": switch}, blocking=True
    )
    assert state(hass, sensor) == "2026-12-01T18:00:00+00:00"
    await act(hass, "cron_remove", job_id=added["job_id"])
    await hass.async_block_till_done()
    assert hass.states.get(switch) is None
    assert er.async_get(hass).async_get(sensor) is None


async def test_a_job_written_by_hand_is_seen(
    hass: HomeAssistant, house: ChatHouse, freezer: FrozenDateTimeFactory
) -> None:
    await house.add_assistant()
    raw = {"name": "by hand", "kind": "every", "interval_s": 3600, "message": "m"}
    (house.workspace / "cron.json").write_text(json.dumps({"jobs": [raw]}))
    await at(hass, freezer, NOON + timedelta(seconds=31))
    await until(lambda: hass.states.get("switch.mimiclaw_job_by_hand"))
    assert len(jobs(house)[0]["id"]) == 8


async def test_a_broken_file_is_a_repair_and_stays(
    hass: HomeAssistant, house: ChatHouse, freezer: FrozenDateTimeFactory
) -> None:
    await house.add_assistant()
    path = house.workspace / "cron.json"
    path.write_text('{"jobs": [')
    await at(hass, freezer, NOON + timedelta(seconds=31))
    issues = ir.async_get(hass)
    await until(lambda: issues.async_get_issue("mimiclaw", "schedule_broken"))
    assert path.read_text() == '{"jobs": ['
    with pytest.raises(ServiceValidationError):
        await act(hass, "cron_add", name="x", interval_s=600, message="m")
    path.write_text('{"jobs": []}')
    await at(hass, freezer, NOON + timedelta(seconds=62))
    await until(lambda: not issues.async_get_issue("mimiclaw", "schedule_broken"))


async def test_three_failures_are_a_repair_and_the_reminder_came_each_time(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(
        answer=lambda _b: Reply(status=401, error=("authentication_error", "no"))
    )
    await house.add_assistant(anthropic(server))
    await act(
        hass,
        "cron_add",
        name="pills",
        interval_s=3600,
        message="Take the pills",
        to="telegram:111",
    )
    issues = ir.async_get(hass)
    for number in (1, 2, 3):
        await at(hass, freezer, NOON + timedelta(hours=number))
        sent = await api.until_sent(ANNA.id, number)
        assert "Take the pills" in sent[-1].text
        await until(partial(_failed, house, number))
    job_id = jobs(house)[0]["id"]
    issue_id = f"schedule_job_paused_{job_id}"
    await until(lambda: issues.async_get_issue("mimiclaw", issue_id))
    assert state(hass, "switch.mimiclaw_job_pills") == "off"
    await hass.services.async_call(
        "switch", "turn_on", {"entity_id": "switch.mimiclaw_job_pills"}, blocking=True
    )
    assert issues.async_get_issue("mimiclaw", issue_id) is None


async def test_jobs_of_a_person_are_not_listed_to_others(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve(
        Reply(calls=(Call("cron_list", {}, "one"),)), Reply(text="None.")
    )
    await house.add_assistant(anthropic(server))
    await act(
        hass,
        "cron_add",
        name="doctor",
        interval_s=6000,
        message="secret",
        person="person.anna",
    )
    await act(hass, "cron_add", name="bins", interval_s=6000, message="Bins out")
    from tests.channels.house import BEN

    await api.say("what is scheduled?", BEN)
    await api.until_sent(BEN.id)
    listed = str(server.asked[1]["messages"][-1])
    assert "bins" in listed
    assert "doctor" not in listed


async def test_missed_over_a_restart(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(answer=lambda _b: Reply(text="Reminder."))
    await house.add_assistant(anthropic(server))
    await act(hass, "cron_add", name="once", at="12:30", message="m", to="telegram:111")
    assert await hass.config_entries.async_unload(house.entry.entry_id)
    freezer.move_to(NOON + timedelta(hours=2))
    assert await hass.config_entries.async_setup(house.entry.entry_id)
    await api.until_sent(ANNA.id)
    assert "made up for" in str(server.asked[0]["messages"][-1])
    await until(lambda: jobs(house) == [])
    await house.restart_assistant()
    await hass.async_block_till_done()
    assert len(api.sent(ANNA.id)) == 1


@pytest.mark.parametrize(
    ("day", "local"),
    [
        (datetime(2027, 3, 28, tzinfo=BERLIN), "03:00 CEST"),
        (datetime(2026, 10, 25, tzinfo=BERLIN), "02:30 CEST"),
    ],
)
async def test_over_the_clock_change(
    hass: HomeAssistant,
    house: ChatHouse,
    freezer: FrozenDateTimeFactory,
    day: datetime,
    local: str,
) -> None:
    freezer.move_to(day)
    await house.add_assistant()
    await act(
        hass, "cron_add", name="night", expr="30 2 * * *", relay="none", message="m"
    )
    scheduler = house.entry.runtime_data.schedule.scheduler
    for minutes in range(0, 6 * 60, 10):
        await at(hass, freezer, dt_util.as_utc(day) + timedelta(minutes=minutes))
        await scheduler.idle()
    assert scheduler.counts["run"] == 1
    last = jobs(house)[0]["last_run"]
    assert f"{datetime.fromtimestamp(last, BERLIN):%H:%M %Z}" == local


async def test_bad_requests_are_refused_in_a_sentence(
    hass: HomeAssistant, house: ChatHouse
) -> None:
    await house.add_assistant()
    for data in (
        {"name": "x", "message": "m"},
        {"name": "x", "message": "m", "expr": "nonsense"},
        {"name": "x", "message": "m", "at": "2020-01-01T10:00"},
        {"name": "x", "interval_s": 600},
    ):
        with pytest.raises(ServiceValidationError):
            await act(hass, "cron_add", **data)
    assert jobs(house) == []
