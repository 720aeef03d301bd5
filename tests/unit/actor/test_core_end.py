# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.config.fields import LimitsConfig, TelemetryConfig
from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.points import Snapshot
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter, new_core
from nemo_telemetry_actor.wire.messages import (
    MetricBlock,
)
from tests.batches import (
    declared,
    gauge_points,
    observed,
)
from tests.clients import (
    COUNTER,
    GAUGE,
    HISTOGRAM,
    LEASE_S,
    OTHER,
    SEEN,
    join_driver,
    join_worker,
    pass_time,
    run_states,
)
from tests.clocks import run_at_once


class Hanging(InMemoryExporter):
    """Answers neither exports nor its shutdown."""

    async def export(self, snapshot: Snapshot) -> ExportResult:
        await asyncio.Event().wait()
        return ExportResult()

    async def shutdown(self) -> None:
        self.is_shut_down = True
        await asyncio.Event().wait()


class SetBack(FakeClock):
    """Somebody sets the wall clock."""

    set_back_s = 0

    def time_ns(self) -> int:
        return super().time_ns() - self.set_back_s * 10**9


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def exporter() -> InMemoryExporter:
    return InMemoryExporter()


@pytest.fixture
def core(clock: FakeClock, exporter: InMemoryExporter) -> TelemetryCore:
    return new_core(exporters=[exporter], clock=clock)


# ---- memory


async def test_nothing_is_left_of_a_run_that_is_over_and_exported(
    core: TelemetryCore, clock: FakeClock
) -> None:
    for i in range(20):
        run_id = f"run-{i}"
        driver = join_driver(core, f"{i:032x}", run_id=run_id, job_id=f"{i:08x}")
        worker = join_worker(core, f"{i + 100:032x}", run_id="", job_id=f"{i:08x}")
        worker.send(GAUGE, COUNTER, HISTOGRAM, observed(SEEN, 1, {"x": 1.0}))
        driver.send(GAUGE, closing="run")
        core.tick()
        await core.deliveries[0].run_once()

    pass_time(core, clock, 3 * LEASE_S)

    state = core.state()
    assert (state["runs"], state["clients"]) == ([], [])
    assert state["ingest"]["series"] == 0
    assert state["ingest"]["accepted"] == 20 * 7
    assert state["exporters"][0]["backlog_points"] == 0


async def test_a_run_waits_for_an_exporter_that_is_down(clock: FakeClock) -> None:
    down = InMemoryExporter("down", outcomes=[RetryableExportError("refused to connect")] * 3)
    core = new_core(exporters=[down, InMemoryExporter("up")], clock=clock)
    join_worker(core).send(COUNTER, GAUGE)
    core.commit()
    for _ in range(3):
        assert [await each.run_once() for each in core.deliveries] == [False, True]
        pass_time(core, clock, 4 * LEASE_S)

    assert run_states(core) == {"r": "ended"}
    assert await core.deliveries[0].run_once()
    core.tick()

    assert len(down.points("rl.reward")) == 2
    assert len(down.points("rl.steps")) == 1
    assert run_states(core) == {}


async def test_a_backlog_is_bounded_and_what_is_lost_is_counted(clock: FakeClock) -> None:
    config = TelemetryConfig(limits=LimitsConfig(backlog_points=5))
    exporter = InMemoryExporter(outcomes=[RetryableExportError("refused to connect")])
    core = new_core(exporters=[exporter], config=config, clock=clock)
    worker = join_worker(core)
    for i in range(4):
        worker.send(MetricBlock(declared("rl.reward"), [gauge_points([0, 1], first_s=2 * i)]))
        core.commit()
        await core.deliveries[0].run_once()

    clock.advance(10.0)
    await core.deliveries[0].run_once()

    assert len(exporter.points("rl.reward")) == 5
    assert core.state()["exporters"][0]["dropped"] == {"queue_full": 3}


async def test_totals_of_an_open_run_are_repeated_and_of_an_ended_one_not(
    core: TelemetryCore, exporter: InMemoryExporter, clock: FakeClock
) -> None:
    one, two = join_driver(core, run_id="one"), join_driver(core, OTHER, run_id="two")
    one.send(COUNTER)
    two.send(COUNTER)
    core.commit()
    await core.deliveries[0].run_once()
    two.send(closing="run")

    clock.advance(60.0)
    await core.deliveries[0].run_once()

    exported = [
        resource.attributes["nemo.run.id"]
        for snapshot in exporter.snapshots
        for resource in snapshot.resources
    ]
    assert exported == ["one", "two", "one"]


async def test_the_time_of_totals_goes_on_although_the_clock_is_set_back(
    exporter: InMemoryExporter,
) -> None:
    clock = SetBack()
    core = new_core(exporters=[exporter], clock=clock)
    worker = join_worker(core)
    for clock.set_back_s in (0, 3600, 7200):
        worker.send(COUNTER)
        core.commit()
        await core.deliveries[0].run_once()

    times = [point.time_unix_nano for point in exporter.points("rl.steps")]
    assert len(times) == 3
    assert times == sorted(set(times))


# ---- the end


def test_a_drain_commits_delivers_and_releases(clock: FakeClock) -> None:
    exporters = [InMemoryExporter("one"), InMemoryExporter("two")]
    core = new_core(exporters=exporters, clock=clock)
    join_worker(core).send(GAUGE, COUNTER)

    report = run_at_once(clock, core.drain(5.0))

    assert report["delivered"] is True
    assert report["clients"] == 1
    for exporter in exporters:
        assert len(exporter.points("rl.reward")) == 2
        assert len(exporter.points("rl.steps")) == 1
        assert exporter.is_shut_down


def test_a_drain_keeps_its_time_although_an_exporter_hangs(clock: FakeClock) -> None:
    hanging, exporter = Hanging("hanging"), InMemoryExporter("fine")
    core = new_core(exporters=[hanging, exporter], clock=clock)
    join_worker(core).send(GAUGE)
    begun_s = clock.monotonic()

    report = run_at_once(clock, core.drain(5.0))

    assert clock.monotonic() - begun_s <= 6.01
    assert report["delivered"] is False
    assert [each["delivered"] for each in report["exporters"]] == [False, True]
    assert len(exporter.points("rl.reward")) == 2
    assert hanging.is_shut_down


def test_a_drain_tries_again_within_its_time(clock: FakeClock) -> None:
    outcomes = [RetryableExportError("refused to connect")] * 2
    exporter = InMemoryExporter(outcomes=outcomes)
    core = new_core(exporters=[exporter], clock=clock)
    join_worker(core).send(GAUGE)

    assert run_at_once(clock, core.drain(10.0))["delivered"] is True
    assert len(exporter.points("rl.reward")) == 2


def test_a_drain_without_exporters_is_done(clock: FakeClock) -> None:
    assert run_at_once(clock, new_core(clock=clock).drain(1.0)) == {
        "delivered": True,
        "exporters": [],
        "clients": 0,
    }
