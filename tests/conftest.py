"""What several rooms' tests share. Nothing here needs Home Assistant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from scripts.house.twin import Twin, build_twin

type MakeTwin = Callable[..., Twin]

NODES = Path(__file__).parent / "satellite" / "nodes"


@pytest.fixture(scope="session")
def twin_program() -> Path:
    """Build the satellite's twin once."""
    return build_twin()


@pytest.fixture
def make_twin(twin_program: Path, socket_enabled: None) -> Iterator[MakeTwin]:
    """Start twins; they end with the test. Takes what Twin takes."""
    # The twin's control socket is a file; Home Assistant's test plugin knows no such,
    # and only that plugin brings this package.
    from pytest_socket import socket_allow_hosts

    socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)
    with ExitStack() as running:

        def make(program: Path | None = None, **options: object) -> Twin:
            twin = Twin(program or twin_program, **options)  # type: ignore[arg-type]
            return running.enter_context(twin)

        yield make


@pytest.fixture
def twin(make_twin: MakeTwin) -> Twin:
    """Start one twin."""
    return make_twin()


@pytest.fixture(scope="session")
def reflashed_program() -> Path:
    """Build the firmware a twin may be flashed with instead of its own."""
    return build_twin(NODES / "reflashed.yaml")


@pytest.fixture(scope="session")
def stock_program() -> Path:
    """Build an ESPHome node that is no satellite."""
    return build_twin(NODES / "stock.yaml")
