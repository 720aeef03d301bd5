# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Reading observables: each callback's result is the whole set of points of that moment."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from nemo_telemetry_actor.client.groups import BoundMetric
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.model.attributes import (
    NO_ATTRIBUTES,
    BadAttributeError,
    encode_attributes,
)
from nemo_telemetry_actor.model.scalar import to_float
from nemo_telemetry_actor.wire.messages import ObservedSet


class CallbackOptions(msgspec.Struct, frozen=True):
    """What a callback is told; the fields of OpenTelemetry's own."""

    timeout_millis: float = 10_000


class Observer:
    """Calls the callbacks of one client. Not safe for several threads.

    A callback that fails yields an empty set: a gap, never the value of another moment. A metric
    that is no longer registered yields one last empty set.
    """

    def __init__(self, guard: Guard, series_per_metric: int) -> None:
        self.series_per_metric = series_per_metric
        self._guard = guard
        self._sequence = 0
        self._yielding: dict[bytes, BoundMetric] = {}

    def observe(self, metrics: Sequence[BoundMetric], now_unix_nano: int) -> list[ObservedSet]:
        """Read every metric; return the sets that replace those before."""
        current = {metric.encoded: metric for metric in metrics}
        ended = [encoded for encoded in self._yielding if encoded not in current]
        self._yielding = current
        sets = [self._one(metric, now_unix_nano) for metric in current.values()]
        return sets + [self._set(encoded, now_unix_nano, []) for encoded in ended]

    def _one(self, metric: BoundMetric, now_unix_nano: int) -> ObservedSet:
        points: dict[bytes, float] = {}
        try:
            callback = metric.spec.callback
            for observation in callback(CallbackOptions()) if callback else ():
                self._take(metric, observation, points)
        except Exception as error:
            if self._guard.strict:
                raise
            self._guard.failed(f"callback of {metric.spec.name}", error)
            points = {}
        return self._set(metric.encoded, now_unix_nano, list(points.items()))

    def _take(self, metric: BoundMetric, observation: Any, points: dict[bytes, float]) -> None:
        value = to_float(observation.value)
        attributes = observation.attributes
        if value is None or not math.isfinite(value):
            self._guard.drop("bad_value")
            self._guard.warn_once(
                f"observed:{metric.spec.name}",
                "callback of %s yielded %r, which is no finite number; it is dropped",
                metric.spec.name,
                observation.value,
            )
            return
        try:
            encoded = encode_attributes(attributes) if attributes else NO_ATTRIBUTES
        except BadAttributeError as error:
            self._guard.drop("bad_value")
            self._guard.warn_once(
                f"observed:{metric.spec.name}", "callback of %s: %s", metric.spec.name, error
            )
            return
        if encoded not in points and len(points) >= self.series_per_metric:
            self._guard.drop("cardinality_limit")
            return
        points[encoded] = value

    def _set(
        self, encoded: bytes, now_unix_nano: int, points: list[tuple[bytes, float]]
    ) -> ObservedSet:
        self._sequence += 1
        return ObservedSet(encoded, self._sequence, now_unix_nano, points)
