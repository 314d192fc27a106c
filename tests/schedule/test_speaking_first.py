"""Speaking first: notify, questions, events, and where answers go."""

from __future__ import annotations

from datetime import datetime, timedelta
import json
from typing import Any
from zoneinfo import ZoneInfo

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import persistent_notification
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
import pytest
from pytest_homeassistant_custom_component.common import (
    async_fire_time_changed,
    async_mock_service,
)

from tests.channels.bot_api import BotApi
from tests.channels.conftest import Serve
from tests.channels.house import ANNA, ChatHouse, until
from tests.integration.conftest import anthropic
from tests.providers.wire.reply import Reply

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


async def test_answers_go_to_notify_satellites_and_notifications(
    hass: HomeAssistant, house: ChatHouse, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    notify = async_mock_service(hass, "notify", "send_message")
    announce = async_mock_service(hass, "assist_satellite", "announce")
    hass.states.async_set("notify.phone", "unknown")
    hass.states.async_set("assist_satellite.kitchen", "idle")
    server = await serve(answer=lambda _b: Reply(text="It is **noon**."))
    await house.add_assistant(anthropic(server))
    for to in ("notify.phone", "assist_satellite.kitchen", "persistent_notification"):
        await act(hass, "cron_add", name=to, at="12:30", message="m", to=to)
    await at(hass, freezer, NOON + timedelta(minutes=30))
    await until(lambda: notify and announce and jobs(house) == [])
    assert notify[0].data["message"] == "It is noon."
    assert announce[0].data["message"] == "It is noon."
    notes = persistent_notification._async_get_or_create_notifications(hass)
    assert "It is **noon**." in [one["message"] for one in notes.values()]


async def test_what_reaches_nobody_stands_in_a_notification(
    hass: HomeAssistant, house: ChatHouse
) -> None:
    await house.add_assistant()
    with pytest.raises(HomeAssistantError):
        await act(hass, "notify", message="hello", to="notify.gone")
    notes = persistent_notification._async_get_or_create_notifications(hass)
    assert "hello" in [one["message"] for one in notes.values()]


async def test_notify_reaches_a_person_without_a_model(
    hass: HomeAssistant, house: ChatHouse, api: BotApi, serve: Serve
) -> None:
    server = await serve()
    await house.add_assistant(anthropic(server))
    await act(
        hass,
        "notify",
        message="The *washing* machine_is done",
        title="Laundry",
        person="person.anna",
    )
    [sent] = await api.until_sent(ANNA.id)
    assert sent.text == "Laundry\n\nThe washing machine_is done"
    assert server.asked == []
    with pytest.raises(ServiceValidationError):
        await act(hass, "notify", message="x", to="carrier pigeon")


async def test_a_question_comes_back_to_the_automation(
    hass: HomeAssistant, house: ChatHouse, api: BotApi
) -> None:
    await house.add_assistant()

    async def ask(**more: Any) -> Any:
        return await act(
            hass, "ask_person", question="Water?", person="person.anna", **more
        )

    asking = hass.async_create_task(ask(answers=["Yes", "No"]))
    [sent] = await api.until_sent(ANNA.id)
    query = await api.press(ANNA, sent, "No")
    assert await asking == {"answered": True, "answer": "No", "index": 1}
    await api.until(lambda: query in api.state.answers and sent.edits)
    assert sent.buttons == []
    assert "No" in sent.text
    old = await api.press(ANNA, api.sent(ANNA.id)[0], "Yes") if sent.buttons else None
    assert old is None
    asking = hass.async_create_task(ask(answers=["Yes", "No"]))
    await api.until_sent(ANNA.id, 2)
    await api.say("yes", ANNA)
    assert (await asking)["answer"] == "Yes"
    asking = hass.async_create_task(ask())
    await api.until_sent(ANNA.id, 3)
    await api.say("only the tomatoes", ANNA)
    assert await asking == {
        "answered": True,
        "answer": "only the tomatoes",
        "index": None,
    }
    await house.telegram.idle()
    assert len(api.sent(ANNA.id)) == 3


async def test_a_question_nobody_answers_ends(
    hass: HomeAssistant, house: ChatHouse, api: BotApi
) -> None:
    await house.add_assistant()
    given = await act(
        hass,
        "ask_person",
        question="Water?",
        answers=["Yes"],
        person="person.anna",
        timeout={"seconds": 1},
    )
    assert given == {"answered": False, "answer": None, "index": None}
    [sent] = api.sent(ANNA.id)
    await api.until(lambda: sent.edits)
    assert sent.buttons == []


@pytest.mark.parametrize(
    ("text", "spoke"), [("HEARTBEAT_OK", False), ("The cellar is wet!", True)]
)
async def test_an_event_is_considered(
    hass: HomeAssistant,
    house: ChatHouse,
    api: BotApi,
    serve: Serve,
    text: str,
    spoke: bool,
) -> None:
    server = await serve(Reply(text=text))
    await house.add_assistant(anthropic(server))
    given = await act(
        hass,
        "consider",
        event="Humidity in the cellar rose",
        data={"humidity": 81},
        person="person.anna",
    )
    assert given["spoke"] is spoke
    assert [one.text for one in api.sent(ANNA.id)] == ([text] if spoke else [])
    assert "81" in str(server.asked[0]["messages"])


async def test_the_alarm_of_home_assistant_rings(
    hass: HomeAssistant, house: ChatHouse, freezer: FrozenDateTimeFactory
) -> None:
    await house.add_assistant()
    await act(hass, "cron_add", name="soon", interval_s=600, relay="none", message="m")
    scheduler = house.entry.runtime_data.schedule.scheduler
    when = NOON + timedelta(minutes=10)
    freezer.move_to(when)
    # The event loop's clock was not moved: its timers are ten minutes behind.
    async_fire_time_changed(hass, when + timedelta(minutes=10))
    await until(lambda: scheduler.counts["run"] == 1)
