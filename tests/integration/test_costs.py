"""The bill is known before it comes."""

from __future__ import annotations

from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest

from tests.providers.wire.reply import Reply

from .conftest import Say, Serve, SetUp, anthropic, speech


def figure(hass: HomeAssistant, name: str) -> float:
    state = hass.states.get(f"sensor.mimiclaw_{name}")
    assert state is not None
    return float(state.state)


async def test_tokens_are_counted_and_unknown_models_without_money(
    hass: HomeAssistant,
    say: Say,
    serve: Serve,
    set_up: SetUp,
    turns: list[dict[str, Any]],
) -> None:
    server = await serve(Reply(text="One.", output_tokens=7), Reply(text="Two."))
    entry = await set_up(anthropic(server))
    await say("hello")
    await hass.async_block_till_done()
    assert figure(hass, "output_tokens_today") == 7
    assert figure(hass, "input_tokens_today") > 0
    assert figure(hass, "cost_today") == 0
    assert turns[0]["cost_usd"] is None
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    assert figure(hass, "output_tokens_today") == 7


async def test_a_person_has_a_share(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(answer=lambda _body: Reply(text="One."))
    await set_up(anthropic(server))
    await say("hello")
    await hass.async_block_till_done()
    assert hass.states.get("sensor.mimiclaw_cost_today_of_household")


async def test_a_spent_budget_is_a_sentence_and_no_request(
    hass: HomeAssistant, say: Say, serve: Serve, set_up: SetUp
) -> None:
    server = await serve(answer=lambda _body: Reply(text="One."))
    await set_up(anthropic(server), options={"daily_budget": 0.0})
    assert "budget of 0.00 dollars is spent" in speech(await say("hello"))
    assert not server.asked


@pytest.mark.usefixtures("freezer")
async def test_a_new_day_is_a_new_page(
    hass: HomeAssistant,
    say: Say,
    serve: Serve,
    set_up: SetUp,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(answer=lambda _body: Reply(text="One.", output_tokens=7))
    entry = await set_up(anthropic(server))
    await say("hello")
    assert entry.runtime_data.costs.today().output_tokens == 7
    freezer.tick(86400)
    assert entry.runtime_data.costs.today().output_tokens == 0
