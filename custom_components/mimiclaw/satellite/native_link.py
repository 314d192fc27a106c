"""Our own connection to a device: kept up, and given up the moment it is in doubt."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aioesphomeapi.host_resolver import host_is_local_name

from ..const import LOGGER
from .errors import PASSING, LinkError, Trouble
from .limits import KEY_REFUSALS, RETRY_FIRST_S, RETRY_MOST_S, RETRY_TROUBLE_S
from .session import READ, WRITE, Session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from zeroconf.asyncio import AsyncZeroconf

    from .link import LinkOwner
    from .model import Actor, Command
    from .session import Address

type Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
type GetZeroconf = Callable[[], Awaitable[AsyncZeroconf]]


class NativeLink:
    """Keeps one connection to one device.

    aioesphomeapi's own ReconnectLogic waits up to a minute between attempts and closes
    a socket with its unsent bytes still on the way; both would break what a satellite
    promises, so the loop is ours and the protocol theirs.
    """

    def __init__(
        self,
        address: Address,
        owner: LinkOwner,
        spawn: Spawn,
        get_zeroconf: GetZeroconf,
    ) -> None:
        self._address = address
        self._owner = owner
        self._spawn = spawn
        self._get_zeroconf = get_zeroconf
        self._poked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._session: Session | None = None
        self._refusals = 0

    @property
    def up(self) -> bool:
        """Tell whether the device answers."""
        return self._session is not None and not self._session.closed

    async def async_start(self) -> None:
        """Begin to connect, in the background."""
        self._task = self._spawn(self._run(), f"satellite {self._address.host}")

    async def async_stop(self) -> None:
        """Say goodbye and end the task."""
        if self._session is not None:
            await self._session.goodbye()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def poke(self) -> None:
        """Try now instead of later."""
        self._poked.set()

    async def write(
        self, channel: str, state: Command, duration_ms: int, actor: Actor
    ) -> Mapping[str, Any]:
        """Command a channel; see Link."""
        return await self._live().call(
            WRITE,
            {
                "channel": channel,
                "state": state,
                "duration_ms": duration_ms,
                "actor": actor,
            },
        )

    async def read(self, channel: str) -> Mapping[str, Any]:
        """Ask for a channel; see Link."""
        return await self._live().call(READ, {"channel": channel})

    def _live(self) -> Session:
        if self._session is None or self._session.closed:
            raise LinkError(
                Trouble.UNREACHABLE, f"no connection to {self._address.host}"
            )
        return self._session

    async def _run(self) -> None:
        pause = RETRY_FIRST_S
        while True:
            try:
                await self._once()
                pause = RETRY_FIRST_S
            except LinkError as err:
                pause = self._judge(err, pause)
            except Exception:  # noqa: BLE001 - one attempt must not be the last one
                LOGGER.exception(
                    "Satellite at %s: an attempt failed", self._address.host
                )
                pause = RETRY_TROUBLE_S
            self._poked.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._poked.wait()

    async def _once(self) -> None:
        """Connect and stay until the connection is gone."""
        zeroconf = None
        if host_is_local_name(self._address.host):
            zeroconf = await self._get_zeroconf()
        session = await Session.open(self._address, zeroconf)
        self._refusals = 0
        self._session = session
        try:
            self._owner.link_up(session.node, session.description, session.states)
            if not session.closed:
                session.subscribe(self._owner)
            await session.wait_closed()
        finally:
            session.abort()
            self._session = None
            self._owner.link_down()

    def _judge(self, err: LinkError, pause: float) -> float:
        """Tell the owner what it can mend; return how long to wait."""
        LOGGER.debug("%s: %s", self._address.host, err)
        if err.trouble in PASSING:
            self._refusals = 0
            return min(pause * 2, RETRY_MOST_S)
        self._refusals += 1
        if err.trouble is Trouble.KEY_WRONG and self._refusals < KEY_REFUSALS:
            return RETRY_MOST_S
        self._owner.link_trouble(err.trouble, err.detail)
        return RETRY_TROUBLE_S
