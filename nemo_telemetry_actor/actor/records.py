# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The registry as rows of the state file, and back. Pure: no file and no Ray."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.registry.pointlog import PointColumn
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run
from nemo_telemetry_actor.registry.registry import Applied
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, Series, SumSeries
from nemo_telemetry_actor.state.rows import (
    Changes,
    GaugeBody,
    HistogramBody,
    Loaded,
    MetricBody,
    PointsBody,
    PointsRow,
    ProducerBody,
    RunBody,
    SeriesBody,
    SeriesRow,
    SumBody,
)

PlacementsOf = Callable[[Producer], bytes]
"""Returns the encoded placement set of a client; empty when it has none."""


class Recorder:
    """Turns what was applied into rows; gives each new thing a row of its own.

    Args:
        placements_of: See `PlacementsOf`.
        loaded: What the file holds already, whose rows are taken.
    """

    def __init__(self, placements_of: PlacementsOf, loaded: Loaded) -> None:
        self._placements_of = placements_of
        self._producer_rows = count(max(loaded.producers, default=0) + 1)
        self._metric_rows = count(max(loaded.metrics, default=0) + 1)
        self._series_rows = count(max(loaded.series, default=0) + 1)

    def changes(self, applied: Applied, head: int) -> Changes:
        """Return the rows of one commit, whose points begin at position `head`."""
        changes = Changes(
            forgotten_runs=applied.forgotten_runs, forgotten_producers=applied.forgotten_producers
        )
        for run in applied.runs:
            changes.runs[run.run_id] = _run_body(run)
        for producer in applied.producers:
            self._add_producer(changes, producer)
        for item, metric in applied.items.items():
            if item is metric:
                self._add_metric(changes, metric)
            else:
                self._add_series(changes, metric, item)
        columns = [self._points(changes, column) for column in applied.points]
        if columns:
            size = sum(len(column.values) for column in columns)
            changes.points.append(PointsRow(head, size, columns))
        return changes

    def everything(
        self, runs: Iterable[Run], columns: Iterable[tuple[int, PointColumn]]
    ) -> Changes:
        """Return the rows of all there is, to begin a file anew with."""
        changes = Changes()
        for run in runs:
            changes.runs[run.run_id] = _run_body(run)
            for producer in run.everyone():
                self._add_producer(changes, producer)
                for metric in producer.metrics.values():
                    self._add_metric(changes, metric)
                    for series in metric.series.values():
                        self._add_series(changes, metric, series)
        changes.points = [
            PointsRow(position, len(column.values), [self._points(changes, column)])
            for position, column in columns
        ]
        return changes

    def _add_producer(self, changes: Changes, producer: Producer) -> None:
        producer.row = producer.row or next(self._producer_rows)
        following, above = producer.window.state()
        changes.producers[producer.row] = ProducerBody(
            producer.run.run_id,
            producer.client_id,
            dict(producer.attributes),
            following,
            above,
            producer.accepted,
            producer.is_closed,
            producer.has_lease,
            producer is producer.run.own,
            self._placements_of(producer),
        )
        changes.runs.setdefault(producer.run.run_id, _run_body(producer.run))

    def _add_metric(self, changes: Changes, metric: ProducerMetric) -> None:
        if not metric.producer.row:
            self._add_producer(changes, metric.producer)
        metric.row = metric.row or next(self._metric_rows)
        sequence, points, totals = metric.state()
        changes.metrics[metric.row] = MetricBody(
            metric.producer.row,
            metric.encoded,
            sequence,
            [
                (
                    encode_attributes(point.attributes),
                    point.start_time_unix_nano,
                    point.time_unix_nano,
                    point.value,
                )
                for point in points
            ],
            [(encoded, start, value) for encoded, (start, value) in totals.items()],
        )

    def _add_series(self, changes: Changes, metric: ProducerMetric, series: Any) -> None:
        if not metric.row:
            self._add_metric(changes, metric)
        series.row = series.row or next(self._series_rows)
        changes.series[series.row] = SeriesRow(metric.row, series.encoded, _series_body(series))

    def _points(self, changes: Changes, column: PointColumn) -> PointsBody:
        if not column.metric.row:
            self._add_metric(changes, column.metric)
        return PointsBody(
            column.metric.row,
            column.encoded or encode_attributes(column.attributes),
            column.start_time_unix_nano,
            column.times_unix_nano,
            column.values,
        )


def _run_body(run: Run) -> RunBody:
    return RunBody(
        run.opened_unix_nano,
        run.ended_unix_nano,
        run.driver_id,
        sorted(run.jobs),
        dict(run.attributes),
    )


def _series_body(series: Series) -> SeriesBody:
    match series:
        case GaugeSeries():
            return GaugeBody(series.time_unix_nano, series.value)
        case SumSeries():
            return SumBody(series.start_time_unix_nano, series.total)
        case HistogramSeries():
            return HistogramBody(
                series.start_time_unix_nano,
                series.counts,
                series.count,
                series.sum,
                series.min,
                series.max,
            )
