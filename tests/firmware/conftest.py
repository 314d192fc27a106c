"""Twins for the firmware's tests: built once, started fresh for each test that wants one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
import json
from pathlib import Path
from typing import Any

from aioesphomeapi import APIClient, HomeassistantServiceCall, UserService
import pytest
import pytest_socket

from scripts.house.twin import Twin, build_twin

NODES = Path(__file__).parent / "nodes"
ANSWER_TIMEOUT_S = 20.0


class Client:
    """An API client of a twin, as an integration would be one."""

    def __init__(self, twin: Twin) -> None:
        self.twin = twin
        self.api = APIClient(twin.host, twin.port, "")
        self.actions: dict[str, UserService] = {}
        self.events: list[dict[str, str]] = []
        self.states: dict[int, Any] = {}
        self._history: list[tuple[int, Any]] = []
        self.keys: dict[str, int] = {}

    async def connect(self) -> Client:
        await self.api.connect(login=True)
        entities, actions = await self.api.list_entities_services()
        self.actions = {action.name: action for action in actions}
        self.keys = {entity.object_id: entity.key for entity in entities}
        self.api.subscribe_states(self._on_state)
        self.api.subscribe_service_calls(self._on_event)
        return self

    def _on_state(self, state: Any) -> None:
        self.states[state.key] = state
        self._history.append((state.key, getattr(state, "state", None)))

    def _on_event(self, call: HomeassistantServiceCall) -> None:
        if call.is_event and call.service == "esphome.mimiclaw_event":
            self.events.append(dict(call.data))

    def state(self, object_id: str) -> Any:
        return self.states.get(self.keys[object_id])

    def history(self, object_id: str) -> list[Any]:
        """Every state of the entity so far, the first one included."""
        return [state for key, state in self._history if key == self.keys[object_id]]

    async def action(self, name: str, **data: Any) -> dict[str, Any]:
        answer = await self.api.execute_service(
            self.actions[name], data, return_response=True, timeout=ANSWER_TIMEOUT_S
        )
        assert answer is not None
        assert answer.success
        result: dict[str, Any] = json.loads(answer.response_data)
        return result

    async def write(
        self, channel: str, state: str, duration_ms: int = 0, actor: str = "fast_path"
    ) -> dict[str, Any]:
        return await self.action(
            "mimiclaw_write",
            channel=channel,
            state=state,
            duration_ms=duration_ms,
            actor=actor,
        )

    async def read(self, channel: str) -> dict[str, Any]:
        return await self.action("mimiclaw_read", channel=channel)

    async def close(self) -> None:
        await self.api.disconnect(force=True)


@pytest.fixture
def loopback(socket_enabled: None) -> None:
    """Loopback and the twin's control socket, which is a unix socket, and nothing else."""
    pytest_socket.socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)


@pytest.fixture(scope="session")
def policy_program() -> Path:
    return build_twin(NODES / "policy.yaml", log=lambda _: None)


@pytest.fixture
def twin(twin_program: Path, loopback: None) -> Iterator[Twin]:
    with Twin(twin_program) as running:
        yield running


@pytest.fixture
def policy_twin(policy_program: Path, loopback: None) -> Iterator[Twin]:
    with Twin(policy_program) as running:
        yield running


@pytest.fixture
async def client(twin: Twin) -> AsyncIterator[Client]:
    connected = await Client(twin).connect()
    yield connected
    await connected.close()


@pytest.fixture
async def policy(policy_twin: Twin) -> AsyncIterator[Client]:
    connected = await Client(policy_twin).connect()
    yield connected
    await connected.close()
