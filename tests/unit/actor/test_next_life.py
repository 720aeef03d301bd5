# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A core that is killed and one that goes on from its state: what backends get of both."""

import logging
from pathlib import Path
from typing import Any

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.client.identity import fresh_run_id, new_client_id
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.errors import ActorUnavailableError, RetryableExportError
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import sum_delta
from tests.clients import COUNTER, DRIVER, GAUGE, HISTOGRAM, WORKER, Client


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "nemo_telemetry_actor")


def life(path: Path, exporter: InMemoryExporter, clock: FakeClock) -> TelemetryCore:
    """A core on the state that lives before it have left; the one before is just dropped."""
    return TelemetryCore(
        TelemetryConfig(),
        [exporter],
        time_ns=clock.time_ns,
        monotonic=clock.monotonic,
        incarnation=new_client_id(),
        fresh_run_id=fresh_run_id,
        durability=Durability(path, monotonic=clock.monotonic, time_unix_nano=clock.time_ns()),
    )


def points(exporter: InMemoryExporter, name: str) -> list[Any]:
    return [*exporter.points(name)]


def refuses_once() -> InMemoryExporter:
    return InMemoryExporter(outcomes=[RetryableExportError("down")])


async def test_totals_that_were_not_exported_before_a_kill_are_exported_after_it(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    first = life(tmp_path / "s", InMemoryExporter(), clock)
    Client(first, WORKER).send(COUNTER, HISTOGRAM)
    first.commit()
    exporter = InMemoryExporter()

    second = life(tmp_path / "s", exporter, clock)
    await second.deliveries[0].run_once()

    assert [point.value for point in points(exporter, "rl.steps")] == [3.0]
    assert [point.count for point in points(exporter, "rl.time")] == [2]


async def test_an_ended_run_is_kept_after_a_kill_until_its_totals_are_exported(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    first = life(tmp_path / "s", InMemoryExporter(), clock)
    Client(first, DRIVER, opens_run=True).send(COUNTER, closing="run")
    first.commit()
    exporter = refuses_once()

    second = life(tmp_path / "s", exporter, clock)
    clock.advance(200.0)
    second.tick()
    assert not await second.deliveries[0].run_once()
    clock.advance(200.0)
    second.tick()
    assert await second.deliveries[0].run_once()

    assert [point.value for point in points(exporter, "rl.steps")] == [3.0]


async def test_a_backend_that_was_down_from_the_start_gets_what_waited_through_a_kill(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    down = refuses_once()
    first = life(tmp_path / "s", down, clock)
    Client(first, WORKER).send(GAUGE)
    first.commit()
    assert not await first.deliveries[0].run_once()
    exporter = InMemoryExporter()

    second = life(tmp_path / "s", exporter, clock)
    await second.deliveries[0].run_once()

    assert [point.value for point in points(exporter, "rl.reward")] == [1.0, 2.0]


async def test_a_start_time_that_was_committed_stays_whatever_comes_after_a_kill(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    later = MetricBlock(COUNTER.declaration, [sum_delta(1.0, at_s=-5)])
    sooner = MetricBlock(COUNTER.declaration, [sum_delta(1.0, at_s=-50)])
    first = InMemoryExporter()
    core = life(tmp_path / "s", first, clock)
    client = Client(core, WORKER)
    client.send(later)
    core.commit()
    await core.deliveries[0].run_once()
    exporter = InMemoryExporter()

    client.core = life(tmp_path / "s", exporter, clock)
    client.send(sooner)
    client.core.commit()
    await client.core.deliveries[0].run_once()

    (before,), (after,) = points(first, "rl.steps"), points(exporter, "rl.steps")
    assert after.value == 2.0
    assert after.start_time_unix_nano == before.start_time_unix_nano


async def test_what_is_sent_to_an_actor_that_ends_is_left_to_the_client(tmp_path: Path) -> None:
    exporter = InMemoryExporter()
    core = life(tmp_path / "s", exporter, FakeClock())
    client = Client(core, WORKER)
    client.send(COUNTER)

    await core.drain(timeout_s=5.0)
    late = client.send(COUNTER)
    with pytest.raises(ActorUnavailableError):
        client.join()

    assert late.status == "unknown_client"
    assert [point.value for point in points(exporter, "rl.steps")] == [3.0]
    assert core.series(names=["rl.steps"])[0]["value"] == 3.0
