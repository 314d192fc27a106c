"""Tokens and money, by turn, day and person."""

from __future__ import annotations

from datetime import date, timedelta
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from custom_components.mimiclaw.providers import prices
from custom_components.mimiclaw.providers.factory import DEFAULT_MODELS
from custom_components.mimiclaw.providers.prices import load_prices
from custom_components.mimiclaw.providers.protocol import ProviderConfig, Usage
from custom_components.mimiclaw.providers.usage import HOUSEHOLD, Ledger, Spent

DAY = date(2026, 12, 1)
CLAUDE = ProviderConfig("anthropic", "Claude", "claude-haiku-5-5")
GPT = ProviderConfig("openai", "GPT", "gpt-6-sol")


def spent(money: float | None = 0.5, tokens: int = 10) -> Spent:
    one = Spent()
    one.add(Usage(tokens, 2 * tokens, 3 * tokens, 4 * tokens), money)
    return one


def test_what_a_request_costs() -> None:
    usage = Usage(
        input_tokens=10_000, output_tokens=2_000, cache_read_tokens=50_000,
        cache_write_tokens=8_000,
    )  # fmt: skip
    cost = load_prices().cost(GPT, "gpt-6-sol", usage)
    # 0.02 in, 0.02 out, 0.01 from the cache, 0.02 into it.
    assert cost == pytest.approx(0.07)


def test_long_prompts_cost_more() -> None:
    prices = load_prices()
    short = prices.cost(CLAUDE, "claude-haiku-5-5", Usage(60_000, 0, 40_000, 0))
    long = prices.cost(CLAUDE, "claude-haiku-5-5", Usage(60_000, 0, 40_001, 0))
    assert short == pytest.approx(0.0064)
    assert long == pytest.approx(0.032, rel=1e-3)


@pytest.mark.parametrize(
    "model",
    ["claude-haiku-5-5", "claude-haiku-5-5-20261007", "claude-haiku-5-5-latest"],
)
def test_editions_of_a_model(model: str) -> None:
    cost = load_prices().cost(CLAUDE, model, Usage(1_000, 1_000, 0, 0))
    assert cost == pytest.approx(0.0006)


@pytest.mark.parametrize(
    ("config", "model"),
    [
        (CLAUDE, "claude-haiku-9"),
        (CLAUDE, "claude-haiku-5-5-mini"),
        (GPT, "claude-haiku-5-5"),
        (
            ProviderConfig("openai", "Ollama", "gpt-6-sol", base_url="http://a/v1"),
            "gpt-6-sol",
        ),
        (ProviderConfig("offline", "Offline"), ""),
    ],
)
def test_models_without_a_price(config: ProviderConfig, model: str) -> None:
    assert load_prices().cost(config, model, Usage(1, 1, 1, 1)) is None


def test_an_address_of_the_sellers_own_has_its_prices() -> None:
    config = ProviderConfig("openai", "EU", base_url="https://eu.api.openai.com/v1")
    assert load_prices().cost(config, "gpt-6-sol", Usage(1_000_000)) == pytest.approx(
        4.0
    )


def test_unknown_models_count_without_money() -> None:
    ledger = Ledger()
    ledger.book(spent(None), "anna", DAY)
    ledger.book(spent(0.25), "anna", DAY)
    total = ledger.on(DAY)
    assert (total.requests, total.unpriced, total.money) == (2, 1, 0.25)
    assert (total.input_tokens, total.output_tokens, total.prompt_tokens) == (
        20,
        40,
        160,
    )


def test_by_day_and_person() -> None:
    ledger = Ledger()
    ledger.book(spent(1.0), "anna", DAY)
    ledger.book(spent(2.0), "ben", DAY)
    ledger.book(spent(4.0), None, DAY)
    ledger.book(spent(8.0), "anna", DAY + timedelta(days=1))
    assert ledger.on(DAY).money == 7.0
    assert ledger.on(DAY, "anna").money == 1.0
    assert ledger.on(DAY, "nobody").money == 0.0
    assert {who: one.money for who, one in ledger.people(DAY).items()} == {
        "anna": 1.0, "ben": 2.0, HOUSEHOLD: 4.0,
    }  # fmt: skip
    assert ledger.last_turn.money == 8.0
    assert ledger.month(DAY).money == 15.0
    assert ledger.month(date(2026, 11, 30)).money == 0.0


def test_the_budget_is_a_days() -> None:
    ledger = Ledger(budget=1.0)
    assert not ledger.exhausted(DAY)
    ledger.book(spent(0.6), None, DAY)
    assert not ledger.exhausted(DAY)
    ledger.book(spent(0.4), "anna", DAY)
    assert ledger.exhausted(DAY)
    assert not ledger.exhausted(DAY + timedelta(days=1))
    ledger.budget = None
    assert not ledger.exhausted(DAY)


def test_the_books_survive_a_restart() -> None:
    ledger = Ledger()
    ledger.book(spent(0.5), "anna", DAY)
    ledger.book(spent(None), None, DAY)
    again = Ledger()
    again.restore(json.loads(json.dumps(ledger.as_dict())))
    assert again.as_dict() == ledger.as_dict()
    assert again.on(DAY, "anna") == ledger.on(DAY, "anna")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"days": 3},
        {"days": {"yesterday": {}}},
        {"days": {"2026-12-01": None}},
        {"days": {"2026-12-01": {"total": [], "people": {}}}},
        {"days": {"2026-12-01": {"total": {}, "people": {"anna": 7}}}},
    ],
)
def test_torn_pages_are_left_out(data: dict[str, Any]) -> None:
    ledger = Ledger()
    ledger.restore(data)
    assert ledger.on(DAY) == Spent()


def test_figures_that_are_none() -> None:
    assert Spent.from_dict(
        {"money": "1", "requests": -3, "input_tokens": 5.0}
    ) == Spent(input_tokens=5)


def test_old_pages_are_thrown_away() -> None:
    ledger = Ledger()
    for number in range(100):
        ledger.book(spent(1.0), None, DAY + timedelta(days=number))
    assert len(ledger.as_dict()["days"]) == 62
    assert ledger.on(DAY).money == 0.0


def test_every_row_of_the_table_is_used() -> None:
    """A row that no name reaches, or that makes caching dearer than not, is a slip."""
    text = (Path(prices.__file__).parent / "prices.yaml").read_text("utf-8")
    data = yaml.safe_load(text)
    table = load_prices()
    for seller, rows in data.items():
        names = [row["model"] for row in rows]
        assert len(set(names)) == len(names)
        for row in rows:
            config = ProviderConfig(seller, "x", row["model"])
            million = Usage(1_000_000)
            rates = row.get("long", row)
            assert table.cost(config, row["model"], million) == rates["input"]
            assert rates["cache_read"] < rates["input"] < rates["output"]


def test_defaults_have_a_price() -> None:
    for seller, model in DEFAULT_MODELS.items():
        config = ProviderConfig(seller, "x")  # type: ignore[arg-type]
        assert load_prices().cost(config, model, Usage(1)) is not None
