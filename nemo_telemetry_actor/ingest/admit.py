# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Admission: what of a batch is declared, well-formed and in bounds goes into the registry.

Each block stands alone: what is wrong with one costs that block, counted by reason, and nothing
valid beside it is lost.
"""

import logging
from collections import Counter
from typing import Final, cast

from nemo_telemetry_actor.errors import DropReason
from nemo_telemetry_actor.ingest.checks import (
    Points,
    Refusal,
    check_gauge,
    check_histogram,
    check_observed,
    check_sum,
    checked_declaration,
    size_of,
)
from nemo_telemetry_actor.model.attributes import (
    OVERFLOW_ATTRIBUTES,
    BadAttributeError,
    decode_attributes,
)
from nemo_telemetry_actor.model.instrument import is_observable
from nemo_telemetry_actor.model.points import Attributes, NumberPoint
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, Series, SumSeries
from nemo_telemetry_actor.wire.messages import (
    Batch,
    GaugePoints,
    MetricBlock,
    ObservedSet,
    SumDelta,
)

_log = logging.getLogger("nemo_telemetry_actor")

_WARNINGS_PER_RUN: Final = 200
_MAX_WHY_CHARS: Final = 300


class Admission:
    """Applies batches to a registry. Owned by the actor's event loop.

    Points that enter are accepted or dropped, each counted once: those of a gauge or an observed
    set singly, a delta as one.

    Args:
        registry: Where values go.
        series_per_metric: Series of one metric of one process at most. One place is kept for the
            overflow series, which takes what further attribute sets bring; of an observable's set
            the first points are taken.
        series: Series in all at most. Above this every new attribute set shares the overflow
            series of its metric, and a metric that has none is dropped as `cardinality_limit`.
        keep_points: Whether any push exporter will read gauge points.
    """

    def __init__(
        self, registry: Registry, *, series_per_metric: int, series: int, keep_points: bool
    ) -> None:
        self._registry = registry
        self._series_per_metric = series_per_metric
        self._series = series
        self._keep_points = keep_points
        self.accepted = 0
        self.dropped: Counter[DropReason] = Counter()
        self.duplicates = 0

    def apply(self, producer: Producer, batch: Batch, now_unix_nano: int) -> None:
        """Apply a batch once; a second time it is counted and changes nothing. Does not raise."""
        if not producer.window.try_accept(batch.sequence):
            self.duplicates += 1
            return
        self._registry.touch(producer)
        for block in batch.metrics:
            self._apply_block(producer, block, now_unix_nano)
        for observed in batch.observed:
            try:
                self._apply_observed(producer, observed)
            except (Refusal, BadAttributeError) as refusal:
                self._drop(producer, refusal, len(observed.points))

    # ---- measurements

    def _apply_block(self, producer: Producer, block: MetricBlock, now_unix_nano: int) -> None:
        try:
            metric = self._metric(producer, block.declaration)
            if is_observable(metric.declaration.kind):
                raise Refusal("undeclared", f"{metric.declaration.name} is an observable")
        except Refusal as refusal:
            self._drop(producer, refusal, sum(map(size_of, block.points)))
            return
        accepted = 0
        for points in block.points:
            try:
                self._apply_points(metric, points, now_unix_nano)
            except (Refusal, BadAttributeError) as refusal:
                self._drop(producer, refusal, size_of(points))
            else:
                accepted += size_of(points)
        self._accept(producer, accepted)

    def _apply_points(self, metric: ProducerMetric, points: Points, now_unix_nano: int) -> None:
        series: Series
        match points:
            case GaugePoints():
                check_gauge(metric.declaration, points)
                series = gauge = cast("GaugeSeries", self._series_of(metric, points.attributes, 0))
                gauge.add(points)
                if self._keep_points:
                    self._registry.add_points(
                        metric,
                        gauge.attributes,
                        points.times_unix_nano,
                        points.values,
                        encoded=gauge.encoded,
                    )
            case SumDelta():
                check_sum(metric.declaration, points)
                start = min(points.first_unix_nano, now_unix_nano)
                series = total = cast(
                    "SumSeries", self._series_of(metric, points.attributes, start)
                )
                if not total.try_add(points):
                    raise Refusal("bad_value", f"{metric.declaration.name}: its sum overflows")
            case _:
                check_histogram(metric.declaration, points)
                start = min(points.first_unix_nano, now_unix_nano)
                series = histogram = cast(
                    "HistogramSeries", self._series_of(metric, points.attributes, start)
                )
                if not histogram.try_add(points):
                    raise Refusal("bad_value", f"{metric.declaration.name}: its counts overflow")
        self._registry.changed(series, metric)

    def _series_of(self, metric: ProducerMetric, encoded: bytes, start_unix_nano: int) -> Series:
        series = metric.series.get(encoded)
        if series is None:
            series = self._new_series(metric, encoded, start_unix_nano)
        return series

    def _new_series(self, metric: ProducerMetric, encoded: bytes, start_unix_nano: int) -> Series:
        attributes = decode_attributes(encoded)
        overflow = metric.series.get(OVERFLOW_ATTRIBUTES)
        of_own = len(metric.series) - (overflow is not None)
        is_full = self._registry.series_count >= self._series
        if is_full or of_own >= self._series_per_metric - 1:
            if overflow is not None:
                return overflow
            encoded = OVERFLOW_ATTRIBUTES
            attributes = decode_attributes(encoded)
        if is_full:
            raise self._too_many_series(metric)
        self._know(metric)
        series = _empty_series(metric, attributes, start_unix_nano)
        self._registry.add_series(metric, encoded, series)
        return series

    # ---- observables

    def _apply_observed(self, producer: Producer, observed: ObservedSet) -> None:
        metric = self._metric(producer, observed.declaration)
        check_observed(metric.declaration, observed)
        room = self._series - self._registry.series_count + metric.observed_count
        taken = observed.points[: max(0, min(self._series_per_metric, room))]
        decoded = [(encoded, decode_attributes(encoded), value) for encoded, value in taken]
        self._know(metric)
        time = observed.time_unix_nano
        is_newest = metric.is_newer(observed.sequence)
        points = [
            NumberPoint(attributes, metric.start_of(encoded, value, time, is_newest), time, value)
            for encoded, attributes, value in decoded
        ]
        if is_newest:
            self._registry.replace_observed(metric, observed.sequence, tuple(points))
            metric.note_totals(decoded, points, bound=2 * self._series_per_metric)
        # An older set replaces nothing, but is as true of its own time as any.
        self._accept(producer, len(points))
        if self._keep_points:
            for point in points:
                self._registry.add_points(
                    metric, point.attributes, [time], [point.value], point.start_time_unix_nano
                )
        if len(taken) < len(observed.points):
            over = len(observed.points) - len(taken)
            self._drop(producer, self._too_many_series(metric), over)

    # ---- metrics

    @staticmethod
    def _metric(producer: Producer, encoded: bytes) -> ProducerMetric:
        """Return the metric of a declaration; a new one is not yet known to its producer."""
        known = producer.metrics.get(encoded)
        return known or ProducerMetric(producer, encoded, checked_declaration(encoded))

    @staticmethod
    def _know(metric: ProducerMetric) -> None:
        """Add a new metric to its producer, unless another has its name in Prometheus."""
        producer = metric.producer
        if metric.encoded not in producer.metrics:
            try:
                producer.run.names.claim(metric.declaration)
            except ValueError as error:
                raise Refusal("undeclared", str(error)) from error
            producer.metrics[metric.encoded] = metric

    # ---- the account

    def _too_many_series(self, metric: ProducerMetric) -> Refusal:
        return Refusal(
            "cardinality_limit",
            f"{metric.declaration.name}: more than {self._series_per_metric} series of one metric "
            f"or {self._series} in all (use fewer attribute values, or raise "
            "limits.series_per_metric or limits.series)",
        )

    def _accept(self, producer: Producer, count: int) -> None:
        self.accepted += count
        producer.accepted += count

    def _drop(self, producer: Producer, refusal: Refusal | BadAttributeError, count: int) -> None:
        reason: DropReason = refusal.reason if isinstance(refusal, Refusal) else "bad_value"
        self.dropped[reason] += count
        # What the text quotes comes from outside and may be of any length.
        why = str(refusal)[:_MAX_WHY_CHARS]
        warned = producer.run.warned
        if why not in warned and len(warned) < _WARNINGS_PER_RUN:
            warned.add(why)
            _log.warning(
                "%d values of run %s, client %s are dropped (%s): %s",
                count,
                producer.run.run_id,
                producer.client_id[:8],
                reason,
                why,
            )


def _empty_series(metric: ProducerMetric, attributes: Attributes, start_unix_nano: int) -> Series:
    match metric.declaration.kind:
        case "gauge":
            return GaugeSeries(attributes)
        case "histogram":
            buckets = len(metric.declaration.boundaries) + 1
            return HistogramSeries(attributes, start_unix_nano, buckets)
        case _:
            return SumSeries(attributes, start_unix_nano)
