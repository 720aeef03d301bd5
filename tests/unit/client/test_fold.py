# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.client import fold as fold_module
from nemo_telemetry_actor.client.fold import Fold
from nemo_telemetry_actor.client.groups import SELF_GROUP, BoundGroup, GroupRegistry
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.model.attributes import OVERFLOW_ATTRIBUTES, decode_attributes
from nemo_telemetry_actor.model.instrument import Declaration, MetricSpec, Scope
from nemo_telemetry_actor.testing import FakeClock
from nemo_telemetry_actor.wire.messages import (
    GaugePoints,
    HistogramDelta,
    MetricBlock,
    SumDelta,
    decode,
)

log = logging.getLogger("nemo_telemetry_actor.tests")

SPECS = (
    MetricSpec("score", "rl.env.score"),
    MetricSpec("tokens", "rl.env.tokens", "counter"),
    MetricSpec("balance", "rl.env.balance", "up_down_counter"),
    MetricSpec("wait", "rl.env.wait", "histogram", boundaries=(1.0, 2.0)),
    MetricSpec("live", "rl.env.live", "observable_gauge", callback=lambda _: ()),
)


class Bench:
    """A fold with one group, whose batches are read back."""

    def __init__(
        self, *, capacity: int = 100, series_per_metric: int = 10, strict: bool = False
    ) -> None:
        groups = GroupRegistry(Scope())
        self.group: BoundGroup = groups.register("env", SPECS)
        self.guard = Guard(log, FakeClock().monotonic, strict=strict)
        own = groups.groups[SELF_GROUP]
        self.fold = Fold(own, self.guard, capacity=capacity, series_per_metric=series_per_metric)
        self._time = 0

    def record(
        self, values: Mapping[Any, float], attributes: Mapping[Any, Any] | None = None
    ) -> None:
        self._time += 1
        self.fold.add((self.group, dict(values), attributes, self._time))

    def batches(self) -> list[list[MetricBlock]]:
        return self.fold.take(99)

    def taken(self) -> dict[tuple[str, str], Any]:
        """Name and attributes → the points, of one take."""
        return {
            (
                decode(block.declaration, Declaration).name,
                str(decode_attributes(points.attributes)),
            ): points
            for blocks in self.batches()
            for block in blocks
            for points in block.points
        }


def without_attributes(points: GaugePoints | SumDelta | HistogramDelta) -> tuple[Any, ...]:
    match points:
        case GaugePoints():
            return points.times_unix_nano, points.values
        case SumDelta():
            return points.delta, points.first_unix_nano, points.last_unix_nano
        case HistogramDelta():
            return points.counts, points.sum, points.min, points.max


def test_each_kind_is_folded_its_own_way() -> None:
    bench = Bench()

    bench.record({"score": 0.5, "tokens": 2.0, "balance": -1.0, "wait": 1.5})
    bench.record({"score": 0.7, "tokens": 3.0, "balance": 0.5, "wait": 9.0})

    taken = {name: without_attributes(points) for (name, _), points in bench.taken().items()}
    assert taken == {
        "rl.env.score": ([1, 2], [0.5, 0.7]),
        "rl.env.tokens": (5.0, 1, 2),
        "rl.env.balance": (-0.5, 1, 2),
        "rl.env.wait": ([0, 1, 1], 10.5, 1.5, 9.0),
    }


def test_what_was_taken_is_not_taken_again() -> None:
    bench = Bench()
    bench.record({"score": 0.5, "tokens": 1.0})
    bench.batches()

    assert bench.batches() == []
    assert bench.fold.pending == 0


def test_pending_counts_gauge_values_and_other_series() -> None:
    bench = Bench()
    for _ in range(3):
        bench.record({"score": 0.5, "tokens": 1.0, "wait": 1.0})

    assert bench.fold.pending == 5


def test_an_unknown_key_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()

    for _ in range(2):
        bench.record({"nope": 1.0, "score": 0.5})

    assert ([1, 2], [0.5, 0.5]) in map(without_attributes, bench.taken().values())
    assert caplog.text.count("has no key 'nope'") == 1


def test_recording_to_an_observable_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()

    bench.record({"live": 1.0})

    assert bench.guard.take_drops() == {"undeclared": 1}
    assert "its callback is read" in caplog.text


def test_a_counter_does_not_fall(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()

    bench.record({"tokens": 5.0})
    bench.record({"tokens": -1.0})

    assert bench.guard.take_drops() == {"bad_value": 1}
    assert without_attributes(bench.taken()["rl.env.tokens", "{}"]) == (5.0, 1, 1)
    assert "declare an up_down_counter" in caplog.text


def test_values_that_are_not_finite_are_counted_by_metric_and_change_nothing_else() -> None:
    bench = Bench()

    for value in (1.0, math.nan, 5.0):
        bench.record({"tokens": value})
    for value in (math.nan, 2.0):
        bench.record({"wait": value})
    bench.record({"score": math.inf})
    bench.record({"score": -math.inf})

    taken = {key: without_attributes(points) for key, points in bench.taken().items()}
    assert taken == {
        ("rl.env.tokens", "{}"): (6.0, 1, 3),
        ("rl.env.wait", "{}"): ([0, 1, 0], 2.0, 2.0, 2.0),
        ("nemo_telemetry.nonfinite", "{'rl.metric': 'rl.env.tokens'}"): (1.0, 2, 2),
        ("nemo_telemetry.nonfinite", "{'rl.metric': 'rl.env.wait'}"): (1.0, 4, 4),
        ("nemo_telemetry.nonfinite", "{'rl.metric': 'rl.env.score'}"): (2.0, 6, 7),
    }


@pytest.mark.parametrize(
    "attributes", [{"a": object()}, {1: "x"}, {"": "x"}, {"a": [1, "x"]}, {"a": [[1]]}, {"a": None}]
)
def test_bad_attributes_leave_the_value_without_attributes(
    attributes: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench()

    for _ in range(2):
        bench.record({"score": 0.5}, attributes)

    assert without_attributes(bench.taken()["rl.env.score", "{}"]) == ([1, 2], [0.5, 0.5])
    assert caplog.text.count("recorded without them") == 1


def test_empty_attributes_are_no_attributes() -> None:
    bench = Bench()

    bench.record({"score": 0.5}, {})
    bench.record({"score": 0.6})

    assert list(bench.taken()) == [("rl.env.score", "{}")]


def test_attributes_of_other_types_are_other_series_and_those_of_numpy_are_not() -> None:
    bench = Bench()

    for value in (1, True, 1.0, "1", np.int64(1), np.bool_(True), np.float64(1.0), np.str_("1")):
        bench.record({"tokens": 1.0}, {"a": value})

    assert {key[1]: points.delta for key, points in bench.taken().items()} == {
        "{'a': 1}": 2.0,
        "{'a': True}": 2.0,
        "{'a': 1.0}": 2.0,
        "{'a': '1'}": 2.0,
    }


def test_the_order_of_attributes_does_not_matter() -> None:
    bench = Bench()

    bench.record({"tokens": 1.0}, {"a": "x", "b": "y"})
    bench.record({"tokens": 1.0}, {"b": "y", "a": "x"})

    assert [points.delta for points in bench.taken().values()] == [2.0]


def test_text_of_any_script_and_broken_text_can_be_an_attribute() -> None:
    bench = Bench()

    bench.record({"score": 1.5}, {"k": "unié漢", "s": "\ud800"})

    assert list(bench.taken()) == [("rl.env.score", "{'k': 'unié漢', 's': '?'}")]


def test_attribute_sets_beyond_the_limit_share_the_overflow_series(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(series_per_metric=3)

    for _ in range(2):
        for index in range(5):
            bench.record({"tokens": 1.0}, {"i": index})

    assert {key[1]: points.delta for key, points in bench.taken().items()} == {
        "{'i': 0}": 2.0,
        "{'i': 1}": 2.0,
        str(decode_attributes(OVERFLOW_ATTRIBUTES)): 6.0,
    }
    assert caplog.text.count("more than 3 attribute sets") == 1


def test_the_limit_holds_across_batches() -> None:
    bench = Bench(series_per_metric=2)
    bench.record({"tokens": 1.0}, {"i": 0})
    bench.taken()

    bench.record({"tokens": 1.0}, {"i": 1})
    bench.record({"tokens": 1.0}, {"i": 0})

    assert {key[1] for key in bench.taken()} == {
        "{'i': 0}",
        str(decode_attributes(OVERFLOW_ATTRIBUTES)),
    }


def test_above_the_capacity_the_newest_gauge_values_stay_and_the_rest_is_counted() -> None:
    bench = Bench(capacity=4)

    for value in range(7):
        bench.record({"score": float(value), "tokens": 1.0})

    dropped = bench.guard.take_drops()
    taken = bench.taken()
    kept = taken["rl.env.score", "{}"].values
    assert kept[-1] == 6.0
    assert len(kept) <= 4
    assert dropped == {"buffer_full": 7 - len(kept)}
    assert taken["rl.env.tokens", "{}"].delta == 7.0


def test_many_series_of_one_value_each_are_all_kept() -> None:
    bench = Bench(capacity=2, series_per_metric=100)

    for index in range(20):
        bench.record({"score": float(index)}, {"i": index})

    assert bench.guard.take_drops() == {}
    assert len(bench.taken()) == 20


@pytest.mark.parametrize(("series", "bound"), [(1, 8), (2, 8), (5, 16)])
def test_the_bound_on_gauge_values_does_not_grow_with_time(series: int, bound: int) -> None:
    bench = Bench(capacity=8, series_per_metric=100)

    most = 0
    for index in range(500):
        bench.record({"score": float(index)}, {"i": index % series})
        most = max(most, bench.fold.pending)

    assert most <= bound
    assert bench.fold.pending + bench.guard.take_drops()["buffer_full"] == 500


def test_a_smaller_capacity_holds_from_then_on() -> None:
    bench = Bench(capacity=100)

    bench.fold.capacity = 2
    for _ in range(5):
        bench.record({"score": 1.0})

    assert bench.fold.capacity == 2
    assert bench.fold.pending <= 2


def test_drops_ride_along_once_as_a_metric_by_reason() -> None:
    bench = Bench()
    bench.guard.drop("undeclared", 2)
    bench.guard.drop("shutdown")

    first, second = bench.taken(), bench.taken()

    assert {key: without_attributes(points) for key, points in first.items()} == {
        ("nemo_telemetry.client.dropped", "{'reason': 'undeclared'}"): (2.0, 99, 99),
        ("nemo_telemetry.client.dropped", "{'reason': 'shutdown'}"): (1.0, 99, 99),
    }
    assert second == {}


def test_a_batch_holds_no_more_points_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_module, "MAX_BATCH_POINTS", 3)
    bench = Bench()
    for value in range(5):
        bench.record({"score": float(value)}, {"s": "a"})
    bench.record({"tokens": 1.0})
    bench.record({"wait": 1.0})

    batches = bench.batches()

    sizes = [
        [len(p.values) if isinstance(p, GaugePoints) else 1 for b in blocks for p in b.points]
        for blocks in batches
    ]
    assert sizes == [[3], [2, 1], [1]]
    gauges = [p for blocks in batches for b in blocks for p in b.points if type(p) is GaugePoints]
    assert [value for each in gauges for value in each.values] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_the_memory_of_attribute_sets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_module, "_MAX_CACHED_ATTRIBUTE_SETS", 2)
    bench = Bench(series_per_metric=100)

    for index in (*range(5), *range(5)):
        bench.record({"tokens": 1.0}, {"i": str(index)})

    assert [points.delta for points in bench.taken().values()] == [2.0] * 5
    assert len(bench.fold._encoded) <= 2


class _HostileKey(str):
    """Raises when it is hashed for the second time: once it was in a dict, it may."""

    hashed = 0

    def __hash__(self) -> int:
        self.hashed += 1
        if self.hashed > 1:
            raise RuntimeError("no")
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other


def test_a_key_that_fails_costs_only_itself() -> None:
    bench = Bench()

    bench.record({_HostileKey("a"): 1.0, "score": 0.5})

    assert bench.guard.take_drops() == {"bad_value": 1}
    assert list(bench.taken()) == [("rl.env.score", "{}")]


def test_strict_lets_the_failure_of_a_key_through() -> None:
    bench = Bench(strict=True)

    with pytest.raises(RuntimeError, match="no"):
        bench.record({_HostileKey("a"): 1.0})
