# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the rows of a state file to a registry and a point log that go on where they were."""

import logging
from collections.abc import Iterable

from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.model.attributes import BadAttributeError, decode_attributes
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.registry.pointlog import PointColumn, PointLog
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, Series, SumSeries
from nemo_telemetry_actor.registry.window import SequenceWindow
from nemo_telemetry_actor.state.rows import (
    GaugeBody,
    HistogramBody,
    Loaded,
    MetricBody,
    PointsBody,
    ProducerBody,
    SeriesRow,
    SumBody,
)
from nemo_telemetry_actor.wire.messages import PlacementSet, decode

_log = logging.getLogger("nemo_telemetry_actor")


class Reopening:
    """Fills an empty registry, placement map and point log. Used once, before anything else.

    Leases begin anew: who was alive gets a whole lease to be heard again. Totals and start times
    are those of the file.

    Args:
        loaded: What the file holds.
        registry: Empty.
        placements: Empty.
        log: Empty, at the position of the first row of points.
    """

    def __init__(
        self, loaded: Loaded, registry: Registry, placements: PlacementMap, log: PointLog
    ) -> None:
        self._loaded = loaded
        self._registry = registry
        self._placements = placements
        self._log = log
        self._producers: dict[int, Producer] = {}
        self._metrics: dict[int, ProducerMetric] = {}

    def run(self, now_unix_nano: int, now_s: float) -> None:
        """Do it. A row that cannot be read, or whose owner is not there, is left out and logged."""
        for run_id, body in self._loaded.runs.items():
            run = Run(run_id, body.opened_unix_nano)
            run.describe(body.attributes)
            run.driver_id = body.driver_id
            run.jobs = set(body.jobs)
            if body.ended_unix_nano is not None:
                run.end(body.ended_unix_nano, now_s)
            self._registry.adopt_run(run)
        for row, producer_body in self._loaded.producers.items():
            self._add_producer(row, producer_body, now_unix_nano, now_s)
        for row, metric_body in self._loaded.metrics.items():
            self._add_metric(row, metric_body)
        for row, series_row in self._loaded.series.items():
            self._add_series(row, series_row)
        for points in self._loaded.points:
            self._log.append(list(self._columns(points.columns)))

    def _add_producer(self, row: int, body: ProducerBody, now_unix_nano: int, now_s: float) -> None:
        run = self._registry.runs.get(body.run_id)
        if run is None:
            return self._leave_out(f"client {body.client_id[:8]}", f"no run {body.run_id}")
        producer = Producer(run, body.client_id, body.attributes, 0)
        producer.window = SequenceWindow(body.next_sequence, body.above)
        producer.accepted = body.accepted
        producer.is_closed = body.is_closed
        producer.row = row
        self._registry.adopt_producer(producer, now_unix_nano, now_s, is_own=body.is_own)
        producer.has_lease = body.has_lease
        self._producers[row] = producer
        if body.placements:
            placements = decode(body.placements, PlacementSet)
            self._placements.replace(run.run_id, body.client_id, placements)
        return None

    def _add_metric(self, row: int, body: MetricBody) -> None:
        producer = self._producers.get(body.producer)
        if producer is None:
            return self._leave_out("a metric", "its process is not there")
        try:
            declaration = decode(body.declaration, Declaration)
            producer.run.names.claim(declaration)
            points = tuple(
                NumberPoint(decode_attributes(encoded), start, time, value)
                for encoded, start, time, value in body.observed
            )
        except (WireError, ValueError, BadAttributeError) as error:
            return self._leave_out("a metric", str(error))
        metric = ProducerMetric(producer, body.declaration, declaration)
        metric.row = row
        totals = {encoded: (start, value) for encoded, start, value in body.totals}
        metric.restore(body.sequence, points, totals)
        producer.metrics[body.declaration] = metric
        self._registry.series_count += len(points)
        self._metrics[row] = metric
        return None

    def _add_series(self, row: int, series_row: SeriesRow) -> None:
        metric = self._metrics.get(series_row.metric)
        if metric is None:
            return self._leave_out("a series", "its metric is not there")
        series = _series_of(series_row)
        series.row = row
        self._registry.add_series(metric, series_row.attributes, series)
        series.commit(self._registry.revision)
        return None

    def _columns(self, bodies: Iterable[PointsBody]) -> Iterable[PointColumn]:
        for body in bodies:
            metric = self._metrics.get(body.metric)
            if metric is None:
                # Of a run that was forgotten; positions must go on all the same.
                metric = _nobodys_metric()
            yield PointColumn(
                metric,
                decode_attributes(body.attributes),
                body.start_time_unix_nano,
                body.times_unix_nano,
                body.values,
                body.attributes,
            )

    @staticmethod
    def _leave_out(what: str, why: str) -> None:
        _log.warning("%s of the state file is left out: %s", what, why)


def _series_of(row: SeriesRow) -> Series:
    attributes = decode_attributes(row.attributes)
    body = row.body
    match body:
        case GaugeBody():
            gauge = GaugeSeries(attributes)
            gauge.time_unix_nano, gauge.value = body.time_unix_nano, body.value
            return gauge
        case SumBody():
            total = SumSeries(attributes, body.start_time_unix_nano)
            total.total = body.total
            return total
        case HistogramBody():
            histogram = HistogramSeries(attributes, body.start_time_unix_nano, len(body.counts))
            histogram.counts, histogram.count = body.counts, body.count
            histogram.sum, histogram.min, histogram.max = body.sum, body.min, body.max
            return histogram


def _nobodys_metric() -> ProducerMetric:
    run = Run("unknown", 0)
    return ProducerMetric(Producer(run, "unknown", {}, 0), b"", Declaration("unknown", "gauge"))
