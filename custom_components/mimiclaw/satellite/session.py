"""One connection over the native API, from the handshake to its end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from aioesphomeapi import (
    APIClient,
    APIConnectionError,
    EncryptionPlaintextAPIError,
    InvalidEncryptionKeyAPIError,
    RequiresEncryptionAPIError,
)
from aioesphomeapi.core import EncryptionErrorAPIError

from .deadlines import Deadlines
from .describe import (
    join_pages,
    page_count,
    parse_description,
    parse_json,
    parse_states,
)
from .errors import LinkError, Trouble
from .limits import (
    API_KEEPALIVE_S,
    GOODBYE_S,
    HANDSHAKE_DEADLINE_S,
)
from .link import Node
from .sockets import open_socket
from .updates import Updates

if TYPE_CHECKING:
    from collections.abc import Mapping
    import socket

    from aioesphomeapi import DeviceInfo, EntityInfo, UserService
    from zeroconf.asyncio import AsyncZeroconf

    from .link import LinkOwner
    from .model import ChannelState, Description

CLIENT_INFO = "MimiClaw"
PROJECT = "mimiclaw."

WRITE = "mimiclaw_write"
READ = "mimiclaw_read"
DESCRIBE = "mimiclaw_describe"
#: The rest of a description too long for one message.
DESCRIBE_PAGE = "mimiclaw_describe_page"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a device is and how to talk to it.

    `mac` is lower case with colons, or empty when any device will do. The key stays
    out of repr, so it cannot reach a log.
    """

    host: str
    port: int
    noise_psk: str = field(default="", repr=False)
    mac: str = ""


class Session:
    """A device that has answered: what it is, and a way to ask it."""

    def __init__(self, client: APIClient, sock: socket.socket) -> None:
        self._client = client
        self._socket = sock
        self._closed = asyncio.Event()
        self._deadlines = Deadlines()
        self._actions: dict[str, UserService] = {}
        self._entities: list[EntityInfo] = []
        self.node: Node
        self.description: Description
        self.states: dict[str, ChannelState] = {}

    @classmethod
    async def open(
        cls, address: Address, zeroconf: AsyncZeroconf | None = None
    ) -> Self:
        """Connect, check that it is the device meant, and learn what it has.

        Raises LinkError; nothing stays open then.
        """
        client = APIClient(
            address.host,
            address.port,
            None,
            client_info=CLIENT_INFO,
            keepalive=API_KEEPALIVE_S,
            zeroconf_instance=zeroconf,
            noise_psk=address.noise_psk or None,
        )
        sock = await open_socket(address.host, address.port, client.zeroconf_manager)
        session = cls(client, sock)
        try:
            async with asyncio.timeout(HANDSHAKE_DEADLINE_S):
                await session._greet(address)
        except BaseException as err:
            session.abort()
            if isinstance(err, TimeoutError):
                raise LinkError(Trouble.TIMEOUT, "no end to the handshake") from err
            if isinstance(err, APIConnectionError):
                raise translate(err, address.mac) from err
            if isinstance(err, OSError):
                raise LinkError(Trouble.UNREACHABLE, str(err)) from err
            raise
        return session

    async def _greet(self, address: Address) -> None:
        self._client.start_connection_from_socket(
            self._socket, on_stop=self._on_stop, log_errors=False
        )
        await self._client.finish_connection(login=False)
        (
            info,
            self._entities,
            services,
        ) = await self._client.device_info_and_list_entities()
        self._actions = {service.name: service for service in services}
        self.node = _node(info)
        if address.mac and self.node.mac != address.mac:
            raise LinkError(Trouble.WRONG_DEVICE, f"{self.node.name} {self.node.mac}")
        missing = [
            name for name in (WRITE, READ, DESCRIBE) if name not in self._actions
        ]
        if missing:
            raise LinkError(Trouble.NOT_SATELLITE, ", ".join(missing))
        first = await self.call(DESCRIBE, {})
        rest = [
            await self.call(DESCRIBE_PAGE, {"page": page})
            for page in range(1, page_count(first))
        ]
        answer = join_pages([first, *rest])
        self.description = parse_description(answer)
        self.states = parse_states(answer)

    def subscribe(self, owner: LinkOwner) -> None:
        """Pass every change on to the owner from here on."""
        updates = Updates(owner, self.description.channels, self._entities)
        self._client.subscribe_states(updates.on_state)
        self._client.subscribe_service_calls(updates.on_service_call)

    async def call(self, action: str, data: dict[str, Any]) -> Mapping[str, Any]:
        """Call one of the device's actions and return its answer.

        It is sent before this first waits, so calls keep their order. Raises LinkError:
        UNREACHABLE the moment the connection is gone, TIMEOUT after COMMAND_DEADLINE_S;
        the connection is then torn down, so that the command cannot arrive any more.
        """
        service = self._actions.get(action)
        if service is None:
            raise LinkError(Trouble.NOT_SATELLITE, action)
        call = self._client.execute_service(service, data, return_response=True)
        try:
            answer = await self._deadlines.within(call)
        except LinkError as err:
            if err.trouble is Trouble.TIMEOUT:
                self.abort()
            raise
        except APIConnectionError as err:
            raise LinkError(Trouble.UNREACHABLE, str(err)) from err
        if answer is None or not answer.success:
            detail = "" if answer is None else answer.error_message
            raise LinkError(Trouble.BAD_ANSWER, f"{action}: {detail}")
        return parse_json(answer.response_data)

    @property
    def closed(self) -> bool:
        """Tell whether the connection is gone."""
        return self._closed.is_set()

    async def wait_closed(self) -> None:
        """Return when the connection is gone."""
        await self._closed.wait()

    async def goodbye(self) -> None:
        """Tell the device and close."""
        if not self.closed:
            with suppress(APIConnectionError, TimeoutError):
                async with asyncio.timeout(GOODBYE_S):
                    await self._client.disconnect()
        self.abort()

    def abort(self) -> None:
        """Close at once; what was not sent is discarded."""
        self._client.force_disconnect()
        self._socket.close()
        self._end()

    async def _on_stop(self, expected: bool) -> None:
        self._end()

    def _end(self) -> None:
        self._closed.set()
        self._deadlines.break_off()


def translate(err: APIConnectionError, mac: str) -> LinkError:
    """Say what an error of the library means for the owner.

    Only the device's own word makes a key wrong. A handshake that breaks off or takes
    too long is weak Wi-Fi as often as not, and passes by itself.
    """
    detail = str(err)
    if isinstance(err, EncryptionErrorAPIError):
        return LinkError(Trouble.UNREACHABLE, detail)
    if isinstance(err, InvalidEncryptionKeyAPIError):
        received = colons(err.received_mac or "")
        if mac and received and received != mac:
            return LinkError(Trouble.WRONG_DEVICE, f"{err.received_name} {received}")
        return LinkError(Trouble.KEY_WRONG, detail)
    if isinstance(err, RequiresEncryptionAPIError):
        return LinkError(Trouble.KEY_NEEDED, detail)
    if isinstance(err, EncryptionPlaintextAPIError):
        return LinkError(Trouble.KEY_REMOVED, detail)
    return LinkError(Trouble.UNREACHABLE, detail)


def colons(mac: str) -> str:
    """Return a MAC address in lower case with colons, however it was written."""
    bare = mac.replace(":", "").replace("-", "").lower()
    return ":".join(bare[i : i + 2] for i in range(0, len(bare), 2))


def _node(info: DeviceInfo) -> Node:
    return Node(
        name=info.name,
        friendly_name=info.friendly_name or info.name,
        mac=colons(info.mac_address),
        model=info.model,
        esphome_version=info.esphome_version,
        area=info.area.name or info.suggested_area,
    )
