# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""GET with a deadline and a bound, and a name for everything that can go wrong."""

import asyncio
import ipaddress
import os
import re
import socket
import ssl
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from nemo_telemetry_actor.scrape.exchange import Answer, Exchange
from nemo_telemetry_actor.scrape.failures import FailureKind, FetchFailure

DEFAULT_MAX_BYTES: Final = 64 * 2**20
"""A page of an idle head is 0.3 MB; this is two hundred times that."""

_GZIP: Final = 16 + zlib.MAX_WBITS
_MAX_MEMBERS: Final = 1000
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_PORTS: Final = {"http": 80, "https": 443}
_PRINTABLE: Final = re.compile(r"[!-~]+")
_HEADER: Final = re.compile(r"[!#-'*+.^-z|~0-9A-Z-]+: [ -~]*")
_STAGGER_S: Final = 0.25


class _Target(msgspec.Struct, frozen=True):
    """What a URL says; `host_header` is without the zone, which is the asker's own affair."""

    is_tls: bool
    host: str
    is_name: bool
    port: int
    path: str
    host_header: str


class PageFetcher:
    """Fetches pages of nodes and answers of the dashboard. Failures are returned, not raised.

    Made once. A connection serves one request: Ray's exporter keeps none. Proxies of the
    environment are not used: the addresses are the cluster's own. Redirects are not followed.

    Args:
        timeout_s: Seconds for one request, from the look-up of the name to the last byte.
        max_bytes: How long an answer may be, as sent and decompressed.
    """

    def __init__(self, *, timeout_s: float, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._open: set[Exchange] = set()

    async def page(self, url: str) -> bytes | FetchFailure:
        """Fetch a page of metrics; HTML in its place, with whatever status, is a failure."""
        body = await self.get(url, {})
        if isinstance(body, bytes) and body[:256].lstrip()[:1] == b"<":
            return FetchFailure("not_metrics", f"{url}: the answer is HTML or XML, not metrics")
        return body

    async def get(self, url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
        """Fetch a body with `headers` beside our own; they appear in no failure's message."""
        try:
            target = _target(url)
            request = _request(target, headers)
            async with asyncio.timeout(self._timeout_s):
                answer = await self._ask(target, request)
        except TimeoutError:
            return FetchFailure("timeout", f"{url}: no whole answer within {self._timeout_s:g} s")
        except OSError as error:  # before ValueError: a certificate's errors are both
            is_refused = isinstance(error, ConnectionRefusedError)
            kind: FailureKind = "refused" if is_refused else "unreachable"
            return FetchFailure(kind, f"{url}: {_text_of(error)}")
        except ValueError:
            return FetchFailure("bad_address", f"{url}: the URL or a header is not allowed in HTTP")
        if isinstance(answer, Answer):
            content = _refusal(answer) or _content(answer, self._max_bytes)
        else:
            content = answer
        if isinstance(content, FetchFailure):
            return FetchFailure(content.kind, f"{url}: {content.message}")
        return content

    async def close(self) -> None:
        """Give up what is still under way."""
        for exchange in self._open:
            exchange.abort()

    async def _ask(self, target: _Target, request: bytes) -> Answer | FetchFailure:
        exchange = Exchange(request, self._max_bytes)
        self._open.add(exchange)
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: exchange,
                target.host,
                target.port,
                ssl=target.is_tls or None,
                # A name may stand for addresses of which some lead nowhere.
                happy_eyeballs_delay=_STAGGER_S if target.is_name else None,
            )
            return await exchange.outcome
        finally:
            self._open.discard(exchange)
            exchange.abort()


@lru_cache(maxsize=4096)
def _target(url: str) -> _Target:
    """Read a URL.

    Raises:
        ValueError: It is none of HTTP, or holds what must not be sent.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or not _PRINTABLE.fullmatch(url):
        raise ValueError("no URL of HTTP")
    host = unquote(parts.hostname)
    port = parts.port or _PORTS[parts.scheme]
    bare = host.partition("%")[0]
    header = f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return _Target(parts.scheme == "https", host, _is_name(bare), port, path, header)


def _is_name(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False


def _request(target: _Target, headers: Mapping[str, str]) -> bytes:
    further = [f"{name}: {value}" for name, value in headers.items()]
    if not all(map(_HEADER.fullmatch, further)):
        raise ValueError("a header is not allowed in HTTP")
    lines = [
        f"GET {target.path} HTTP/1.1",
        f"Host: {target.host_header}",
        "Accept: */*",
        "Accept-Encoding: gzip",
        "Connection: close",
        *further,
        "\r\n",
    ]
    return "\r\n".join(lines).encode()


def _refusal(answer: Answer) -> FetchFailure | None:
    if answer.status in {401, 403}:
        return FetchFailure("unauthorized", f"status {answer.status}")
    if answer.status != 200:
        return FetchFailure("status", f"status {answer.status}")
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() in _HTML_TYPES:
        return FetchFailure("not_metrics", "status 200 with HTML")
    return None


def _content(answer: Answer, max_bytes: int) -> bytes | FetchFailure:
    coding = answer.headers.get("content-encoding", "").lower()
    if coding in {"", "identity"}:
        return answer.body
    if coding not in {"gzip", "x-gzip"}:
        return FetchFailure("bad_encoding", f"encoded as {coding!r}, not asked for")
    try:
        return _inflated(answer.body, max_bytes)
    except zlib.error as error:
        return FetchFailure("bad_encoding", f"not gzip as it says ({error})")


def _inflated(packed: bytes, max_bytes: int) -> bytes | FetchFailure:
    """Undo gzip, of one member or several, and stop as soon as the bound is passed."""
    content = b""
    # Each further member copies what is left, so that their number has to be bounded.
    for _ in range(_MAX_MEMBERS):
        inflater = zlib.decompressobj(_GZIP)
        part = inflater.decompress(packed, max_bytes + 1 - len(content))
        content = content + part if content else part
        if len(content) > max_bytes:
            return FetchFailure("too_large", f"longer than {max_bytes} bytes")
        if not inflater.eof:
            return FetchFailure("cut_short", "the gzip stream has no end")
        packed = inflater.unused_data
        if not packed:
            return content
    return FetchFailure("bad_encoding", f"more than {_MAX_MEMBERS} members of gzip")


def _text_of(error: OSError) -> str:
    # Look-ups and TLS have numbers of their own; several addresses have failed without a number.
    if error.errno is None or isinstance(error, socket.gaierror | ssl.SSLError):
        return str(error) or type(error).__name__
    return os.strerror(error.errno)
