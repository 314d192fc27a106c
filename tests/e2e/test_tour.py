"""The tour on a real Home Assistant process and a real satellite twin.

On the release the test plugin brings and on the newest one, which users already run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts

from scripts.house import tour
from scripts.house.demo_house import open_house

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("environment", [".venv", ".venv-newest"])
@pytest.mark.usefixtures("socket_enabled")
async def test_tour(environment: str, tmp_path: Path) -> None:
    # The twin's control socket is a file.
    socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)
    async with open_house(tmp_path, ROOT / environment, variables={}) as house:
        steps = await tour.play(house)
        log = house.home.log_file.read_text(encoding="utf-8")
    assert len(steps) == len(tour.STEPS)
    ours = [
        line
        for line in log.splitlines()
        if "mimiclaw" in line and (" ERROR " in line or "Detected" in line)
    ]
    assert not ours
