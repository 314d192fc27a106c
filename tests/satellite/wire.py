"""A network in between, which can fall silent, break or never answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
import socket
import struct
from typing import Self


class Wire:
    """Carries bytes between a client and a device on loopback.

    `hold` lets both ends believe in their connection while nothing gets through: what
    a vanished Wi-Fi does. `deaf` accepts and never says a word. `snap` ends every
    connection after the client's first bytes, as a bad link in the handshake does.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._server: asyncio.Server | None = None
        self._open = asyncio.Event()
        self._open.set()
        self._pairs: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.deaf = False
        self.snap = False
        self.accepted = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def hold(self) -> None:
        """Let nothing through from now on."""
        self._open.clear()

    def release(self) -> None:
        """Let everything through again."""
        self._open.set()

    def cut(self) -> None:
        """Break every connection with a reset."""
        for writer in list(self._pairs):
            sock = writer.get_extra_info("socket")
            with suppress(OSError):
                sock.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
            writer.transport.abort()
        self._pairs.clear()

    async def close(self) -> None:
        """Take no more connections and break those there are."""
        if self._server is not None:
            self._server.close()
            self.cut()
            await self._server.wait_closed()
            self._server = None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.accepted += 1
        self._pairs.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self.deaf:
                await asyncio.Event().wait()
            if self.snap:
                await reader.read(1)
                return
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            self._pairs.add(back)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._carry(reader, back))
                    both.create_task(self._carry(there, writer))
            finally:
                back.transport.abort()
                self._pairs.discard(back)
        except* OSError, EOFError:
            pass
        finally:
            writer.transport.abort()
            self._pairs.discard(writer)
            self._tasks.discard(task)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            # Nothing is taken in while held: what was sent waits with its sender.
            await self._open.wait()
            data = await reader.read(4096)
            if not data:
                raise EOFError
            if not self._open.is_set():
                # On its way when the wire fell silent: its sender has to send it again,
                # which a sender that has reset the connection does not.
                await self._open.wait()
                await asyncio.sleep(0.05)
                if reader.exception() is not None:
                    raise EOFError
            writer.write(data)
            await writer.drain()
