# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the answer of an OTLP/HTTP backend means for delivery. Pure functions."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

import msgspec
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)

from nemo_telemetry_actor.errors import ExportError, MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.endpoint import shown
from nemo_telemetry_actor.export.exporter import ExportResult

# https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
_RETRYABLE: Final = frozenset({429, 502, 503, 504})
_TOO_LARGE: Final = 413

_M = TypeVar("_M", bound=Message)


class Answer(msgspec.Struct, frozen=True):
    """An HTTP answer, read to a bound."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """Return a header's value whatever the case of its name, empty when absent."""
        wanted = name.lower()
        return next((v for k, v in self.headers.items() if k.lower() == wanted), "")

    @property
    def content_type(self) -> str:
        """The media type without parameters, in lower case."""
        return self.header("content-type").partition(";")[0].strip().lower()


def result_of(answer: Answer) -> ExportResult:
    """Return what a backend that took the message says about its points.

    A body that is neither protobuf nor JSON says nothing. One that claims to be and cannot be
    read is reported in the result's message: the points were taken all the same.
    """
    try:
        partial = _decode(answer, ExportMetricsServiceResponse()).partial_success
    except (DecodeError, json_format.ParseError, UnicodeDecodeError):
        return ExportResult(message=f"the answer's body is no {answer.content_type}")
    return ExportResult(max(partial.rejected_data_points, 0), partial.error_message)


def failure_of(name: str, answer: Answer, now_s: float, secrets: Iterable[str] = ()) -> ExportError:
    """Return what an answer outside 2xx means, by the OTLP specification.

    Args:
        name: The exporter.
        answer: The backend's.
        now_s: Seconds since the epoch, for a `Retry-After` that is a date.
        secrets: Words that the message must not show.
    """
    message = f"{name}: HTTP {answer.status}"
    if text := shown(_words(answer), secrets):
        message = f"{message}: {text}"
    if answer.status == _TOO_LARGE:
        return MessageTooLargeError(message)
    if answer.status in _RETRYABLE:
        after_s = retry_after_s(answer.header("retry-after"), now_s)
        return RetryableExportError(message, retry_after_s=after_s)
    if 300 <= answer.status < 400:
        message = f"{message}; redirects are not followed, set the endpoint that it leads to"
    return ExportError(message)


def retry_after_s(value: str, now_s: float) -> float | None:
    """Return the wait of a `Retry-After` header: seconds or an HTTP date; `None` without sense."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(at.timestamp() - now_s, 0.0)


def _words(answer: Answer) -> str:
    if answer.content_type == "text/plain":
        return answer.body.decode("utf-8", "replace")
    try:
        return str(_decode(answer, Status()).message)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError):
        return ""


def _decode(answer: Answer, message: _M) -> _M:
    if answer.content_type == "application/x-protobuf":
        message.ParseFromString(answer.body)
    elif answer.content_type == "application/json" and answer.body.strip():
        json_format.Parse(answer.body, message, ignore_unknown_fields=True)
    return message
