# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
from typing import Any

from nemo_telemetry_actor.client.buffer import MeasurementBuffer
from nemo_telemetry_actor.client.fold import Fold
from nemo_telemetry_actor.client.groups import SELF_GROUP, GroupRegistry
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.client.intake import Intake
from nemo_telemetry_actor.client.placements import Placements
from nemo_telemetry_actor.model.instrument import MetricSpec, Observation, Scope
from nemo_telemetry_actor.testing import FakeClock
from nemo_telemetry_actor.wire.messages import WIRE_VERSION, GaugePoints, Welcome

log = logging.getLogger("nemo_telemetry_actor.tests")
SPECS = (
    MetricSpec("score", "rl.score"),
    MetricSpec("live", "rl.live", "observable_gauge", callback=lambda _: [Observation(1.0)]),
)


class Bench:
    def __init__(self, capacity: int = 1000) -> None:
        groups = GroupRegistry(Scope())
        self.group = groups.register("env", SPECS)
        guard = Guard(log, FakeClock().monotonic, strict=True)
        self.buffer = MeasurementBuffer(capacity)
        self.fold = Fold(groups.groups[SELF_GROUP], guard, capacity=capacity, series_per_metric=10)
        self.intake = Intake(self.buffer, self.fold, groups, Placements(), guard)

    def record(self, values: dict[str, float]) -> bool:
        return self.buffer.append((self.group, values, None, 1))

    def taken(self) -> list[float]:
        return [
            value
            for blocks in self.intake.take()
            for block in blocks
            for points in block.points
            if isinstance(points, GaugePoints)
            for value in points.values
        ]


def test_all_that_waits_is_folded() -> None:
    bench = Bench()
    for value in range(600):
        bench.record({"score": float(value)})

    bench.intake.fold_all()

    assert bench.taken() == [float(value) for value in range(600)]


def test_relief_folds_a_bounded_slice_and_loses_nothing() -> None:
    bench = Bench()
    for value in range(300):
        bench.record({"score": float(value)})

    bench.intake.relieve()

    assert len(bench.buffer) == 300 - 256
    bench.intake.fold_all()
    assert bench.taken() == [float(value) for value in range(300)]


def test_waiting_counts_what_is_in_the_buffer_and_what_is_folded() -> None:
    bench = Bench()
    for _ in range(300):
        bench.record({"score": 1.0})
    bench.intake.relieve()

    assert bench.intake.waiting == 300


def test_whoever_records_faster_than_it_folds_cannot_hold_it() -> None:
    bench = Bench()

    class Endless(dict[str, float]):
        def items(self) -> Any:
            bench.record(self)
            return super().items()

    bench.record(Endless(score=1.0))

    bench.intake.fold_all()

    assert bench.taken() == [1.0]
    assert len(bench.buffer) == 1


def test_after_folding_the_buffer_reports_at_half_its_capacity() -> None:
    bench = Bench(capacity=8)
    bench.record({"score": 1.0})

    bench.intake.fold_all()

    assert [bench.record({"score": 1.0}) for _ in range(5)] == [False, False, False, True, True]


def test_observables_are_read_when_their_time_has_come_or_at_once() -> None:
    intake = Bench().intake

    read = [
        len(intake.observe(now_s, 10.0, at_once=at_once))
        for now_s, at_once in ((1.0, False), (10.9, False), (11.0, False), (12.0, True))
    ]

    assert read == [1, 0, 1, 1]


def test_a_welcome_sets_the_bounds_and_has_observables_read_at_once() -> None:
    bench = Bench()
    bench.intake.observe(1.0, 10.0, at_once=False)

    bench.intake.apply(Welcome(WIRE_VERSION, "r", "i", 1.0, 10.0, 64, 5, 90.0))

    assert (bench.buffer.capacity, bench.fold.capacity, bench.fold.series_per_metric) == (64, 64, 5)
    assert len(bench.intake.observe(1.1, 10.0, at_once=False)) == 1
