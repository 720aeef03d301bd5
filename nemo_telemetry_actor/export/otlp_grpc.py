# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""OTLP over gRPC.

The SDK's encoder and the generated stub are used, not the SDK's exporter: that one retries inside
and hides `partial_success`, both of which delivery must see.
"""

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import ExportError, MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.export.endpoint import (
    grpc_target,
    headers_of,
    parse_endpoint,
    secrets_of,
    shown,
    user_agent,
)
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.points import Snapshot

# https://opentelemetry.io/docs/specs/otlp/#failures
_RETRYABLE: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)

# The words of gRPC's own libraries: C++ and Go, Java, Rust (which says OUT_OF_RANGE).
_TOO_LARGE: Final = re.compile(
    r"larger than max|exceeds maximum size|message length too large|message too large",
    re.IGNORECASE,
)
_SIZE_CODES: Final = frozenset({grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE})

Trailers = Iterable[tuple[str, str | bytes]]


class OtlpGrpcExporter:
    """Sends each snapshot as one `Export` call, within `config.timeout_s`.

    The channel is made by the first export, on its event loop, and made anew after the backend
    was not reachable, so that a new address or certificate counts at once. Messages have no upper
    size on this side: the backend says when one is too large.

    Args:
        config: The receiver.
        name: What people call the exporter; its kind and endpoint by default.

    Raises:
        ConfigError: The endpoint or a header cannot be used.
    """

    def __init__(self, config: OtlpConfig, *, name: str | None = None) -> None:
        endpoint = parse_endpoint(config.endpoint)
        headers = headers_of(config, endpoint)
        self._config = config
        self._name = name or f"otlp/grpc {endpoint.public}"
        self._target, self._is_secure = grpc_target(endpoint, config.insecure)
        self._metadata = tuple(headers.items())
        self._secrets = secrets_of(headers, endpoint)
        self._channel: Any = None

    @property
    def name(self) -> str:
        """Kind and endpoint, without userinfo and query."""
        return self._name

    @property
    def max_points(self) -> int:
        """See `PushExporter`."""
        return self._config.max_points

    async def export(self, snapshot: Snapshot) -> ExportResult:
        """Send one snapshot; encoding runs on a thread of its own.

        Raises:
            RetryableExportError: The backend could not take it now, or a certificate file cannot
                be read.
            MessageTooLargeError: The backend would take a smaller one.
            ExportError: It refused for good.
        """
        request = await asyncio.to_thread(to_request, snapshot)
        stub = await self._connect()
        try:
            response = await stub.Export(
                request, timeout=self._config.timeout_s, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                await self.shutdown()
            trailers = tuple(error.trailing_metadata() or ())
            text = shown(error.details() or "no details", self._secrets)
            # Not chained: gRPC's own error repeats the words in which secrets were replaced.
            raise failure_of(self._name, error.code(), text, trailers) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # gRPC says so of a call whose channel `shutdown` closed; nobody cancelled the caller.
            raise RetryableExportError(f"{self._name}: the channel was closed") from None
        partial = response.partial_success
        return ExportResult(
            rejected=max(partial.rejected_data_points, 0),
            message=shown(partial.error_message, self._secrets),
        )

    async def shutdown(self) -> None:
        """Close the channel, at once; an export in flight ends as retryable."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    async def _connect(self) -> Any:
        if self._channel is None:
            credentials = await asyncio.to_thread(self._credentials) if self._is_secure else None
            self._channel = self._open(credentials)
        return MetricsServiceStub(self._channel)  # type: ignore[no-untyped-call]

    def _open(self, credentials: Any) -> Any:
        is_gzip = self._config.compression == "gzip"
        compression = grpc.Compression.Gzip if is_gzip else grpc.Compression.NoCompression
        options = (
            ("grpc.max_send_message_length", -1),
            ("grpc.primary_user_agent", user_agent()),
            # A channel made anew must not inherit the back-off of the one before it.
            ("grpc.use_local_subchannel_pool", 1),
        )
        if credentials is None:
            return grpc.aio.insecure_channel(self._target, options, compression)
        return grpc.aio.secure_channel(self._target, credentials, options, compression)

    def _credentials(self) -> Any:
        config = self._config
        return grpc.ssl_channel_credentials(
            root_certificates=self._read(config.certificate),
            private_key=self._read(config.client_key),
            certificate_chain=self._read(config.client_certificate),
        )

    def _read(self, path: str | None) -> bytes | None:
        if path is None:
            return None
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise RetryableExportError(f"{self._name}: cannot read {path}: {error}") from error


def failure_of(name: str, code: grpc.StatusCode, text: str, trailers: Trailers = ()) -> ExportError:
    """Return what a failed call means for delivery, by the OTLP specification.

    Args:
        name: The exporter.
        code: Status of the call.
        text: The backend's words, fit to be shown.
        trailers: Trailing metadata, where a backend may ask to be left alone for a time.
    """
    message = f"{name}: {code.name}: {text}"
    if "WRONG_VERSION_NUMBER" in text:  # TLS met a port that speaks plain text
        message += "; an endpoint without http:// means TLS: write http://host:port for plain text"
    if code in _SIZE_CODES and _TOO_LARGE.search(text):
        return MessageTooLargeError(message)
    delay_s = retry_delay_s(trailers)
    if code in _RETRYABLE or (code is grpc.StatusCode.RESOURCE_EXHAUSTED and delay_s is not None):
        return RetryableExportError(message, retry_after_s=delay_s)
    return ExportError(message)


def retry_delay_s(trailers: Trailers) -> float | None:
    """Return the delay of a `RetryInfo` among trailing metadata, `None` when there is none.

    It comes inside `grpc-status-details-bin` (gRPC's richer error model), or alone.
    """
    for key, value in trailers:
        if isinstance(value, str):
            continue
        try:
            if key == "google.rpc.retryinfo-bin":
                return _seconds(RetryInfo.FromString(value))
            if key == "grpc-status-details-bin":
                for detail in Status.FromString(value).details:
                    info = RetryInfo()
                    if detail.Unpack(info):
                        return _seconds(info)
        except DecodeError:  # a backend's broken advice is none
            continue
    return None


def _seconds(info: RetryInfo) -> float:
    delay_s: float = info.retry_delay.seconds + info.retry_delay.nanos / 1e9
    return max(delay_s, 0.0)
