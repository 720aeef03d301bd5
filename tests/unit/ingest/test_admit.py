# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
import math

import pytest

from nemo_telemetry_actor.wire.messages import (
    GaugePoints,
    HistogramDelta,
    MetricBlock,
    SumDelta,
    encode,
)
from tests.batches import (
    batch,
    declared,
    gauge_points,
    hello,
    histogram_delta,
    observed,
    sum_delta,
)
from tests.snapshots import T0
from tests.unit.ingest.world import (
    COUNTER,
    GAUGE,
    HISTOGRAM,
    OVERFLOW,
    SEEN,
    UP_DOWN,
    World,
)


@pytest.fixture
def world() -> World:
    return World()


def test_a_batch_is_applied_once(world: World) -> None:
    message = batch(0, MetricBlock(COUNTER, [sum_delta(2.0)]))

    for _ in range(3):
        world.admission.apply(world.producer, message, T0)

    assert world.values(COUNTER) == {(): 2.0}
    assert world.admission.duplicates == 2
    assert world.producer.accepted == world.admission.accepted == 1


def test_every_value_of_a_gauge_is_kept_for_delivery(world: World) -> None:
    world.send(MetricBlock(GAUGE, [gauge_points([1.0, 2.0]), gauge_points([3.0], {"k": 1})]))

    assert world.account() == (3, {})
    assert world.logged() == [("rl.reward", [1.0, 2.0]), ("rl.reward", [3.0])]


def test_nothing_is_kept_where_nobody_reads() -> None:
    world = World(keep_points=False)

    world.send(MetricBlock(GAUGE, [gauge_points([1.0])]), observed(SEEN, 1, {"x": 1.0}))

    assert world.logged() == []
    assert world.account() == (2, {})
    assert len(world.producer.metrics[SEEN].observed) == 1


# ---- what is wrong costs its block alone


@pytest.mark.parametrize(
    ("declaration", "points"),
    [
        (GAUGE, sum_delta(1.0)),
        (GAUGE, GaugePoints(b"\x90", [T0], [])),
        (GAUGE, GaugePoints(b"\x90", [], [])),
        (GAUGE, GaugePoints(b"\x90", [0], [1.0])),
        (GAUGE, GaugePoints(b"\x90", [-1], [1.0])),
        (GAUGE, GaugePoints(b"\x90", [2**63], [1.0])),
        (GAUGE, GaugePoints(b"\x90", [T0, T0 + 1], [1.0, math.nan])),
        (GAUGE, GaugePoints(b"\x90", [T0], [math.inf])),
        (GAUGE, GaugePoints(b"", [T0], [1.0])),
        (GAUGE, GaugePoints(b"\x91\xa1a", [T0], [1.0])),
        (GAUGE, GaugePoints(b"\x94\xa1a\x01\xa1a\x02", [T0], [1.0])),
        (GAUGE, GaugePoints(b"\x94\xa1b\x01\xa1a\x02", [T0], [1.0])),
        (GAUGE, GaugePoints(b"\x92\xa0\x01", [T0], [1.0])),
        (GAUGE, GaugePoints(b"\x92\xa1a\xc0", [T0], [1.0])),
        (GAUGE, GaugePoints(b"\x91" * 10_000, [T0], [1.0])),
        (COUNTER, gauge_points([1.0])),
        (COUNTER, sum_delta(-1.0)),
        (COUNTER, sum_delta(math.nan)),
        (COUNTER, SumDelta(b"\x90", 1.0, 0, T0)),
        (COUNTER, SumDelta(b"\x90", 1.0, T0, 2**64 - 1)),
        (UP_DOWN, sum_delta(-math.inf)),
        (HISTOGRAM, sum_delta(1.0)),
        (HISTOGRAM, histogram_delta([1, 0], 1.0, 1.0, 1.0)),
        (HISTOGRAM, histogram_delta([], 1.0, 1.0, 1.0)),
        (HISTOGRAM, histogram_delta([0, 0, 0], 0.0, 0.0, 0.0)),
        (HISTOGRAM, histogram_delta([2, -1, 0], 1.0, 1.0, 1.0)),
        (HISTOGRAM, histogram_delta([2**63, 0, 0], 1.0, 1.0, 1.0)),
        (HISTOGRAM, histogram_delta([1, 0, 0], math.nan, 1.0, 1.0)),
        (HISTOGRAM, histogram_delta([1, 0, 0], 1.0, -math.inf, 1.0)),
        (HISTOGRAM, histogram_delta([1, 0, 0], 1.0, 1.0, 0.5)),
        (HISTOGRAM, HistogramDelta(b"\x90", [1, 0, 0], 1.0, 1.0, 1.0, -5, T0)),
    ],
)
def test_malformed_points_are_dropped_alone(
    world: World, declaration: bytes, points: GaugePoints | SumDelta | HistogramDelta
) -> None:
    good = MetricBlock(declared("rl.good"), [gauge_points([1.0])])
    size = len(points.values) if isinstance(points, GaugePoints) else 1

    world.send(good, MetricBlock(declaration, [points]), good)

    assert world.account() == (2, {"bad_value": size})
    assert list(world.producer.metrics) == [declared("rl.good")]
    assert world.registry.series_count == 1


@pytest.mark.parametrize(
    "declaration",
    [
        b"",
        b"\xc1",
        b"\x91" * 10_000,
        encode(gauge_points([1.0])),
        declared("1"),
        declared("x" * 300),
        declared("rl.reward", unit="ü"),
        declared("rl.reward", unit="u" * 64),
        declared("target_info"),
        SEEN,
        b"\x95\xa1a\xa9histogram\xa0\xa0\x92\x02\x01",
        b"\x95\xa1a\xa9histogram\xa0\xa0\x91\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",
    ],
)
def test_what_is_not_properly_declared_is_dropped_alone(world: World, declaration: bytes) -> None:
    good = MetricBlock(GAUGE, [gauge_points([1.0])])
    bad = MetricBlock(declaration, [gauge_points([1.0, 2.0]), gauge_points([3.0], {"k": 1})])

    world.send(good, bad)

    assert world.account() == (1, {"undeclared": 3})
    assert list(world.producer.metrics) == [GAUGE]


def test_points_beside_a_malformed_one_of_the_same_metric_are_taken(world: World) -> None:
    world.send(MetricBlock(COUNTER, [sum_delta(1.0), sum_delta(-1.0), sum_delta(2.0, {"k": 1})]))

    assert world.account() == (2, {"bad_value": 1})
    assert world.values(COUNTER) == {(): 1.0, (("k", 1),): 2.0}


def test_a_total_never_leaves_the_numbers(world: World) -> None:
    huge = histogram_delta([2**63 - 1, 0, 0], 1.0, 1.0, 1.0)

    world.send(
        MetricBlock(COUNTER, [sum_delta(1.7e308), sum_delta(1.7e308), sum_delta(1.0)]),
        MetricBlock(HISTOGRAM, [huge, huge]),
    )

    assert world.account() == (3, {"bad_value": 2})
    assert world.values(COUNTER) == {(): 1.7e308}


def test_a_metric_whose_prometheus_name_is_taken_is_refused(world: World) -> None:
    world.send(MetricBlock(declared("rl.step.time", unit="s"), [gauge_points([1.0])]))
    world.send(MetricBlock(declared("rl.step.time.seconds"), [gauge_points([1.0, 2.0])]))
    world.send(MetricBlock(declared("rl.step.time", "counter", "s"), [sum_delta(1.0)]))
    world.send(observed(declared("rl_step_time", "observable_gauge", "s"), 1, {"x": 1.0}))

    assert world.account() == (1, {"undeclared": 4})
    assert len(world.producer.metrics) == 1


def test_the_same_name_in_another_run_is_no_collision(world: World) -> None:
    world.send(MetricBlock(declared("rl.step.time", unit="s"), [gauge_points([1.0])]))
    other = world.registry.join(hello("b" * 32, run_id="other"), T0, 0.0)

    block = MetricBlock(declared("rl.step.time.seconds"), [gauge_points([1.0])])
    world.admission.apply(other, batch(0, block, client_id="b" * 32), T0)

    assert world.account() == (2, {})


# ---- cardinality


def test_one_place_is_kept_for_the_series_that_takes_the_rest() -> None:
    world = World(series_per_metric=3)

    world.send(MetricBlock(COUNTER, [sum_delta(1.0, {"k": i}) for i in range(5)]))
    world.send(MetricBlock(COUNTER, [sum_delta(10.0, {"k": i}) for i in range(5)]))

    assert world.values(COUNTER) == {
        (("k", 0),): 11.0,
        (("k", 1),): 11.0,
        (("otel.metric.overflow", True),): 33.0,
    }
    assert world.account() == (10, {})
    assert world.registry.series_count == 3


def test_the_clients_own_overflow_takes_no_place_of_another() -> None:
    world = World(series_per_metric=3)

    world.send(MetricBlock(COUNTER, [sum_delta(5.0, OVERFLOW)]))
    world.send(MetricBlock(COUNTER, [sum_delta(1.0, {"k": i}) for i in range(3)]))

    assert world.values(COUNTER) == {
        (("otel.metric.overflow", True),): 6.0,
        (("k", 0),): 1.0,
        (("k", 1),): 1.0,
    }


def test_with_one_place_everything_is_overflow() -> None:
    world = World(series_per_metric=1)

    world.send(MetricBlock(GAUGE, [gauge_points([1.0]), gauge_points([2.0], {"k": 1}, first_s=1)]))
    world.send(MetricBlock(HISTOGRAM, [histogram_delta([1, 0, 0], 1.0, 1.0, 1.0)]))

    assert world.values(GAUGE) == {(("otel.metric.overflow", True),): 2.0}
    assert world.registry.series_count == 2


def test_all_metrics_together_keep_the_limit() -> None:
    world = World(series=3)

    world.send(MetricBlock(COUNTER, [sum_delta(1.0, OVERFLOW), sum_delta(1.0, {"k": 1})]))
    world.send(MetricBlock(UP_DOWN, [sum_delta(1.0), sum_delta(2.0, {"k": 1})]))
    world.send(MetricBlock(COUNTER, [sum_delta(1.0, {"k": 2})]))
    world.send(MetricBlock(GAUGE, [gauge_points([1.0, 2.0])]), observed(SEEN, 1, {"x": 1.0}))

    assert world.account() == (4, {"cardinality_limit": 4})
    assert world.registry.series_count == 3
    assert world.values(COUNTER) == {(("otel.metric.overflow", True),): 2.0, (("k", 1),): 1.0}


def test_attributes_that_cannot_be_read_are_no_overflow() -> None:
    world = World(series_per_metric=1)

    world.send(MetricBlock(GAUGE, [GaugePoints(b"\x91\xa1a", [T0], [1.0])]))

    assert world.account() == (0, {"bad_value": 1})


# ---- start times


def test_a_total_starts_no_later_than_now(world: World) -> None:
    world.send(MetricBlock(COUNTER, [sum_delta(1.0, at_s=3600)]), now=T0)
    world.send(
        MetricBlock(HISTOGRAM, [histogram_delta([1, 0, 0], 1.0, 1.0, 1.0, at_s=3600)]), now=T0
    )

    for declaration in (COUNTER, HISTOGRAM):
        (series,) = world.producer.metrics[declaration].series.values()
        assert series.start_time_unix_nano == T0  # type: ignore[union-attr]


# ---- what is said


def test_each_reason_is_told_once_a_run(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for i in range(3):
            world.send(MetricBlock(COUNTER, [sum_delta(-1.0 - i)]))
        world.producer = world.registry.join(hello("a" * 32, run_id="other"), T0, 0.0)
        world.send(MetricBlock(COUNTER, [sum_delta(-1.0)]))

    why = "rl.steps: what is to be added is negative or not finite"
    assert [record.getMessage() for record in caplog.records] == [
        f"1 values of run {run}, client aaaaaaaa are dropped (bad_value): {why}"
        for run in ("r", "other")
    ]


def test_what_is_said_is_bounded(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for i in range(1000):
            block = MetricBlock(declared(f"{i} {'x' * 10_000}"), [gauge_points([1.0])])
            world.send(block)

    assert len(caplog.records) == 200
    assert max(len(record.getMessage()) for record in caplog.records) < 400
