"""The options: who is behind a chat, and when the assistant speaks by itself."""

from __future__ import annotations

from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType

from .bot_api import BotApi
from .house import ANNA, GROUP, ChatHouse


async def test_people_are_named_and_may_talk_at_once(
    hass: HomeAssistant, house: ChatHouse, api: BotApi
) -> None:
    await house.add_assistant(options={"telegram_people": {"999": "household"}})
    await api.say("/help", ANNA)
    flows = hass.config_entries.options
    menu = await flows.async_init(house.entry.entry_id)
    assert menu["type"] is FlowResultType.MENU
    form = await flows.async_configure(menu["flow_id"], {"next_step_id": "telegram"})
    assert form["step_id"] == "people"
    schema = form["data_schema"]
    assert schema is not None
    labels = [str(key) for key in schema.schema]
    mine = next(one for one in labels if "(111)" in one)
    group = next(one for one in labels if f"({GROUP})" in one)
    done = await flows.async_configure(
        form["flow_id"],
        dict.fromkeys(labels, "nobody") | {mine: "person.anna", group: "household"},
    )
    assert done["type"] is FlowResultType.CREATE_ENTRY
    await hass.async_block_till_done()
    # A chat of another bot keeps its name.
    assert house.entry.options["telegram_people"] == {
        "999": "household",
        "111": "person.anna",
        str(GROUP): "household",
    }
    assert api.sent(ANNA.id) == []
    await api.say("/help", ANNA)
    await api.until_sent(ANNA.id)


async def test_speaking_by_itself(hass: HomeAssistant, house: ChatHouse) -> None:
    await house.add_assistant(options={"telegram_people": {"111": "person.anna"}})
    flows = hass.config_entries.options
    menu = await flows.async_init(house.entry.entry_id)
    form = await flows.async_configure(menu["flow_id"], {"next_step_id": "proactive"})
    done = await flows.async_configure(
        form["flow_id"],
        {
            "heartbeat_minutes": 60,
            "quiet_from": "22:00:00",
            "quiet_until": "07:00:00",
            "deliver_to": "telegram:111",
        },
    )
    assert done["type"] is FlowResultType.CREATE_ENTRY
    assert house.entry.options["deliver_to"] == "telegram:111"
    assert house.entry.options["telegram_people"] == {"111": "person.anna"}


async def test_without_a_bot_it_says_so(hass: HomeAssistant, house: ChatHouse) -> None:
    await house.add_assistant()
    await hass.config_entries.async_remove(house.bot.entry_id)
    flows = hass.config_entries.options
    menu = await flows.async_init(house.entry.entry_id)
    form = await flows.async_configure(menu["flow_id"], {"next_step_id": "telegram"})
    assert (form["type"], form["reason"]) == (FlowResultType.ABORT, "no_telegram_bot")
