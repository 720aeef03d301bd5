# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest
from google.rpc.status_pb2 import Status

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import ExportError, RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.export.otlp_http import OtlpHttpExporter
from tests.receivers import HttpRefusal, OtlpHttpReceiver
from tests.snapshots import gauge, snapshot

_ONE = snapshot(gauge("x", [1.0]))


async def _export(endpoint: str, **headers: str) -> ExportError | ExportResult:
    config = OtlpConfig(endpoint=endpoint, protocol="http/protobuf", headers=headers)
    exporter = OtlpHttpExporter(config, clock=lambda: 60.0)
    try:
        return await exporter.export(_ONE)
    except ExportError as error:
        return error
    finally:
        await exporter.shutdown()


@pytest.mark.parametrize(
    ("retry_after", "wait_s"), [("7", 7.0), ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0)]
)
async def test_a_busy_backends_wait_is_kept(retry_after: str, wait_s: float) -> None:
    with OtlpHttpReceiver() as receiver:
        receiver.script(HttpRefusal(503, {"Retry-After": retry_after}))

        error = await _export(receiver.endpoint)

    assert isinstance(error, RetryableExportError)
    assert error.retry_after_s == wait_s


async def test_a_refusal_for_good_says_why_and_hides_the_token() -> None:
    body = Status(message="bad token geheim").SerializeToString()
    with OtlpHttpReceiver() as receiver:
        receiver.script(HttpRefusal(401, {"Content-Type": "application/x-protobuf"}, body))

        error = await _export(receiver.endpoint, authorization="Bearer geheim")

    assert type(error) is ExportError
    assert str(error).endswith("HTTP 401: bad token ***")


async def test_a_redirect_is_not_followed_so_the_headers_stay() -> None:
    with OtlpHttpReceiver() as receiver, OtlpHttpReceiver() as other:
        receiver.script(HttpRefusal(307, {"Location": other.endpoint}))

        error = await _export(receiver.endpoint, authorization="Bearer geheim")

    assert type(error) is ExportError
    assert other.requests == []


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_any_2xx_is_a_success_whatever_the_body(status: int) -> None:
    with OtlpHttpReceiver() as receiver:
        receiver.script(HttpRefusal(status, {"Content-Type": "text/plain"}))

        result = await _export(receiver.endpoint)

    assert result == ExportResult()


async def test_an_endless_answer_is_read_to_a_bound() -> None:
    with OtlpHttpReceiver() as receiver:
        receiver.script(HttpRefusal(502, {"Content-Type": "text/plain"}, b"x" * 2**20))

        error = await _export(receiver.endpoint)

    assert isinstance(error, RetryableExportError)
    assert len(str(error)) < 700


async def test_an_endpoint_without_a_path_gets_the_specifications() -> None:
    with OtlpHttpReceiver() as receiver:
        await _export(f"http://127.0.0.1:{receiver.port}")

    assert receiver.paths == ["/v1/metrics"]


async def test_a_key_in_the_url_is_sent_and_never_shown() -> None:
    with OtlpHttpReceiver() as receiver:
        receiver.script(HttpRefusal(400, {"Content-Type": "text/plain"}, b"no key=geheim"))

        error = await _export(f"{receiver.endpoint}?key=geheim")

    assert receiver.paths == ["/v1/metrics?key=geheim"]
    assert "geheim" not in str(error)
