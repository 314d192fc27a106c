"""A real Home Assistant process on loopback, driven as its frontend drives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
import itertools
import os
from pathlib import Path
import shutil
import socket
from typing import Any

import aiohttp

from .steps import StepFailed

HOST = "127.0.0.1"
USER = "mimi"
PASSWORD = "claw-of-the-house"
#: What `hass` ends with when it wants to be started again.
RESTART_EXIT_CODE = 100
#: The first start may install what components require.
START_S = 240
CALL_S = 60

CONFIGURATION = """\
# Made by scripts/demo. A real house keeps its own.
http:
  server_host: {host}
  server_port: {port}
homeassistant:
  name: Demo house
  country: DE
api:
automation: !include automations.yaml
backup:
config:
conversation:
frontend:
history:
logbook:
person:
assist_pipeline:
logger:
  default: warning
  logs:
    custom_components.mimiclaw: debug
"""


def free_port() -> int:
    """Return a TCP port on loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class HomeAssistant:
    """One `hass` process and a client that is logged in to it."""

    def __init__(
        self, environment: Path, folder: Path, port: int | None = None
    ) -> None:
        """Take the environment to run from and the configuration folder to run in."""
        self._environment = environment
        self.folder = folder
        self.port = port or free_port()
        self._process: asyncio.subprocess.Process | None = None
        self._session: aiohttp.ClientSession | None = None
        self._token = ""
        self._refresh_token = ""

    @property
    def address(self) -> str:
        """Return where a browser finds it."""
        return f"http://{HOST}:{self.port}"

    @property
    def log_file(self) -> Path:
        """Return the file that takes what the process prints."""
        return self.folder / "hass.log"

    def lay_down(self, install: Callable[[Path], object]) -> None:
        """Make a fresh configuration folder; `install` puts the component into it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        text = CONFIGURATION.format(host=HOST, port=self.port)
        (self.folder / "configuration.yaml").write_text(text, encoding="utf-8")
        (self.folder / "automations.yaml").write_text("[]\n", encoding="utf-8")
        install(self.folder)

    async def start(self) -> None:
        """Start the process and wait until its API answers. Raises StepFailed."""
        hass = self._environment / "bin" / "hass"
        with self.log_file.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                str(hass),
                "--config",
                str(self.folder),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=CALL_S)
            self._session = aiohttp.ClientSession(self.address, timeout=timeout)
        try:
            async with asyncio.timeout(START_S):
                while not await self._answers():
                    if self._process.returncode is not None:
                        raise StepFailed(f"hass ended early; see {self.log_file}")
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise StepFailed(f"hass did not answer; see {self.log_file}") from None

    async def _answers(self) -> bool:
        assert self._session is not None
        with suppress(aiohttp.ClientError, OSError):
            async with self._session.get("/api/onboarding") as response:
                if response.status in {200, 401, 404}:
                    return not self._token or await self._running()
        return False

    async def _running(self) -> bool:
        with suppress(aiohttp.ClientError, StepFailed, OSError):
            config = await self.get("/api/config")
            return bool(config["state"] == "RUNNING")
        return False

    async def stop(self) -> None:
        """Stop the process; kill it when it does not want to."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(30):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def restart(self) -> None:
        """Restart as a person does it from the settings."""
        assert self._process is not None
        with suppress(aiohttp.ClientError):
            await self.call("homeassistant", "restart")
        async with asyncio.timeout(60):
            code = await self._process.wait()
        if code != RESTART_EXIT_CODE:
            raise StepFailed(f"hass ended with {code} instead of restarting")
        await self.start()
        await self._refresh()

    async def kill(self) -> None:
        """End the process without a word, as a power cut does."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def onboard(self) -> None:
        """Make the owner's account and finish onboarding as the first page does."""
        client = f"{self.address}/"
        made = await self.post(
            "/api/onboarding/users",
            {
                "client_id": client,
                "name": "Mimi",
                "username": USER,
                "password": PASSWORD,
                "language": "en",
            },
        )
        await self._login(
            {"grant_type": "authorization_code", "code": made["auth_code"]}
        )
        # Before Home Assistant has started, automations do not listen; and the steps
        # that follow add integrations whose set-up would hold the start up.
        try:
            async with asyncio.timeout(START_S):
                while not await self._running():
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise StepFailed(
                f"hass did not finish starting; see {self.log_file}"
            ) from None
        await self.post("/api/onboarding/core_config", {})
        await self.post("/api/onboarding/analytics", {})
        await self.post(
            "/api/onboarding/integration",
            {"client_id": client, "redirect_uri": f"{client}?auth_callback=1"},
        )
        # A changed address is on trial until it is confirmed.
        await self.command("http/config/promote")

    async def _login(self, grant: dict[str, str]) -> None:
        assert self._session is not None
        data = {"client_id": f"{self.address}/", **grant}
        async with self._session.post("/auth/token", data=data) as response:
            tokens = await response.json()
        if "access_token" not in tokens:
            raise StepFailed(f"login was refused: {tokens}")
        self._token = tokens["access_token"]
        self._refresh_token = tokens.get("refresh_token", self._refresh_token)

    async def _refresh(self) -> None:
        refresh = {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        await self._login(refresh)

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        assert self._session is not None
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        async with self._session.request(
            method, path, json=body, headers=headers
        ) as response:
            if response.status >= 400:
                text = (await response.text())[:400]
                raise StepFailed(f"{method} {path}: HTTP {response.status}: {text}")
            return await response.json()

    async def get(self, path: str) -> Any:
        """GET a path of the REST API. Raises StepFailed."""
        return await self._call("GET", path)

    async def post(self, path: str, body: Any) -> Any:
        """POST to a path of the REST API. Raises StepFailed."""
        return await self._call("POST", path, body)

    async def call(
        self,
        domain: str,
        action: str,
        data: dict[str, Any] | None = None,
        query: str = "",
    ) -> Any:
        """Perform an action."""
        return await self.post(f"/api/services/{domain}/{action}{query}", data or {})

    async def state_becomes(
        self, entity_id: str, wanted: str, timeout_s: float = 10
    ) -> None:
        """Wait until an entity has a state. Raises StepFailed."""
        seen = "no state"
        try:
            async with asyncio.timeout(timeout_s):
                while seen != wanted:
                    await asyncio.sleep(0.05)
                    with suppress(StepFailed):
                        seen = (await self.get(f"/api/states/{entity_id}"))["state"]
        except TimeoutError:
            raise StepFailed(f"{entity_id} is {seen}, not {wanted}") from None

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[Commands]:
        """Open a websocket that is logged in."""
        assert self._session is not None
        async with self._session.ws_connect("/api/websocket", max_msg_size=0) as socket:
            await socket.receive_json()
            await socket.send_json({"type": "auth", "access_token": self._token})
            answer = await socket.receive_json()
            if answer["type"] != "auth_ok":
                raise StepFailed(f"websocket login was refused: {answer}")
            yield Commands(socket)

    async def command(self, kind: str, **data: Any) -> Any:
        """Send one websocket command and return its result. Raises StepFailed."""
        async with self.socket() as commands:
            return await commands.send(kind, **data)

    async def set_up(self, handler: str, *answers: dict[str, Any]) -> dict[str, Any]:
        """Go through a config flow and return what it made."""
        path = "/api/config/config_entries/flow"
        return await self._flow(path, {"handler": handler}, answers)

    async def add_subentry(
        self, entry_id: str, kind: str, *answers: dict[str, Any]
    ) -> dict[str, Any]:
        """Go through a subentry flow and return what it made."""
        path = "/api/config/config_entries/subentries/flow"
        return await self._flow(path, {"handler": [entry_id, kind]}, answers)

    async def _flow(
        self, path: str, start: dict[str, Any], answers: tuple[dict[str, Any], ...]
    ) -> dict[str, Any]:
        result: dict[str, Any] = await self.post(path, start)
        for answer in answers:
            result = await self.post(f"{path}/{result['flow_id']}", answer)
        if result["type"] != "create_entry":
            raise StepFailed(f"the set-up was not accepted: {reason(result)}")
        return result


def reason(result: dict[str, Any]) -> str:
    """Return what a flow that did not end well says is wrong."""
    errors = result.get("errors") or {"": result.get("reason", result["type"])}
    return ", ".join(f"{field} {error}".strip() for field, error in errors.items())


class Commands:
    """A websocket to Home Assistant: commands by id, events as they come."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Take an open, logged-in socket."""
        self._socket = socket
        self._ids = itertools.count(1)
        self._events: list[dict[str, Any]] = []

    async def send(self, kind: str, **data: Any) -> Any:
        """Send a command and return its result; events meanwhile are kept."""
        number = next(self._ids)
        await self._socket.send_json({"id": number, "type": kind, **data})
        async with asyncio.timeout(CALL_S):
            while True:
                answer = await self._socket.receive_json()
                if answer["type"] == "event":
                    self._events.append(answer["event"])
                elif answer["id"] == number:
                    break
        if not answer["success"]:
            raise StepFailed(f"{kind} was refused: {answer['error']}")
        return answer["result"]

    async def event(self, timeout_s: float = CALL_S) -> dict[str, Any]:
        """Return the next event of what was subscribed to."""
        async with asyncio.timeout(timeout_s):
            while not self._events:
                answer = await self._socket.receive_json()
                if answer["type"] == "event":
                    self._events.append(answer["event"])
        return self._events.pop(0)
