# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What OTLP over gRPC and over HTTP have in common, against real receivers."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from nemo_telemetry_actor.config import OtlpConfig
from nemo_telemetry_actor.errors import MessageTooLargeError, RetryableExportError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.export.exporter import ExportResult, PushExporter
from nemo_telemetry_actor.export.otlp_grpc import OtlpGrpcExporter
from nemo_telemetry_actor.export.otlp_http import OtlpHttpExporter
from tests.receivers import Hang, OtlpGrpcReceiver, OtlpHttpReceiver, PartialSuccess, Tls
from tests.snapshots import T0, gauge, snapshot

Protocol: TypeAlias = Literal["grpc", "http/protobuf"]
Receiver: TypeAlias = OtlpGrpcReceiver | OtlpHttpReceiver

_ONE = snapshot(gauge("x", [1.0]))
# 1.7 MB: more than what aiohttp takes in one piece.
_LARGE = snapshot(gauge("x", [0.1 * i for i in range(60_000)]))


@pytest.fixture(params=["grpc", "http/protobuf"])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    chosen: Protocol = request.param
    return chosen


def make_receiver(protocol: Protocol, **options: Any) -> Receiver:
    return OtlpGrpcReceiver(**options) if protocol == "grpc" else OtlpHttpReceiver(**options)


@pytest.fixture
def receiver(protocol: Protocol) -> Iterator[Receiver]:
    with make_receiver(protocol) as running:
        yield running


@contextlib.asynccontextmanager
async def exporting(
    protocol: Protocol, endpoint: str, **options: Any
) -> AsyncIterator[PushExporter]:
    """An exporter to a receiver, without TLS unless the endpoint says so."""
    config = OtlpConfig(endpoint=_with_scheme(endpoint), protocol=protocol, **options)
    exporter: PushExporter
    exporter = OtlpGrpcExporter(config) if protocol == "grpc" else OtlpHttpExporter(config)
    try:
        yield exporter
    finally:
        await exporter.shutdown()


def _with_scheme(endpoint: str) -> str:
    return endpoint if "://" in endpoint else f"http://{endpoint}"


async def test_500_values_of_one_gauge_arrive_with_their_own_times(
    protocol: Protocol, receiver: Receiver
) -> None:
    values = [i / 7 for i in range(500)]
    given = snapshot(gauge("rl.reward", values, {"rl.env": "math"}))

    async with exporting(protocol, receiver.endpoint) as exporter:
        result = await exporter.export(given)

    assert result == ExportResult()
    arrived = receiver.points("rl.reward")
    assert [point.value for point in arrived] == values
    assert [point.time_unix_nano for point in arrived] == [T0 + i * 10**9 for i in range(500)]
    assert arrived[0].resource == {"nemo.run.id": "run-1"}
    assert arrived[0].attributes == {"rl.env": "math"}


async def test_points_that_the_backend_rejects_are_counted(
    protocol: Protocol, receiver: Receiver
) -> None:
    receiver.script(PartialSuccess(3, "too old"), PartialSuccess(0, "slow down"))

    async with exporting(protocol, receiver.endpoint) as exporter:
        results = [await exporter.export(_ONE) for _ in range(3)]

    assert results == [ExportResult(3, "too old"), ExportResult(0, "slow down"), ExportResult()]


@pytest.mark.parametrize("compression", ["none", "gzip"])
async def test_headers_arrive_and_the_message_is_the_same_with_compression(
    protocol: Protocol, receiver: Receiver, compression: str
) -> None:
    headers = {"X-Tenant": "one", "authorization": "Bearer geheim"}

    async with exporting(
        protocol, receiver.endpoint, headers=headers, compression=compression
    ) as exporter:
        await exporter.export(_LARGE)

    assert receiver.requests == [to_request(_LARGE)]
    (arrived,) = receiver.headers
    assert arrived["x-tenant"] == "one"
    assert arrived["authorization"] == "Bearer geheim"
    assert arrived["user-agent"].startswith("nemo-telemetry-actor")
    encodings = (arrived.get("content-encoding"), arrived.get("grpc-encoding"))
    assert ("gzip" in encodings) == (compression == "gzip" and protocol == "http/protobuf")


async def test_a_certificate_of_ones_own_is_trusted_and_no_other(
    protocol: Protocol, tls: Tls, other_tls: Tls
) -> None:
    with make_receiver(protocol, tls=tls) as receiver:
        endpoint = f"https://{receiver.endpoint.removeprefix('https://')}"
        trusted = exporting(protocol, endpoint, certificate=str(tls.certificate))
        untrusted = exporting(protocol, endpoint, certificate=str(other_tls.certificate))
        async with trusted as exporter, untrusted as refusing:
            await exporter.export(_ONE)
            with pytest.raises(RetryableExportError):
                await refusing.export(_ONE)

    assert len(receiver.points("x")) == 1


async def test_a_backend_that_wants_a_client_certificate_gets_ours(
    protocol: Protocol, tls: Tls, other_tls: Tls
) -> None:
    mutual = Tls(tls.key, tls.certificate, client_ca=other_tls.certificate)
    with make_receiver(protocol, tls=mutual) as receiver:
        endpoint = f"https://{receiver.endpoint.removeprefix('https://')}"
        known = exporting(
            protocol,
            endpoint,
            certificate=str(tls.certificate),
            client_certificate=str(other_tls.certificate),
            client_key=str(other_tls.key),
        )
        unknown = exporting(protocol, endpoint, certificate=str(tls.certificate), timeout_s=3.0)
        async with known as exporter, unknown as refused:
            await exporter.export(_ONE)
            with pytest.raises(RetryableExportError):
                await refused.export(_ONE)

    assert len(receiver.points("x")) == 1


async def test_a_certificate_file_that_is_missing_can_come_later(
    protocol: Protocol, tls: Tls, tmp_path: Path
) -> None:
    late = tmp_path / "late.pem"
    with make_receiver(protocol, tls=tls) as receiver:
        endpoint = f"https://{receiver.endpoint.removeprefix('https://')}"
        async with exporting(protocol, endpoint, certificate=str(late)) as exporter:
            with pytest.raises(RetryableExportError):
                await exporter.export(_ONE)
            late.write_bytes(tls.certificate.read_bytes())
            await exporter.export(_ONE)

    assert len(receiver.points("x")) == 1


async def test_a_dead_port_is_retryable_and_known_at_once(protocol: Protocol) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{unused.getsockname()[1]}"
        async with exporting(protocol, endpoint, timeout_s=20.0) as exporter:
            began = time.monotonic()
            with pytest.raises(RetryableExportError):
                await exporter.export(_ONE)
            took_s = time.monotonic() - began

    assert took_s < 5.0


async def test_a_backend_that_hangs_costs_the_timeout_and_not_the_loop(
    protocol: Protocol, receiver: Receiver
) -> None:
    receiver.script(Hang())

    async with exporting(protocol, receiver.endpoint, timeout_s=0.3) as exporter:
        began = time.monotonic()
        export = asyncio.create_task(exporter.export(_ONE))
        turns = 0
        while not export.done():
            await asyncio.wait([export], timeout=0.05)
            turns += 1
        took_s = time.monotonic() - began

    with pytest.raises(RetryableExportError):
        export.result()
    assert 0.3 <= took_s < 3.0
    assert turns >= 3


async def test_a_backend_that_comes_back_is_used_at_once(protocol: Protocol) -> None:
    with make_receiver(protocol) as first:
        async with exporting(protocol, first.endpoint) as exporter:
            await exporter.export(_ONE)
            first.stop()
            for _ in range(3):
                with pytest.raises(RetryableExportError):
                    await exporter.export(_ONE)
            with make_receiver(protocol, port=first.port) as second:
                await exporter.export(_ONE)

    assert len(second.points("x")) == 1


@pytest.mark.parametrize("compression", ["none", "gzip"])
async def test_a_message_too_large_for_the_backend_is_told_apart(
    protocol: Protocol, compression: str
) -> None:
    with make_receiver(protocol, max_message_bytes=100_000) as receiver:
        async with exporting(protocol, receiver.endpoint, compression=compression) as exporter:
            with pytest.raises(MessageTooLargeError):
                await exporter.export(_LARGE)
            await exporter.export(_ONE)

    assert len(receiver.points("x")) == 1


async def test_an_exporter_works_again_after_shutdown_and_a_second_one_does_nothing(
    protocol: Protocol, receiver: Receiver
) -> None:
    async with exporting(protocol, receiver.endpoint) as exporter:
        await exporter.shutdown()
        await exporter.export(_ONE)
        await exporter.shutdown()
        await exporter.shutdown()

    assert len(receiver.points("x")) == 1


async def test_a_shutdown_ends_an_export_in_flight_as_retryable(
    protocol: Protocol, receiver: Receiver
) -> None:
    receiver.script(Hang())

    async with exporting(protocol, receiver.endpoint) as exporter:
        export = asyncio.create_task(exporter.export(_ONE))
        assert await asyncio.to_thread(receiver.wait_for_points, "x", 1)
        await exporter.shutdown()
        with pytest.raises(RetryableExportError):
            await export


async def test_a_cancelled_export_is_cancelled_and_the_next_one_works(
    protocol: Protocol, receiver: Receiver
) -> None:
    receiver.script(Hang())

    async with exporting(protocol, receiver.endpoint) as exporter:
        export = asyncio.create_task(exporter.export(_ONE))
        assert await asyncio.to_thread(receiver.wait_for_points, "x", 1)
        export.cancel()
        with pytest.raises(asyncio.CancelledError):
            await export
        await exporter.export(_ONE)

    assert len(receiver.points("x")) == 2
