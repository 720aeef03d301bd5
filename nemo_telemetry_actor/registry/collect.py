# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From committed series to snapshots."""

from collections.abc import Iterable, Sequence

from nemo_telemetry_actor.model.points import (
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)
from nemo_telemetry_actor.registry.pointlog import PointColumn
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric


def snapshot_of_points(columns: Sequence[PointColumn]) -> Snapshot:
    """Return logged points as a snapshot: each with its own time, in order of time a series."""
    by_producer: dict[Producer, dict[ProducerMetric, list[NumberPoint]]] = {}
    for column in columns:
        of_producer = by_producer.setdefault(column.metric.producer, {})
        of_producer.setdefault(column.metric, []).extend(
            NumberPoint(column.attributes, column.start_time_unix_nano, time, value)
            for time, value in zip(column.times_unix_nano, column.values, strict=True)
        )
    return Snapshot(
        [
            ResourceData(
                producer.resource(),
                [
                    MetricData(metric.declaration, sorted(points, key=_time))
                    for metric, points in metrics.items()
                ],
            )
            for producer, metrics in by_producer.items()
        ]
    )


def snapshot_of_totals(
    producers: Iterable[Producer], since_revision: int, now_unix_nano: int
) -> Snapshot:
    """Return sums and histograms committed after a revision; 0 means all."""
    resources = []
    for producer in producers:
        metrics = []
        for metric in producer.metrics.values():
            points = [series.point(now_unix_nano) for series in metric.totals(since_revision)]
            if points:
                metrics.append(_metric_data(metric, points))
        if metrics:
            resources.append(ResourceData(producer.resource(), metrics))
    return Snapshot(resources)


def snapshot_of_now(producers: Iterable[Producer], now_unix_nano: int) -> Snapshot:
    """Return what holds now: totals, and the gauges and observables of living processes."""
    resources = []
    for producer in producers:
        metrics = []
        for metric in producer.metrics.values():
            points: list[NumberPoint | HistogramPoint] = [
                series.point(now_unix_nano) for series in metric.totals(0)
            ]
            if producer.has_lease:
                points.extend(metric.gauges())
            if points:
                metrics.append(_metric_data(metric, points))
        # Who lives is shown even without a value; of who is gone only what stays.
        if metrics or producer.has_lease:
            resources.append(ResourceData(producer.resource(), metrics))
    return Snapshot(resources)


def _metric_data(
    metric: ProducerMetric, points: Sequence[NumberPoint | HistogramPoint]
) -> MetricData:
    return MetricData(metric.declaration, points)  # type: ignore[arg-type]  # one kind a metric


def _time(point: NumberPoint) -> int:
    return point.time_unix_nano
