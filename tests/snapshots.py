# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to write a snapshot in a test."""

from collections.abc import Sequence

from nemo_telemetry_actor.model.instrument import Declaration, InstrumentKind
from nemo_telemetry_actor.model.points import (
    Attributes,
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)

T0 = 1_790_000_000_000_000_000
"""A time in 2026, in nanoseconds since the epoch."""


def gauge(name: str, values: Sequence[float], attributes: Attributes | None = None) -> MetricData:
    """A gauge with one point a second from `T0` on."""
    return numbers(name, "gauge", values, attributes)


def numbers(
    name: str,
    kind: InstrumentKind,
    values: Sequence[float],
    attributes: Attributes | None = None,
    start: int = 0,
) -> MetricData:
    """A metric with one number a second from `T0` on."""
    points = [
        NumberPoint(attributes or {}, start, T0 + i * 10**9, value)
        for i, value in enumerate(values)
    ]
    return MetricData(Declaration(name, kind), points)


def histogram(name: str, boundaries: tuple[float, ...], *points: HistogramPoint) -> MetricData:
    """A histogram."""
    return MetricData(Declaration(name, "histogram", "s", boundaries=boundaries), points)


def snapshot(*metrics: MetricData, resource: Attributes | None = None) -> Snapshot:
    """One producer's metrics."""
    return Snapshot([ResourceData(resource or {"nemo.run.id": "run-1"}, metrics)])
