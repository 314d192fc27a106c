"""What the assistant spends: booked by turn, day and person, kept over restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.helpers.event import async_track_time_change
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util

from .const import DOMAIN
from .providers.prices import PriceTable, load_prices
from .providers.usage import Ledger, Spent

if TYPE_CHECKING:
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .agent.trace import Trace
    from .providers.failover import ProviderChain

_STORE_VERSION: Final = 1
#: A crash loses at most this much of the books; they are written at once at a stop.
_SAVE_DELAY_S: Final = 30

type Listener = Callable[[], None]


class Costs:
    """Keeps the books and watches the daily budget."""

    def __init__(
        self, hass: HomeAssistant, providers: ProviderChain, budget: float | None
    ) -> None:
        """`budget` is in US dollars a day, None for no limit."""
        self._hass = hass
        self._providers = providers
        self._ledger = Ledger(budget)
        self._prices = PriceTable({})
        self._listeners: set[Listener] = set()
        self._unsubscribe: CALLBACK_TYPE | None = None
        self._store: Store[dict[str, Any]] = Store(
            hass, _STORE_VERSION, f"{DOMAIN}.costs"
        )

    async def async_load(self) -> None:
        """Read the price table and the books."""
        self._prices = await asyncio.to_thread(load_prices)
        if known := await self._store.async_load():
            self._ledger.restore(known)

    async def async_start(self) -> None:
        """Begin a new page at midnight."""
        self._unsubscribe = async_track_time_change(
            self._hass, self._midnight, hour=0, minute=0, second=0
        )

    async def async_stop(self) -> None:
        """Write the books down."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        await self._store.async_save(self._ledger.as_dict())

    @property
    def exhausted(self) -> bool:
        """Tell whether today's budget is spent."""
        return self._ledger.exhausted(_today())

    @property
    def budget(self) -> float | None:
        """Return the daily budget in US dollars."""
        return self._ledger.budget

    def today(self, person: str | None = None) -> Spent:
        """Return today's sum, or one person's share ("household" for nobody's)."""
        return self._ledger.on(_today(), person)

    def people(self) -> list[str]:
        """Return who has spent something today."""
        return sorted(self._ledger.people(_today()))

    @property
    def last_turn(self) -> Spent:
        """Return what the last turn cost."""
        return self._ledger.last_turn

    def book(self, trace: Trace, person: str | None) -> float | None:
        """Enter a turn; return its US dollars, None where no price is known."""
        spent = Spent()
        for request in trace.requests:
            config = self._providers.config_of(request.provider)
            cost = self._prices.cost(config, request.model, request.usage)
            spent.add(request.usage, cost)
        if not spent.requests:
            return 0.0
        self._ledger.book(spent, person, _today())
        self._store.async_delay_save(self._ledger.as_dict, _SAVE_DELAY_S)
        self._tell()
        return None if spent.unpriced else spent.money

    @callback
    def async_add_listener(self, listener: Listener) -> CALLBACK_TYPE:
        """Call when something was booked, and at midnight."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def _midnight(self, _now: object) -> None:
        self._tell()

    @callback
    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()


def _today() -> date:
    return dt_util.now().date()
