# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One GET on a connection of its own: as much of HTTP/1.1 as reading a page takes.

Ray's exporter closes after each answer, so there is no connection to keep, and a general client's
machinery took more processor time than undoing gzip and finding the values together.
"""

import asyncio
import errno
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from nemo_telemetry_actor.scrape.failures import FetchFailure

_MAX_HEAD_BYTES: Final = 64 * 1024
_STATUS: Final = re.compile(rb"HTTP/1\.[0-9] ([0-9]{3})(?: .*)?")
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?")
_GONE: Final = frozenset({errno.ECONNRESET, errno.EPIPE})


class Answer(msgspec.Struct, frozen=True):
    """A whole answer.

    Args:
        status: As 200.
        headers: Values by name in lower case; the last one counts.
        body: As sent, with chunks put together; empty unless the status is 200.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Head(msgspec.Struct, frozen=True):
    """`length` is None when chunks or the end of the connection tell where the body ends."""

    status: int
    headers: Mapping[str, str]
    length: int | None
    is_chunked: bool


_Outcome: TypeAlias = Answer | FetchFailure


class Exchange(asyncio.Protocol):
    """Sends a request when connected, and knows the outcome when all that counts is there.

    Failures say what is wrong and not where. Closes the connection.

    Args:
        request: With the empty line at its end.
        max_bytes: How long the body may be, as sent.
    """

    def __init__(self, request: bytes, max_bytes: int) -> None:
        self._request = request
        self._max_bytes = max_bytes
        self._received = bytearray()
        self._head: _Head | None = None
        self._transport: asyncio.Transport | None = None
        self.outcome: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 — for the type checker
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Take what comes, up to the end of what counts or the bound."""
        self._received += data
        if self._head is None:
            outcome = self._begin()
        else:
            outcome = _ended(self._head, self._received, self._max_bytes)
        if outcome is not None:
            self._end(outcome)

    def connection_lost(self, error: Exception | None) -> None:
        """Judge what is there."""
        head = self._head
        is_gone = isinstance(error, OSError) and error.errno in _GONE
        if error is not None and not is_gone:
            self._end(FetchFailure("unreachable", str(error) or type(error).__name__))
        elif head is None or head.length is not None or head.is_chunked or is_gone:
            self._end(FetchFailure("cut_short", "the connection ended before the answer did"))
        else:
            self._end(Answer(head.status, head.headers, bytes(self._received)))

    def abort(self) -> None:
        """Give up what is not done."""
        if self._transport is not None:
            self._transport.abort()

    def _begin(self) -> _Outcome | None:
        """Look for the end of the head, and then of the body."""
        received = self._received
        # Whoever speaks another language may then wait for us, until the deadline.
        if not b"HTTP/".startswith(received[:5]):
            return FetchFailure("not_metrics", "the answer is not HTTP")
        at = received.find(b"\r\n\r\n")
        if at < 0 and len(received) <= _MAX_HEAD_BYTES:
            return None
        head = _read_head(bytes(received[:at])) if 0 <= at <= _MAX_HEAD_BYTES else None
        if head is None:
            return FetchFailure("not_metrics", "the head of the answer is not HTTP")
        if head.status != 200:
            return Answer(head.status, head.headers, b"")
        del received[: at + 4]
        self._head = head
        return _ended(head, received, self._max_bytes)

    def _end(self, outcome: _Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)
        if self._transport is not None:
            self._transport.close()


def _ended(head: _Head, received: bytearray, max_bytes: int) -> _Outcome | None:
    """Return the answer if its end is there, or that it is too long."""
    if len(received) > max_bytes or (head.length or 0) > max_bytes:
        return FetchFailure("too_large", f"longer than {max_bytes} bytes")
    if head.length is not None and len(received) >= head.length:
        return Answer(head.status, head.headers, bytes(received[: head.length]))
    # The same bytes may stand within a chunk: then there is more to come.
    if head.is_chunked and received.endswith(b"0\r\n\r\n"):
        body = joined_chunks(bytes(received))
        return body if body is None else Answer(head.status, head.headers, body)
    return None


def _read_head(head: bytes) -> _Head | None:
    """Return what a head says, or None when it is none."""
    first, *lines = head.split(b"\r\n")
    status = _STATUS.fullmatch(first)
    if status is None:
        return None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon:
            return None
        headers[name.strip().lower()] = value.strip()
    is_chunked = headers.get("transfer-encoding", "").lower().endswith("chunked")
    length = headers.get("content-length")
    if is_chunked or length is None:
        return _Head(int(status[1]), headers, None, is_chunked)
    if not (length.isascii() and length.isdecimal() and len(length) < 16):
        return None
    return _Head(int(status[1]), headers, int(length), is_chunked=False)


def joined_chunks(sent: bytes) -> bytes | None:
    """Return the content of all chunks, or None when they break the rules or have no end."""
    content: list[bytes] = []
    at = 0
    while (end := sent.find(b"\r\n", at)) >= 0:
        size = _CHUNK_SIZE.fullmatch(sent, at, end)
        if size is None:
            return None
        length, begin = int(size[1], 16), end + 2
        if length == 0:
            return b"".join(content)
        at = begin + length + 2
        if sent[at - 2 : at] != b"\r\n":
            return None
        content.append(sent[begin : at - 2])
    return None
