# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Raylets on loopback, in a process of their own, that answer with real pages of Ray 2.60.

They answer as Ray's exporter was seen to: HTTP/1.0, one answer a connection, packed with gzip for
whoever accepts it. The answers are made beforehand: what a raylet needs to write its page and to
pack it, 20 to 50 ms, is spent on its own host and not on the reader's.
"""

import asyncio
import gzip
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.machine import leave_cores_to_training

ADDRESS = "127.0.0.1"

_DATA = Path(__file__).parents[1] / "tests/data"
PAGES = {
    "head": _DATA / "raylet/ray-2.60.0.prom",
    "worker": _DATA / "raylet_worker_node/ray-2.60.0.prom",
}

_HEAD = (
    "HTTP/1.0 200 OK\r\n"
    "Date: Mon, 30 Nov 2026 22:50:06 GMT\r\n"
    "Server: WSGIServer/0.2 CPython/3.11.7\r\n"
    "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
)
_USED = re.compile(rb"^(ray_node_mem_used\{[^}]*\}) \S+$", re.MULTILINE)
_TOTAL = re.compile(rb"^ray_node_mem_total\{[^}]*\} (\S+)$", re.MULTILINE)
_ACCEPTS_GZIP = re.compile(rb"^accept-encoding:.*\bgzip\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Raylet:
    """Where a raylet serves its page, and the bytes of memory that it says; each says its own."""

    host_name: str
    port: int
    used: float
    total: float

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}/metrics"

    @property
    def row(self) -> dict[str, object]:
        """The same as a row of `ray.nodes()`."""
        return {
            "NodeID": f"node of {self.host_name}",
            "Alive": True,
            "NodeManagerAddress": ADDRESS,
            "NodeManagerHostname": self.host_name,
            "MetricsExportPort": self.port,
        }


@contextmanager
def serving(page: bytes, count: int, *, hung: int = 0) -> Iterator[list[Raylet]]:
    """Serve `count` variants of a page; the first `hung` raylets accept and never answer."""
    (total,) = _TOTAL.findall(page)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(page, count, hung, theirs), daemon=True)
    server.start()
    theirs.close()  # a server that dies is then the end of the pipe and not a wait without end
    try:
        yield [
            Raylet(f"host-{index:03}", port, _used_of(index), float(total))
            for index, port in enumerate(ours.recv())
        ]
    finally:
        server.terminate()
        server.join()


def _used_of(index: int) -> float:
    return 1e9 + 1e6 * index


def _serve(page: bytes, count: int, hung: int, ports_to: Connection) -> None:
    leave_cores_to_training()

    async def serve() -> None:
        servers = []
        for index in range(count):
            variant, replaced = _USED.subn(rb"\1 %r" % _used_of(index), page)
            if replaced != 1:
                raise ValueError(f"the page has {replaced} lines of ray_node_mem_used, and not 1")
            answer = _hang if index < hung else partial(_answer, gzip.compress(variant))
            servers.append(await asyncio.start_server(answer, ADDRESS, 0))
        ports_to.send([server.sockets[0].getsockname()[1] for server in servers])
        await asyncio.Event().wait()

    asyncio.run(serve())


async def _answer(
    packed: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    request = await reader.readuntil(b"\r\n\r\n")
    is_packed = _ACCEPTS_GZIP.search(request) is not None
    body = packed if is_packed else gzip.decompress(packed)
    coding = "Content-Encoding: gzip\r\n" if is_packed else ""
    writer.write(f"{_HEAD}{coding}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    writer.close()


async def _hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()  # until the other side goes
    writer.close()
