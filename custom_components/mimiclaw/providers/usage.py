"""What was spent: tokens and money by turn, by day and by person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .protocol import Usage

#: Days kept: a month and what is needed to compare it.
_DAYS_KEPT: Final = 62

#: Who a turn without a known speaker is booked to.
HOUSEHOLD: Final = "household"


@dataclass(slots=True)
class Spent:
    """A sum of tokens and US dollars.

    `unpriced` counts requests whose tokens are in here and whose money is not, because
    nobody knows the model's price.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    money: float = 0.0
    unpriced: int = 0

    def add(self, usage: Usage, cost: float | None) -> None:
        """Add one request."""
        self.requests += 1
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cache_read_tokens += usage.cache_read_tokens
        self.cache_write_tokens += usage.cache_write_tokens
        if cost is None:
            self.unpriced += 1
        else:
            self.money += cost

    def merge(self, other: Spent) -> None:
        """Add another sum."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def prompt_tokens(self) -> int:
        """All tokens that went in, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spent:
        """Return what `as_dict` gave; what is not a figure counts as none."""
        spent = cls()
        for name in cls.__slots__:
            value = data.get(name, 0)
            if isinstance(value, int | float) and value >= 0:
                setattr(spent, name, type(getattr(spent, name))(value))
        return spent


@dataclass(slots=True)
class _Day:
    """One day's sum and each person's share of it."""

    total: Spent = field(default_factory=Spent)
    people: dict[str, Spent] = field(default_factory=dict)


class Ledger:
    """The household's books.

    Days are the home's: the caller knows the time zone. `budget` is US dollars a day,
    None for no limit.
    """

    def __init__(self, budget: float | None = None) -> None:
        self.budget = budget
        self._days: dict[date, _Day] = {}
        self._last = Spent()

    def book(self, turn: Spent, person: str | None, day: date) -> None:
        """Enter one turn."""
        entry = self._days.setdefault(day, _Day())
        entry.total.merge(turn)
        entry.people.setdefault(person or HOUSEHOLD, Spent()).merge(turn)
        self._last = turn
        for old in [known for known in self._days if known <= day - _KEPT]:
            del self._days[old]

    @property
    def last_turn(self) -> Spent:
        """What the last turn cost."""
        return self._last

    def on(self, day: date, person: str | None = None) -> Spent:
        """Return the sum of a day, or one person's share of it."""
        entry = self._days.get(day)
        if entry is None:
            return Spent()
        if person is None:
            return entry.total
        return entry.people.get(person, Spent())

    def people(self, day: date) -> dict[str, Spent]:
        """Return everybody's share of a day."""
        entry = self._days.get(day)
        return dict(entry.people) if entry is not None else {}

    def month(self, day: date) -> Spent:
        """Return the sum of the calendar month of `day`, up to what is kept."""
        total = Spent()
        for known, entry in self._days.items():
            if (known.year, known.month) == (day.year, day.month):
                total.merge(entry.total)
        return total

    def exhausted(self, day: date) -> bool:
        """Return whether the day's budget is spent."""
        return self.budget is not None and self.on(day).money >= self.budget

    def as_dict(self) -> dict[str, Any]:
        """Return the books as JSON has them."""
        return {
            "days": {
                day.isoformat(): {
                    "total": entry.total.as_dict(),
                    "people": {
                        person: spent.as_dict()
                        for person, spent in entry.people.items()
                    },
                }
                for day, entry in sorted(self._days.items())
            }
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take up the books `as_dict` gave; pages that cannot be read are left out."""
        days = data.get("days")
        if not isinstance(days, Mapping):
            return
        for name, page in days.items():
            try:
                day = date.fromisoformat(name)
                entry = _Day(
                    Spent.from_dict(page["total"]),
                    {str(p): Spent.from_dict(s) for p, s in page["people"].items()},
                )
            except AttributeError, KeyError, TypeError, ValueError:
                continue
            self._days[day] = entry


_KEPT: Final = timedelta(days=_DAYS_KEPT)
