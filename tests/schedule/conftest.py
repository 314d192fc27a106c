"""The house with Telegram on loopback serves the schedule's tests too, in its own time."""

from __future__ import annotations

from collections.abc import Iterator
import time

import anthropic
from freezegun import api as freezegun_api
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory
from pydantic import BaseModel
import pytest

from tests.channels.conftest import api, house, serve, turns

__all__ = ["api", "freezer", "house", "serve", "turns"]


@pytest.fixture(scope="session")
def models_built() -> None:
    """Let the SDK's models be built while a datetime is still a datetime.

    They are built at their first use otherwise, and pydantic knows no frozen clock.
    """
    for one in vars(anthropic.types).values():
        if isinstance(one, type) and issubclass(one, BaseModel):
            one.model_rebuild()


@pytest.fixture
def freezer(
    models_built: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FrozenDateTimeFactory]:
    """Stop the clock on the wall, and not the one that sockets and deadlines run by."""
    with freeze_time("2026-12-01 11:00:00") as frozen:
        monkeypatch.setattr(time, "monotonic", freezegun_api.real_monotonic)
        monkeypatch.setattr(time, "perf_counter", freezegun_api.real_perf_counter)
        assert isinstance(frozen, FrozenDateTimeFactory)
        yield frozen
        monkeypatch.undo()
