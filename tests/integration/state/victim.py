# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A process that commits as fast as it can until it is killed, and what it leaves behind."""

import asyncio
import os
from pathlib import Path

from nemo_telemetry_actor.registry.series import HistogramSeries, SumSeries
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import declared, gauge_points, histogram_delta, sum_delta
from tests.clients import WORKER, Client
from tests.lives import durability_of, life

REWARD, STEPS = declared("rl.reward"), declared("rl.steps", "counter")
TIME = declared("rl.time", "histogram")

_POINTS_A_STEP = 50  # so that a transaction takes a while


def commit_until_killed(path: Path, acknowledged: Path) -> None:
    """Go on from the state; after each commit write its number where a kill cannot take it.

    An exporter takes what is there now and then, so that cursors move and points go; every tick
    compacts the file.
    """
    asyncio.run(_commit_until_killed(path, acknowledged))


async def _commit_until_killed(path: Path, acknowledged: Path) -> None:
    answers = os.open(acknowledged, os.O_WRONLY | os.O_CREAT)
    core = life(path, clock := FakeClock(), [exporter := InMemoryExporter()])
    before = core._registry.producers.get(WORKER)
    first = before.window.state()[0] if before is not None else 0
    client = Client(core, WORKER, run_id="r", first_sequence=first)
    client.sequence = first
    while True:
        number = client.sequence
        client.send(
            MetricBlock(REWARD, [gauge_points([float(number)] * _POINTS_A_STEP)]),
            MetricBlock(STEPS, [sum_delta(1.0, at_s=number)]),
            MetricBlock(TIME, [histogram_delta([1, 0, 0], 0.5, 0.5, 0.5, at_s=number)]),
        )
        core.commit()
        os.pwrite(answers, (number + 1).to_bytes(8, "big"), 0)
        if number % 7 == 6:
            await core.deliveries[0].run_once()
            exporter.snapshots.clear()
            clock.advance(11.0)
            core.tick()


def number_in(acknowledged: Path) -> int:
    """How many commits were acknowledged in all."""
    return int.from_bytes(acknowledged.read_bytes() or b"\0", "big") if acknowledged.exists() else 0


def survivors(path: Path) -> dict[str, object]:
    """What the state holds after a kill, as the numbers that must agree; opened and closed."""
    core = life(path, FakeClock(), [InMemoryExporter()])
    producer = core._registry.producers.get(WORKER)
    found: dict[str, object] = {"problems": durability_of(core).problems, "steps": 0}
    if producer is not None and producer.metrics:
        (total,) = producer.metrics[STEPS].series.values()
        (histogram,) = producer.metrics[TIME].series.values()
        assert isinstance(total, SumSeries)
        assert isinstance(histogram, HistogramSeries)
        waiting = core._log.read(core.deliveries[0].position, 1_000_000).columns
        values = [value for column in waiting for value in column.values]
        steps = int(total.total)
        delivered = core.deliveries[0].position // _POINTS_A_STEP
        expected = [float(n) for n in range(delivered, steps) for _ in range(_POINTS_A_STEP)]
        found |= {
            "steps": steps,
            "observations": histogram.count,
            "start": (total.start_time_unix_nano, histogram.start_time_unix_nano),
            "window": producer.window.state(),
            "accepted": producer.accepted,
            "head": core._log.head,
            "points are in order": values == expected,
        }
    asyncio.run(durability_of(core).close(remove=False))
    return found
