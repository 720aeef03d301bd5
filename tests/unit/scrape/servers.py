# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Servers on loopback that answer with exactly the bytes of a test."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Scripted:
    """What a server is to answer, and what it was asked."""

    def __init__(self, answer: bytes, *, then_hangs: bool, then_resets: bool) -> None:
        self.answer = answer
        self.then_hangs = then_hangs
        self.then_resets = then_resets
        self.requests: list[str] = []
        self.asked = asyncio.Event()
        self.port = 0

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}/metrics"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
            self.asked.set()
            writer.write(self.answer)
            await writer.drain()
            if self.then_resets:
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if self.then_hangs:
                await reader.read()  # until the other side goes
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the other side has gone, as some tests want
        finally:
            writer.close()


@asynccontextmanager
async def answering(
    answer: bytes,
    host: str = "127.0.0.1",
    *,
    then_hangs: bool = False,
    then_resets: bool = False,
) -> AsyncIterator[Scripted]:
    """Serve one answer to everybody."""
    script = Scripted(answer, then_hangs=then_hangs, then_resets=then_resets)
    server = await asyncio.start_server(script.serve, host, 0, backlog=512)
    script.port = server.sockets[0].getsockname()[1]
    try:
        yield script
    finally:
        server.close()


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole answer, with the length of its body."""
    lines = [f"HTTP/1.0 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
