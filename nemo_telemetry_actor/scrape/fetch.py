# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""GET with a deadline and a bound, and a name for everything that can go wrong."""

import asyncio
import errno
import os
import socket
import zlib
from collections.abc import Mapping
from typing import Final

import aiohttp

from nemo_telemetry_actor.scrape.failures import FailureKind, FetchFailure

DEFAULT_MAX_BYTES: Final = 64 * 2**20
"""A page of an idle head is 0.3 MB; this is two hundred times that."""

_CHUNK_BYTES: Final = 64 * 1024
_GZIP: Final = 16 + zlib.MAX_WBITS
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})


class PageFetcher:
    """Fetches pages of nodes and answers of the dashboard. Failures are returned, not raised.

    Made once; the session is opened by the first request, on its event loop. Proxies of the
    environment are not used: the addresses are the cluster's own. Redirects are not followed.

    Args:
        timeout_s: Seconds for one request, from the look-up of the name to the last byte.
        max_bytes: How long an answer may be, decompressed.
    """

    def __init__(self, *, timeout_s: float, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._session: aiohttp.ClientSession | None = None

    async def page(self, url: str) -> bytes | FetchFailure:
        """Fetch a page of metrics; HTML in its place, with whatever status, is a failure."""
        body = await self.get(url, {})
        if isinstance(body, bytes) and body[:256].lstrip()[:1] == b"<":
            return FetchFailure("not_metrics", f"{url}: the answer is HTML or XML, not metrics")
        return body

    async def get(self, url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
        """Fetch a body with `headers` beside our own; they appear in no failure's message."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._get(url, headers)
        except TimeoutError:
            return FetchFailure("timeout", f"{url}: no whole answer within {self._timeout_s:g} s")
        except ValueError:
            return FetchFailure("bad_address", f"{url}: the URL or a header is not allowed in HTTP")
        except (aiohttp.ClientError, OSError) as error:
            # The error's own text only: some of aiohttp's carry the request with its headers.
            return FetchFailure(_kind_of(error), f"{url}: {_text_of(error)}")

    async def close(self) -> None:
        """Close the session; a later request opens a new one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _get(self, url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
        wanted = {"Accept-Encoding": "gzip", "Accept": "*/*", **headers}
        async with self._opened().get(url, headers=wanted, allow_redirects=False) as response:
            if (failure := _refusal(url, response)) is not None:
                return failure
            coding = response.headers.get("Content-Encoding", "").strip().lower()
            if coding not in {"", "identity", "gzip", "x-gzip"}:
                return FetchFailure("bad_encoding", f"{url}: encoded as {coding!r}, not asked for")
            body = _Body(self._max_bytes, is_gzip="gzip" in coding)
            try:
                async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                    if not body.add(chunk):
                        text = f"{url}: longer than {self._max_bytes} bytes"
                        return FetchFailure("too_large", text)
            except zlib.error as error:
                return FetchFailure("bad_encoding", f"{url}: not gzip as it says ({error})")
            if not body.is_whole:
                return FetchFailure("cut_short", f"{url}: the gzip stream has no end")
            return body.content

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # Whoever calls bounds what is in flight. A connection kept for the next cycle may
                # lead to a raylet that is gone by then.
                connector=aiohttp.TCPConnector(limit=0, force_close=True),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                # aiohttp would decompress a chunk whole, however much comes out of it.
                auto_decompress=False,
                trust_env=False,
            )
        return self._session


class _Body:
    """Collects an answer, decompressed, up to a bound."""

    def __init__(self, max_bytes: int, *, is_gzip: bool) -> None:
        self._max_bytes = max_bytes
        self._content = bytearray()
        self._inflater = zlib.decompressobj(_GZIP) if is_gzip else None

    @property
    def content(self) -> bytes:
        return bytes(self._content)

    @property
    def is_whole(self) -> bool:
        return self._inflater is None or self._inflater.eof

    def add(self, chunk: bytes) -> bool:
        """Take a chunk; False when the content is over the bound, and the rest is not wanted."""
        if self._inflater is None:
            self._content += chunk
            return len(self._content) <= self._max_bytes
        while chunk:
            if self._inflater.eof:  # a further member of the same stream
                self._inflater = zlib.decompressobj(_GZIP)
            room = self._max_bytes + 1 - len(self._content)
            self._content += self._inflater.decompress(chunk, room)
            if len(self._content) > self._max_bytes:
                return False
            chunk = self._inflater.unused_data
        return True


def _refusal(url: str, response: aiohttp.ClientResponse) -> FetchFailure | None:
    if response.status in {401, 403}:
        return FetchFailure("unauthorized", f"{url}: status {response.status}")
    if response.status != 200:
        return FetchFailure("status", f"{url}: status {response.status}")
    if response.content_type in _HTML_TYPES:
        return FetchFailure("not_metrics", f"{url}: status 200 with HTML")
    return None


def _kind_of(error: Exception) -> FailureKind:
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
        return "cut_short"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "refused" if isinstance(error.os_error, ConnectionRefusedError) else "unreachable"
    if isinstance(error, OSError) and error.errno in {None, errno.ECONNRESET, errno.EPIPE}:
        return "cut_short"  # aiohttp raises a reset without a number when it is the one to write
    if isinstance(error, aiohttp.ClientResponseError):
        return "not_metrics"
    return "unreachable"


def _text_of(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientResponseError):
        return f"the answer is not HTTP ({error.message})"
    if isinstance(error, aiohttp.ClientConnectorError):
        cause = error.os_error
        # A look-up has numbers of its own; several addresses have failed without a number.
        if cause.errno is None or isinstance(cause, socket.gaierror):
            return str(cause)
        return os.strerror(cause.errno)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
