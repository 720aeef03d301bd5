# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated day: a run an hour, workers that come and go, a backend that is away for an hour."""

import gc
import tracemalloc
from pathlib import Path

import pytest

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.points import Snapshot
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import declared, gauge_points, histogram_delta, sum_delta
from tests.clients import Client
from tests.lives import durability_of, killed, life, remembered

STEP_S = 60
STEPS_AN_HOUR = 3600 // STEP_S
AWAY = 9  # the hour in which the backend is away
REWARDS = [declared(f"rl.reward.m{i}") for i in range(5)]


class Backend(InMemoryExporter):
    """Counts the points of gauges and keeps nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = False
        self.received = 0

    async def export(self, snapshot: Snapshot) -> ExportResult:
        if self.is_away:
            raise RetryableExportError("away", retry_after_s=STEP_S / 2)
        self.received += sum(
            len(metric.points)
            for resource in snapshot.resources
            for metric in resource.metrics
            if metric.declaration.kind == "gauge"
        )
        return ExportResult()


class Hour:
    """One run of an hour with two workers, the second of which is replaced every twenty minutes."""

    def __init__(self, core: TelemetryCore, number: int) -> None:
        self._core = core
        self._number = number
        self._driver = Client(core, f"d{number:031x}", run_id=f"run-{number}", opens_run=True)

    def step(self, number: int) -> int:
        """Record a step; return how many gauge points it had."""
        if number % 20 == 0:
            client_id = f"{self._number:016x}{number + 1:016x}"
            self._worker = Client(self._core, client_id, run_id=f"run-{self._number}")
        for client in (self._driver, self._worker):
            blocks = [MetricBlock(each, [gauge_points([0.5, 1.5])]) for each in REWARDS]
            client.send(
                *blocks,
                MetricBlock(declared("rl.steps", "counter"), [sum_delta(1.0)]),
                MetricBlock(
                    declared("rl.time", "histogram"), [histogram_delta([1, 0, 0], 1, 1, 1)]
                ),
            )
        if number % 20 == 19:
            self._worker.send(closing="client")
        if number == STEPS_AN_HOUR - 1:
            self._driver.send(closing="run")
        return 2 * 2 * len(REWARDS)


@pytest.mark.timeout(120)
async def test_file_and_memory_are_flat_through_a_day_with_an_hour_of_outage(
    tmp_path: Path,
) -> None:
    core = life(tmp_path / "state", clock := FakeClock(), [backend := Backend()])
    durability = durability_of(core)
    recorded, file_bytes, memory_bytes = 0, [], []
    tracemalloc.start()

    for hour in range(24):
        backend.is_away = hour == AWAY
        run = Hour(core, hour)
        for step in range(STEPS_AN_HOUR):
            recorded += run.step(step)
            core.commit()
            await core.deliveries[0].run_once()
            clock.advance(STEP_S)
            core.tick()
            assert durability._compaction is not None
            durability._compaction.join()
        gc.collect()
        file_bytes.append(durability.size_bytes)
        memory_bytes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    backlog_points = 2 * 2 * len(REWARDS) * STEPS_AN_HOUR
    quiet = [each for hour, each in enumerate(file_bytes) if hour not in {0, AWAY}]
    assert durability.problems == []
    assert backend.received == recorded
    assert max(quiet) < 600_000
    assert file_bytes[AWAY] > 10 * backlog_points
    # About 60 kB in all; one leaked client would be a tenth of it, every twenty minutes.
    assert max(memory_bytes[-6:]) < 1.1 * max(memory_bytes[AWAY + 2 : -6])
    assert max(memory_bytes[AWAY + 2 :]) < max(memory_bytes[2:AWAY]) + 50_000
    # And a restart at the end of the day has what the one that never stopped has.
    again = life(killed(tmp_path / "state", tmp_path / "copy" / "state"), clock, [Backend()])
    assert remembered(again) == remembered(core)
