# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the rows of a state file to a registry and a point log that go on where they were."""

import logging
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.model.attributes import BadAttributeError, decode_attributes
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import Attributes, NumberPoint
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.registry.pointlog import PointColumn, PointLog
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, Series, SumSeries
from nemo_telemetry_actor.registry.window import SequenceWindow
from nemo_telemetry_actor.state.read import no_garbage_collection
from nemo_telemetry_actor.state.rows import (
    GaugeBody,
    HistogramBody,
    Loaded,
    MetricBody,
    PointsBody,
    ProducerBody,
    RunBody,
    SeriesBody,
    SeriesRow,
    SumBody,
    WindowBody,
)
from nemo_telemetry_actor.wire.messages import PlacementSet, decode

_log = logging.getLogger("nemo_telemetry_actor")

_Row = TypeVar("_Row")


class Reopening:
    """Fills an empty registry, placement map and point log. Used once, before anything else.

    Leases begin anew: who was alive gets a whole lease to be heard again. Totals and start times
    are those of the file. What cannot be understood is left out and logged, and never raises.

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
        # Equal sets share one mapping, as they do in a log that never stopped.
        self._attributes: dict[bytes, Attributes] = {}
        self._left_out: Counter[str] = Counter()

    def run(self, now_unix_nano: int, now_s: float) -> None:
        """Do it."""
        for run_id, body in self._loaded.runs.items():
            self._add_run(run_id, body, now_s)
        self._registry.adopt_jobs(
            {job: run for job, run in self._loaded.jobs.items() if run in self._registry.runs}
        )
        for row, producer_body in self._loaded.producers.items():
            self._add_producer(row, producer_body, now_unix_nano, now_s)
        for row, metric_body in self._loaded.metrics.items():
            self._try(self._add_metric, row, metric_body)
        for row, series_row in self._loaded.series.items():
            self._try(self._add_series, row, series_row)
        nobody = _nobodys_metric()
        with no_garbage_collection():
            for points in self._loaded.points:
                self._log.append([self._column(each, nobody) for each in points.columns])
        for what, times in self._left_out.items():
            _log.warning("left out of the state that was reopened, %d times: %s", times, what)

    # ---- inside

    def _try(self, add: Callable[[int, _Row], None], row: int, body: _Row) -> None:
        try:
            add(row, body)
        except (WireError, ValueError) as error:
            self._left_out[str(error)] += 1

    def _add_run(self, run_id: str, body: RunBody, now_s: float) -> None:
        run = Run(run_id, body.opened_unix_nano)
        run.describe(body.attributes)
        run.driver_id = body.driver_id
        run.jobs = set(body.jobs)
        if body.ended_unix_nano is not None:
            run.end(body.ended_unix_nano, now_s)
        self._registry.adopt_run(run)

    def _add_producer(self, row: int, body: ProducerBody, now_unix_nano: int, now_s: float) -> None:
        run = Run(body.run_id, 0) if body.is_gone else self._registry.runs.get(body.run_id)
        if run is None:
            self._left_out[f"a client of run {body.run_id}, which is not there"] += 1
            return
        producer = self._producers[row] = Producer(run, body.client_id, body.attributes, 0)
        producer.row = row
        producer.is_closed, producer.has_moved = body.is_closed, body.has_moved
        window = self._loaded.windows.get(row, WindowBody())
        producer.window = SequenceWindow(window.next_sequence, window.above)
        producer.accepted = window.accepted
        if body.is_gone:
            return
        self._registry.adopt_producer(producer, now_unix_nano, now_s, is_own=body.is_own)
        producer.has_lease = body.has_lease
        if body.placements:
            self._try(self._add_placements, row, body)

    def _add_placements(self, row: int, body: ProducerBody) -> None:
        placements = decode(body.placements, PlacementSet)
        self._placements.replace(body.run_id, body.client_id, placements)

    def _add_metric(self, row: int, body: MetricBody) -> None:
        producer = self._producers.get(body.producer)
        if producer is None:
            raise ValueError("a metric of a client that is left out")
        declaration = decode(body.declaration, Declaration)
        metric = ProducerMetric(producer, body.declaration, declaration)
        metric.row = row
        # First of all: what waits to be delivered does not need the rest.
        self._metrics[row] = metric
        if self._loaded.producers[body.producer].is_gone:
            return
        producer.run.names.claim(declaration)
        points = tuple(
            NumberPoint(self._attributes_of(encoded), start, time, value)
            for encoded, start, time, value in body.observed
        )
        totals = {encoded: (start, value) for encoded, start, value in body.totals}
        metric.restore(body.sequence, points, totals)
        producer.metrics[body.declaration] = metric
        self._registry.series_count += len(points)

    def _add_series(self, row: int, series_row: SeriesRow) -> None:
        metric = self._metrics.get(series_row.metric)
        if metric is None:
            raise ValueError("a series of a metric that is left out")
        attributes = self._attributes_of(series_row.attributes)
        series = _series_of(metric.declaration, attributes, series_row.body)
        series.row = row
        self._registry.add_series(metric, series_row.attributes, series)
        series.commit(self._registry.revision)

    def _column(self, body: PointsBody, nobody: ProducerMetric) -> PointColumn:
        # Without its metric or attributes a column keeps its place, so that positions go on.
        metric = self._metrics.get(body.metric, nobody)
        try:
            attributes = self._attributes_of(body.attributes)
        except BadAttributeError as error:
            self._left_out[str(error)] += 1
            attributes = {}
        return PointColumn(
            metric,
            attributes,
            body.start_time_unix_nano,
            body.times_unix_nano,
            body.values,
            body.attributes,
        )

    def _attributes_of(self, encoded: bytes) -> Attributes:
        attributes = self._attributes.get(encoded)
        if attributes is None:
            attributes = self._attributes[encoded] = decode_attributes(encoded)
        return attributes


def _series_of(declaration: Declaration, attributes: Attributes, body: SeriesBody) -> Series:
    """Return a series as its row has it.

    Raises:
        ValueError: The row does not fit the declaration.
    """
    match body, declaration.kind:
        case GaugeBody(), "gauge":
            gauge = GaugeSeries(attributes)
            gauge.time_unix_nano, gauge.value = body.time_unix_nano, body.value
            return gauge
        case SumBody(), "counter" | "up_down_counter":
            total = SumSeries(attributes, body.start_time_unix_nano)
            total.total = body.total
            return total
        case HistogramBody(), "histogram" if len(body.counts) == len(declaration.boundaries) + 1:
            histogram = HistogramSeries(attributes, body.start_time_unix_nano, len(body.counts))
            histogram.counts, histogram.count = body.counts, body.count
            histogram.sum, histogram.min, histogram.max = body.sum, body.min, body.max
            return histogram
        case _:
            raise ValueError(f"a series of {declaration.name} that does not fit its declaration")


def _nobodys_metric() -> ProducerMetric:
    run = Run("unknown", 0)
    return ProducerMetric(Producer(run, "unknown", {}, 0), b"", Declaration("unknown", "gauge"))
