"""The price table: what a request costs, where the model is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .protocol import ProviderConfig, Usage

_TABLE: Final = Path(__file__).with_name("prices.yaml")
_MILLION: Final = 1_000_000

#: What stands behind a model's name and does not change its price.
_EDITION: Final = re.compile(r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$")

#: Whose price list counts for an address; a model elsewhere is nobody's to price.
_SELLERS: Final = {"anthropic.com": "anthropic", "openai.com": "openai"}


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for a million tokens of each sort."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def cost(self, usage: Usage) -> float:
        """Return US dollars."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        ) / _MILLION


@dataclass(frozen=True, slots=True)
class Price:
    """What one family of models costs, and above `over` prompt tokens."""

    rates: Rates
    over: int | None = None
    long: Rates | None = None


class PriceTable:
    """Prices by seller and model."""

    def __init__(self, prices: Mapping[str, Mapping[str, Price]]) -> None:
        self._prices = prices

    def cost(self, config: ProviderConfig, model: str, usage: Usage) -> float | None:
        """Return US dollars for one request, None where the price is not known.

        `model` is who answered. A server at an address of its own, and `offline`, have
        no price.
        """
        price = self._find(_seller(config), model)
        if price is None:
            return None
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        if price.long is not None and price.over is not None and prompt > price.over:
            return price.long.cost(usage)
        return price.rates.cost(usage)

    def _find(self, seller: str | None, model: str) -> Price | None:
        prices = self._prices.get(seller or "", {})
        return prices.get(_EDITION.sub("", model))


def _seller(config: ProviderConfig) -> str | None:
    if config.kind == "offline":
        return None
    if not config.base_url:
        return config.kind
    host = urlsplit(config.base_url).hostname or ""
    return _SELLERS.get(".".join(host.split(".")[-2:]))


@cache
def load_prices() -> PriceTable:
    """Return the table. Reads a file the first time: not for the event loop."""
    data = yaml.safe_load(_TABLE.read_text("utf-8"))
    return PriceTable(
        {
            seller: {row["model"]: _price(row) for row in rows}
            for seller, rows in data.items()
        }
    )


def _price(row: Mapping[str, Any]) -> Price:
    long = row.get("long")
    if long is None:
        return Price(_rates(row))
    return Price(_rates(row), int(long["over"]), _rates(long))


def _rates(row: Mapping[str, Any]) -> Rates:
    plain = float(row["input"])
    return Rates(
        plain,
        float(row["output"]),
        float(row.get("cache_read", plain)),
        float(row.get("cache_write", plain)),
    )
