# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.client.groups import BoundMetric
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.client.observe import Observer
from nemo_telemetry_actor.model.attributes import decode_attributes
from nemo_telemetry_actor.model.instrument import MetricSpec, Observation, Scope
from nemo_telemetry_actor.testing import FakeClock
from nemo_telemetry_actor.wire.messages import ObservedSet

log = logging.getLogger("nemo_telemetry_actor.tests")


class Source:
    """Yields what it is told to, or fails."""

    def __init__(self, *values: Any) -> None:
        self.values: Iterable[Any] = values
        self.error: Exception | None = None

    def __call__(self, _options: Any) -> Iterable[Any]:
        yield from self.values
        if self.error is not None:
            raise self.error


def bound(source: Any, name: str = "rl.live") -> BoundMetric:
    return BoundMetric(MetricSpec("live", name, "observable_gauge", callback=source), Scope())


def observer(*, strict: bool = False, series_per_metric: int = 10) -> tuple[Observer, Guard]:
    guard = Guard(log, FakeClock().monotonic, strict=strict)
    return Observer(guard, series_per_metric), guard


def points(observed: ObservedSet) -> dict[str, float]:
    return {str(decode_attributes(encoded)): value for encoded, value in observed.points}


def test_each_reading_is_the_whole_set_of_that_moment() -> None:
    source = Source(Observation(1.0, {"node": "a"}), Observation(2.0, {"node": "b"}))
    watch, _ = observer()
    metric = bound(source)

    (first,) = watch.observe([metric], 10)
    source.values = [Observation(3.0, {"node": "b"})]
    (second,) = watch.observe([metric], 20)

    assert points(first) == {"{'node': 'a'}": 1.0, "{'node': 'b'}": 2.0}
    assert points(second) == {"{'node': 'b'}": 3.0}
    assert (first.time_unix_nano, second.time_unix_nano) == (10, 20)
    assert first.sequence < second.sequence


def test_anything_with_a_value_and_attributes_is_an_observation() -> None:
    class Foreign:
        value = np.float32(0.5)
        attributes = None

    watch, _ = observer()

    (observed,) = watch.observe([bound(Source(Foreign()))], 1)

    assert points(observed) == {"{}": 0.5}


def test_a_callback_that_fails_leaves_a_gap_and_never_half_a_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = Source(Observation(1.0))
    source.error = RuntimeError("gone")
    watch, _ = observer()

    sets = watch.observe([bound(source), bound(Source(Observation(2.0)), "rl.other")], 1)

    assert [each.points for each in sets] == [[], [(b"\x90", 2.0)]]
    assert "callback of rl.live failed" in caplog.text


def test_a_callback_that_yields_nothing_iterable_is_a_failure() -> None:
    watch, _ = observer()

    (observed,) = watch.observe([bound(lambda _options: 5)], 1)

    assert observed.points == []


def test_strict_lets_the_failure_of_a_callback_through() -> None:
    source = Source()
    source.error = RuntimeError("gone")
    watch, _ = observer(strict=True)

    with pytest.raises(RuntimeError, match="gone"):
        watch.observe([bound(source)], 1)


def test_a_metric_that_is_no_longer_registered_ends_with_one_empty_set() -> None:
    watch, _ = observer()
    metric = bound(Source(Observation(1.0)))
    watch.observe([metric], 1)

    ended, after = watch.observe([], 2), watch.observe([], 3)

    assert [(each.declaration, each.points) for each in ended] == [(metric.encoded, [])]
    assert after == []


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", None])
def test_what_is_no_finite_number_is_dropped_and_counted(value: Any) -> None:
    watch, guard = observer()

    (observed,) = watch.observe([bound(Source(Observation(value), Observation(1.0, {"a": 1})))], 1)

    assert points(observed) == {"{'a': 1}": 1.0}
    assert guard.take_drops() == {"bad_value": 1}


class _Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.parametrize("attributes", [{"a": object()}, {1: "a"}, {"": 1}, {"a": _Hostile()}, [1]])
def test_bad_attributes_cost_that_observation_only(attributes: Any) -> None:
    watch, guard = observer()

    (observed,) = watch.observe([bound(Source(Observation(1.0, attributes), Observation(2.0)))], 1)

    assert points(observed) == {"{}": 2.0}
    assert guard.take_drops() == {"bad_value": 1}


def test_a_set_is_bounded_and_what_exceeds_it_is_counted() -> None:
    watch, guard = observer(series_per_metric=2)
    yielded = [Observation(float(i), {"i": i}) for i in range(5)] + [Observation(9.0, {"i": 0})]

    (observed,) = watch.observe([bound(Source(*yielded))], 1)

    assert points(observed) == {"{'i': 0}": 9.0, "{'i': 1}": 1.0}
    assert guard.take_drops() == {"cardinality_limit": 3}
