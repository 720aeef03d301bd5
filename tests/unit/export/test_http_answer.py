# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)

from nemo_telemetry_actor.errors import ExportError, MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.export.http_answer import Answer, failure_of, result_of, retry_after_s

_PROTOBUF = {"Content-Type": "application/x-protobuf"}
_JSON = {"content-type": "application/json; charset=utf-8"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, ExportError),
        (307, ExportError),
        (400, ExportError),
        (401, ExportError),
        (404, ExportError),
        (408, ExportError),
        (413, MessageTooLargeError),
        (429, RetryableExportError),
        (500, ExportError),
        (501, ExportError),
        (502, RetryableExportError),
        (503, RetryableExportError),
        (504, RetryableExportError),
    ],
)
def test_every_status_means_what_the_otlp_specification_says(
    status: int, kind: type[ExportError]
) -> None:
    assert type(failure_of("x", Answer(status, {}, b""), 0.0)) is kind


@pytest.mark.parametrize(
    ("headers", "body", "message"),
    [
        (_PROTOBUF, Status(message="bad unit").SerializeToString(), "x: HTTP 400: bad unit"),
        (_JSON, b'{"code": 3, "message": "bad unit", "more": 1}', "x: HTTP 400: bad unit"),
        ({"Content-Type": "text/plain"}, b"bad\nunit \xff", "x: HTTP 400: bad unit \ufffd"),
        ({"Content-Type": "text/html"}, b"<html>", "x: HTTP 400"),
        (_PROTOBUF, b"\xff", "x: HTTP 400"),
        (_JSON, b"{", "x: HTTP 400"),
        (_JSON, b"\xff", "x: HTTP 400"),
        ({}, b"", "x: HTTP 400"),
    ],
)
def test_the_backends_reason_is_in_the_error(
    headers: dict[str, str], body: bytes, message: str
) -> None:
    assert str(failure_of("x", Answer(400, headers, body), 0.0)) == message


def test_a_secret_that_the_backend_repeats_is_not_in_the_error() -> None:
    answer = Answer(401, {"Content-Type": "text/plain"}, b"unknown token geheim")

    assert "geheim" not in str(failure_of("x", answer, 0.0, ["geheim"]))


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("", None),
        ("7", 7.0),
        (" 120 ", 120.0),
        ("-1", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0),
        ("Thu, 01 Jan 1970 00:01:40 -0000", 40.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, wait_s: float | None) -> None:
    assert retry_after_s(value, now_s=60.0) == wait_s


def test_the_wait_is_found_whatever_the_case_of_the_header() -> None:
    failure = failure_of("x", Answer(503, {"retry-AFTER": "9"}, b""), 0.0)

    assert isinstance(failure, RetryableExportError)
    assert failure.retry_after_s == 9.0


def _partial(rejected: int, message: str) -> bytes:
    response = ExportMetricsServiceResponse()
    response.partial_success.rejected_data_points = rejected
    response.partial_success.error_message = message
    encoded: bytes = response.SerializeToString()
    return encoded


@pytest.mark.parametrize(
    ("headers", "body", "result"),
    [
        (_PROTOBUF, b"", ExportResult()),
        (_PROTOBUF, _partial(3, "too old"), ExportResult(3, "too old")),
        (_PROTOBUF, _partial(0, "slow down"), ExportResult(0, "slow down")),
        (_PROTOBUF, _partial(-3, ""), ExportResult(0, "")),
        (_JSON, b'{"partialSuccess": {"rejectedDataPoints": "3"}}', ExportResult(3)),
        (_JSON, b"", ExportResult()),
        ({"Content-Type": "text/plain"}, b"OK", ExportResult()),
        (_PROTOBUF, b"\xff", ExportResult(0, "the answer's body is no application/x-protobuf")),
    ],
)
def test_what_a_backend_took_in_part_is_counted(
    headers: dict[str, str], body: bytes, result: ExportResult
) -> None:
    assert result_of(Answer(200, headers, body)) == result
