# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import grpc
import pytest
from google.rpc.error_details_pb2 import DebugInfo, RetryInfo
from google.rpc.status_pb2 import Status

from nemo_telemetry_actor.errors import ExportError, MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.otlp_grpc import failure_of, retry_delay_s

_CODES_BY_MEANING = {
    RetryableExportError: {
        "CANCELLED",
        "DEADLINE_EXCEEDED",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNAVAILABLE",
        "DATA_LOSS",
    },
    ExportError: {
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "UNIMPLEMENTED",
        "INTERNAL",
    },
}


def _retry_info(delay_s: int) -> RetryInfo:
    info = RetryInfo()
    info.retry_delay.FromMilliseconds(delay_s * 1000)
    return info


def _details(*details: object) -> tuple[tuple[str, bytes], ...]:
    status = Status(code=8)
    for detail in details:
        status.details.add().Pack(detail)
    return (("grpc-status-details-bin", status.SerializeToString()),)


def test_every_status_means_what_the_otlp_specification_says() -> None:
    codes = [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]

    meaning: dict[type, set[str]] = {}
    for code in codes:
        meaning.setdefault(type(failure_of("x", code, "no")), set()).add(code.name)

    assert meaning == _CODES_BY_MEANING


def test_an_exhausted_backend_is_asked_again_only_when_it_says_when() -> None:
    failure = failure_of(
        "x", grpc.StatusCode.RESOURCE_EXHAUSTED, "quota", _details(DebugInfo(), _retry_info(7))
    )

    assert isinstance(failure, RetryableExportError)
    assert failure.retry_after_s == 7.0


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("RESOURCE_EXHAUSTED", "SERVER: Received message larger than max (5000000 vs. 4194304)"),
        ("RESOURCE_EXHAUSTED", "grpc: received message larger than max (5000000 vs. 4194304)"),
        ("RESOURCE_EXHAUSTED", "gRPC message exceeds maximum size 4194304: 5000000"),
        ("OUT_OF_RANGE", "Error, message length too large: found 5 bytes, the limit is: 4 bytes"),
    ],
)
def test_a_message_refused_for_its_size_is_told_apart(code: str, text: str) -> None:
    failure = failure_of("x", grpc.StatusCode[code], text, _details(_retry_info(1)))

    assert isinstance(failure, MessageTooLargeError)


@pytest.mark.parametrize(
    ("trailers", "delay_s"),
    [
        ((), None),
        (_details(), None),
        ((("other-bin", b"x"),), None),
        (_details(_retry_info(3)), 3.0),
        ((("google.rpc.retryinfo-bin", _retry_info(4).SerializeToString()),), 4.0),
        ((("grpc-status-details-bin", b"\xff\xff"), *_details(_retry_info(5))), 5.0),
        ((("grpc-status-details-bin", "text"),), None),
        (_details(_retry_info(-5)), 0.0),
    ],
)
def test_the_backends_own_delay_is_found(
    trailers: tuple[tuple[str, str | bytes], ...], delay_s: float | None
) -> None:
    assert retry_delay_s(trailers) == delay_s
