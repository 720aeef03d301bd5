# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""OTLP over HTTP, as protobuf."""

import asyncio
import errno
import gzip
import io
import ssl
import time
from collections.abc import Callable
from typing import Final

import aiohttp

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import ExportError, MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.export.endpoint import (
    headers_of,
    http_url,
    parse_endpoint,
    secrets_of,
    shown,
    user_agent,
)
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.export.http_answer import Answer, failure_of, result_of
from nemo_telemetry_actor.model.points import Snapshot

# An answer is a few hundred bytes; a proxy's error page is no reason to fill memory.
_MAX_ANSWER_BYTES: Final = 64 * 1024

# Known limits of receivers and proxies begin at 1 MiB.
_SMALL_BODY_BYTES: Final = 256 * 1024
# aiohttp raises a reset without a number when it writes to a transport that is closing.
_CUT: Final = frozenset({None, errno.ECONNRESET, errno.EPIPE})


class OtlpHttpExporter:
    """Posts each snapshot once, within `config.timeout_s`.

    The session is made by the first export, on its event loop, and made anew after the backend
    was not reachable, so that a renewed certificate counts. Proxies of the environment are used.
    Redirects are not followed: another host must not get the headers.

    Args:
        config: The receiver.
        name: What people call the exporter; its kind and endpoint by default.
        clock: Seconds since the epoch, for a `Retry-After` that is a date.

    Raises:
        ConfigError: The endpoint or a header cannot be used.
    """

    def __init__(
        self,
        config: OtlpConfig,
        *,
        name: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        endpoint = parse_endpoint(config.endpoint)
        headers = headers_of(config, endpoint)
        self._config = config
        self._clock = clock
        self._name = name or f"otlp/http {endpoint.public}"
        self._url = http_url(endpoint, config.insecure)
        self._secrets = secrets_of(headers, endpoint)
        self._headers = {
            "user-agent": user_agent(),
            **headers,
            "content-type": "application/x-protobuf",
        }
        if config.compression == "gzip":
            self._headers["content-encoding"] = "gzip"
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """Kind and endpoint, without userinfo and query."""
        return self._name

    @property
    def max_points(self) -> int:
        """See `PushExporter`."""
        return self._config.max_points

    async def export(self, snapshot: Snapshot) -> ExportResult:
        """Send one snapshot; encoding and compression run on a thread of their own.

        Raises:
            RetryableExportError: The backend could not take it now, or a certificate file cannot
                be read.
            MessageTooLargeError: The backend would take a smaller one.
            ExportError: It refused for good.
        """
        body = await asyncio.to_thread(self._encode, snapshot)
        answer = await self._post(body)
        if not 200 <= answer.status < 300:
            raise failure_of(self._name, answer, self._clock(), self._secrets)
        result = result_of(answer)
        return ExportResult(result.rejected, shown(result.message, self._secrets))

    async def shutdown(self) -> None:
        """Close the session and its connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _encode(self, snapshot: Snapshot) -> bytes:
        body: bytes = to_request(snapshot).SerializeToString()
        return gzip.compress(body, 6) if self._config.compression == "gzip" else body

    async def _post(self, body: bytes) -> Answer:
        session = await self._connect()
        try:
            # A stream, since a large body in one piece would hold the loop.
            async with session.post(
                self._url, data=io.BytesIO(body), headers=self._headers, allow_redirects=False
            ) as response:
                content = await _read_bounded(response.content)
                return Answer(response.status, dict(response.headers.items()), content)
        except TimeoutError:
            await self.shutdown()
            raise RetryableExportError(
                f"{self._name}: no answer within {self._config.timeout_s:g} s"
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            await self.shutdown()
            # Not chained: some of aiohttp's errors carry the request with its headers.
            text = shown(f"{type(error).__name__}: {error}", self._secrets)
            raise connection_failure(f"{self._name}: {text}", error, len(body)) from None

    async def _connect(self) -> aiohttp.ClientSession:
        if self._session is None:
            tls = await asyncio.to_thread(self._tls) if self._url.startswith("https:") else True
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=tls),
                timeout=aiohttp.ClientTimeout(total=self._config.timeout_s),
                trust_env=True,
            )
        return self._session

    def _tls(self) -> ssl.SSLContext:
        config = self._config
        try:
            context = ssl.create_default_context(cafile=config.certificate)
            if config.client_certificate is not None:
                context.load_cert_chain(config.client_certificate, config.client_key)
        except OSError as error:  # ssl.SSLError among them
            raise RetryableExportError(
                f"{self._name}: cannot use the certificates: {error}"
            ) from error
        return context


def connection_failure(message: str, error: Exception, body_bytes: int) -> ExportError:
    """Return what a broken connection means for delivery.

    A server that finds a body too large may close while it is still being sent, and its 413 is
    then lost with the connection. So a cut counts as a refusal for size while the body is large;
    halves lose nothing if the server had merely died.
    """
    is_cut = isinstance(error, aiohttp.ServerDisconnectedError) or (
        isinstance(error, OSError) and error.errno in _CUT
    )
    if is_cut and body_bytes > _SMALL_BODY_BYTES:
        return MessageTooLargeError(f"{message} (while {body_bytes} bytes were sent)")
    return RetryableExportError(message)


async def _read_bounded(stream: aiohttp.StreamReader) -> bytes:
    content = bytearray()
    async for chunk in stream.iter_chunked(_MAX_ANSWER_BYTES):
        content += chunk
        if len(content) >= _MAX_ANSWER_BYTES:
            break
    return bytes(content[:_MAX_ANSWER_BYTES])
