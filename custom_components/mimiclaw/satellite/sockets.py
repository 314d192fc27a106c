"""Open a TCP connection that fails loudly and takes nothing with it when it dies."""

from __future__ import annotations

import asyncio
from dataclasses import astuple
import socket
import struct
from typing import TYPE_CHECKING

from aioesphomeapi import APIConnectionError
from aioesphomeapi.host_resolver import async_resolve_host
from aiohappyeyeballs import start_connection

from .errors import LinkError, Trouble
from .limits import (
    CONNECT_DEADLINE_S,
    RESOLVE_DEADLINE_S,
    TCP_KEEPCNT,
    TCP_KEEPIDLE_S,
    TCP_KEEPINTVL_S,
    TCP_USER_TIMEOUT_MS,
)

if TYPE_CHECKING:
    from aioesphomeapi.zeroconf import ZeroconfManager

#: Closing discards what was not sent yet. Without it the kernel would go on delivering
#: a command for minutes after its caller was told that it had failed.
_DISCARD = struct.pack("ii", 1, 0)

#: Not every system has every option; what is missing is made up for by the API's ping.
_OPTIONS = (
    ("TCP_KEEPIDLE", TCP_KEEPIDLE_S),
    ("TCP_KEEPINTVL", TCP_KEEPINTVL_S),
    ("TCP_KEEPCNT", TCP_KEEPCNT),
    ("TCP_USER_TIMEOUT", TCP_USER_TIMEOUT_MS),
)


async def open_socket(host: str, port: int, names: ZeroconfManager) -> socket.socket:
    """Return a connected socket.

    Raises LinkError: RESOLVE when the name is unknown, UNREACHABLE when nobody answers
    within CONNECT_DEADLINE_S.
    """
    try:
        found = await async_resolve_host([host], port, names, RESOLVE_DEADLINE_S)
    except APIConnectionError as err:
        raise LinkError(Trouble.RESOLVE, str(err)) from err
    addresses = [
        (
            entry.family,
            entry.type,
            entry.proto,
            "",
            astuple(entry.sockaddr),
        )
        for entry in found
    ]
    try:
        async with asyncio.timeout(CONNECT_DEADLINE_S):
            sock = await start_connection(addresses, happy_eyeballs_delay=0.1)
    except TimeoutError as err:
        raise LinkError(Trouble.UNREACHABLE, f"{host} does not answer") from err
    except OSError as err:
        raise LinkError(Trouble.UNREACHABLE, f"{host}: {err}") from err
    _prepare(sock)
    return sock


def _prepare(sock: socket.socket) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS:
        if (option := getattr(socket, name, None)) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
