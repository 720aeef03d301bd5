# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import grpc
import pytest

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import ExportError, RetryableExportError
from nemo_telemetry_actor.export.otlp_grpc import OtlpGrpcExporter
from tests.receivers import GrpcRefusal, OtlpGrpcReceiver
from tests.snapshots import gauge, snapshot

_ONE = snapshot(gauge("x", [1.0]))


async def _export(receiver: OtlpGrpcReceiver, **headers: str) -> ExportError | None:
    config = OtlpConfig(endpoint=receiver.endpoint, insecure=True, headers=headers)
    exporter = OtlpGrpcExporter(config)
    try:
        await exporter.export(_ONE)
    except ExportError as error:
        return error
    finally:
        await exporter.shutdown()
    return None


@pytest.mark.parametrize("code", ["CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "DATA_LOSS"])
async def test_a_status_of_a_real_call_that_may_be_tried_again(code: str) -> None:
    with OtlpGrpcReceiver() as receiver:
        receiver.script(GrpcRefusal(grpc.StatusCode[code], "later"))

        error = await _export(receiver)

    assert isinstance(error, RetryableExportError)
    assert error.retry_after_s is None
    assert f"{code}: later" in str(error)


async def test_the_backends_own_delay_comes_through_a_real_call() -> None:
    with OtlpGrpcReceiver() as receiver:
        receiver.script(GrpcRefusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "quota", 7.5))

        error = await _export(receiver)

    assert isinstance(error, RetryableExportError)
    assert error.retry_after_s == 7.5


async def test_a_refusal_for_good_says_why_and_hides_the_token() -> None:
    with OtlpGrpcReceiver() as receiver:
        receiver.script(GrpcRefusal(grpc.StatusCode.UNAUTHENTICATED, "bad token geheim"))

        error = await _export(receiver, authorization="Bearer geheim")

    assert type(error) is ExportError
    assert str(error).endswith("UNAUTHENTICATED: bad token ***")
    assert error.__cause__ is None
    assert error.__suppress_context__
