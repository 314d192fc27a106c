"""Encryption for the twin: the device's side of ESPHome's Noise handshake.

ESPHome's host platform has none, so this stands in front of the twin and speaks it:
real frames, real keys, the real client on the other side.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from typing import Self

from cryptography.exceptions import InvalidTag
from noise.connection import NoiseConnection

PROTOCOL = b"Noise_NNpsk0_25519_ChaChaPoly_SHA256"
PROLOGUE = b"NoiseAPIInit\x00\x00"


class NoiseFront:
    """An encrypted face for a node that listens in plain text on `port`."""

    def __init__(self, port: int, key: str, name: str, mac: str) -> None:
        self._target = port
        self.key = key
        self._hello = b"\x01%s\0%s\0" % (
            name.encode(),
            mac.replace(":", "").lower().encode(),
        )
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._talk(reader, writer)
        except* OSError, EOFError:
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if await reader.readexactly(1) != b"\x01":
            writer.write(_frame(b"\x01Bad indicator byte"))
            await writer.drain()
            return
        await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
        noise = NoiseConnection.from_name(PROTOCOL)
        noise.set_as_responder()
        noise.set_psks(b64decode(self.key))
        noise.set_prologue(PROLOGUE)
        noise.start_handshake()
        greeting = await _read_frame(reader)
        writer.write(_frame(self._hello))
        try:
            noise.read_message(greeting[1:])
        except InvalidTag:
            writer.write(_frame(b"\x01Handshake MAC failure"))
            await writer.drain()
            return
        writer.write(_frame(b"\x00" + noise.write_message()))
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._inwards(noise, reader, back))
                both.create_task(self._outwards(noise, there, writer))
        finally:
            back.close()

    @staticmethod
    async def _inwards(
        noise: NoiseConnection, reader: asyncio.StreamReader, node: asyncio.StreamWriter
    ) -> None:
        while True:
            message = noise.decrypt(await _read_frame(reader))
            kind, data = int.from_bytes(message[:2]), message[4:]
            node.write(b"\x00" + _varint(len(data)) + _varint(kind) + data)
            await node.drain()

    @staticmethod
    async def _outwards(
        noise: NoiseConnection, node: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            await node.readexactly(1)
            size = await _read_varint(node)
            kind = await _read_varint(node)
            data = await node.readexactly(size)
            head = kind.to_bytes(2) + size.to_bytes(2)
            writer.write(_frame(noise.encrypt(head + data)))
            await writer.drain()


def _frame(data: bytes) -> bytes:
    return b"\x01" + len(data).to_bytes(2) + data


async def _read_frame(reader: asyncio.StreamReader) -> bytes:
    assert await reader.readexactly(1) == b"\x01"
    return await reader.readexactly(int.from_bytes(await reader.readexactly(2)))


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


async def _read_varint(reader: asyncio.StreamReader) -> int:
    value = shift = 0
    while True:
        byte = (await reader.readexactly(1))[0]
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value
        shift += 7
