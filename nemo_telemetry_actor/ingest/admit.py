# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Admission: what of a batch is declared, well-formed and in bounds goes into the registry.

Each block stands alone: what is wrong with one costs that block, counted by reason, and nothing
valid beside it is lost.
"""

import logging
import math
from collections import Counter

import msgspec

from nemo_telemetry_actor.errors import DropReason, WireError
from nemo_telemetry_actor.model.attributes import (
    OVERFLOW_ATTRIBUTES,
    BadAttributeError,
    decode_attributes,
)
from nemo_telemetry_actor.model.instrument import (
    Declaration,
    check_name,
    check_unit,
    checked_boundaries,
    is_observable,
)
from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, Series, SumSeries
from nemo_telemetry_actor.wire.messages import (
    Batch,
    GaugePoints,
    HistogramDelta,
    MetricBlock,
    ObservedSet,
    SumDelta,
    decode,
)

_log = logging.getLogger("nemo_telemetry_actor")

_MAX_TIME = 2**63 - 1


class Refusal(Exception):  # noqa: N818  # it never leaves this module
    """Part of a batch cannot be taken."""

    def __init__(self, reason: DropReason, why: str) -> None:
        super().__init__(why)
        self.reason: DropReason = reason


class Admission:
    """Applies batches to a registry. Owned by the actor's event loop.

    Args:
        registry: Where values go.
        series_per_metric: Attribute sets of one metric of one process; further ones share the
            overflow series.
        series: Series in all; above this every new attribute set shares the overflow series.
        keep_points: Whether any push exporter will read gauge points.
    """

    def __init__(
        self, registry: Registry, *, series_per_metric: int, series: int, keep_points: bool
    ) -> None:
        self._registry = registry
        self._series_per_metric = series_per_metric
        self._series = series
        self._keep_points = keep_points
        self._warned: set[str] = set()
        self.accepted = 0
        self.dropped: Counter[DropReason] = Counter()
        self.duplicates = 0

    def apply(self, producer: Producer, batch: Batch, now_unix_nano: int) -> None:
        """Apply a batch once; a second time it is counted and changes nothing."""
        if not producer.window.try_accept(batch.sequence):
            self.duplicates += 1
            return
        for block in batch.metrics:
            self._apply_block(producer, block)
        for observed in batch.observed:
            try:
                self._apply_observed(producer, observed, now_unix_nano)
            except (Refusal, BadAttributeError) as refusal:
                self._drop(producer, refusal, max(1, len(observed.points)))

    def _apply_block(self, producer: Producer, block: MetricBlock) -> None:
        try:
            metric = self._metric(producer, block.declaration)
            if is_observable(metric.declaration.kind):
                raise Refusal("undeclared", f"{metric.declaration.name} is an observable")
        except Refusal as refusal:
            self._drop(producer, refusal, sum(_size(points) for points in block.points))
            return
        for points in block.points:
            try:
                self._apply_points(metric, points)
            except (Refusal, BadAttributeError) as refusal:
                self._drop(producer, refusal, _size(points))
            else:
                self.accepted += _size(points)
                producer.accepted += _size(points)

    def _apply_points(
        self, metric: ProducerMetric, points: GaugePoints | SumDelta | HistogramDelta
    ) -> None:
        series: Series
        match points:
            case GaugePoints():
                _check_gauge(metric.declaration, points)
                series = self._find(metric, points.attributes, points.times_unix_nano[0])
                if isinstance(series, GaugeSeries):
                    for time, value in zip(points.times_unix_nano, points.values, strict=True):
                        series.set(value, time)
                    if self._keep_points:
                        self._registry.add_points(
                            metric, series.attributes, points.times_unix_nano, points.values
                        )
            case SumDelta():
                _check_sum(metric.declaration, points)
                series = self._find(metric, points.attributes, points.first_unix_nano)
                if isinstance(series, SumSeries):
                    series.add(points)
            case HistogramDelta():
                _check_histogram(metric.declaration, points)
                series = self._find(metric, points.attributes, points.first_unix_nano)
                if isinstance(series, HistogramSeries):
                    series.add(points)
        self._registry.changed(series, metric.producer.run)

    def _apply_observed(
        self, producer: Producer, observed: ObservedSet, now_unix_nano: int
    ) -> None:
        metric = self._metric(producer, observed.declaration)
        _check_times([observed.time_unix_nano])
        if not is_observable(metric.declaration.kind):
            raise Refusal("undeclared", f"{metric.declaration.name} is no observable")
        points = []
        starts: dict[bytes, tuple[int, float]] = {}
        for encoded, value in observed.points[: self._series_per_metric]:
            if not math.isfinite(value):
                raise Refusal("bad_value", f"{metric.declaration.name} observed {value}")
            start = self._start_of(metric, encoded, value, observed.time_unix_nano)
            starts[encoded] = (start, value)
            points.append(
                NumberPoint(decode_attributes(encoded), start, observed.time_unix_nano, value)
            )
        over = len(observed.points) - len(points)
        if over:
            self._drop(producer, Refusal("cardinality_limit", metric.declaration.name), over)
        if not metric.try_replace(observed.sequence, tuple(points)):
            return
        metric.starts = starts
        self._registry.changed(metric, producer.run)
        self.accepted += len(points)
        if self._keep_points:
            for point in points:
                self._registry.add_points(
                    metric,
                    point.attributes,
                    [point.time_unix_nano],
                    [point.value],
                    point.start_time_unix_nano,
                )

    @staticmethod
    def _start_of(metric: ProducerMetric, encoded: bytes, value: float, time: int) -> int:
        """Return the start time of an observed total: a new one when it is new or has fallen."""
        if metric.declaration.kind == "observable_gauge":
            return 0
        start, last = metric.starts.get(encoded, (time, value))
        fell = metric.declaration.kind == "observable_counter" and value < last
        return time if fell else start

    def _metric(self, producer: Producer, encoded: bytes) -> ProducerMetric:
        metric = producer.metrics.get(encoded)
        if metric is None:
            declaration = _checked_declaration(encoded)
            try:
                producer.run.names.claim(declaration)
            except ValueError as error:
                raise Refusal("undeclared", str(error)) from error
            metric = producer.metrics[encoded] = ProducerMetric(producer, declaration)
        return metric

    def _find(self, metric: ProducerMetric, encoded: bytes, start_unix_nano: int) -> Series:
        series = metric.series.get(encoded)
        if series is not None:
            return series
        full = (
            len(metric.series) >= self._series_per_metric - 1
            or self._registry.series_count >= self._series
        )
        if full:
            encoded = OVERFLOW_ATTRIBUTES
            overflow = metric.series.get(encoded)
            if overflow is not None:
                return overflow
        attributes = decode_attributes(encoded)
        match metric.declaration.kind:
            case "gauge":
                series = GaugeSeries(attributes)
            case "histogram":
                buckets = len(metric.declaration.boundaries) + 1
                series = HistogramSeries(attributes, start_unix_nano, buckets)
            case _:
                series = SumSeries(attributes, start_unix_nano)
        self._registry.add_series(metric, encoded, series)
        return series

    def _drop(self, producer: Producer, refusal: Refusal | BadAttributeError, count: int) -> None:
        reason: DropReason = refusal.reason if isinstance(refusal, Refusal) else "bad_value"
        self.dropped[reason] += count
        key = f"{reason}: {refusal}"
        if key not in self._warned and len(self._warned) < 1000:
            self._warned.add(key)
            _log.warning(
                "%d values of run %s, client %s are dropped (%s): %s",
                count,
                producer.run.run_id,
                producer.client_id[:8],
                reason,
                refusal,
            )


def _size(points: GaugePoints | SumDelta | HistogramDelta) -> int:
    return len(points.values) if isinstance(points, GaugePoints) else 1


def _checked_declaration(encoded: bytes) -> Declaration:
    try:
        declaration = decode(encoded, Declaration)
        check_name(declaration.name)
        check_unit(declaration.name, declaration.unit)
        bounds = checked_boundaries(declaration.name, declaration.boundaries)
    except (WireError, ValueError) as error:
        raise Refusal("undeclared", str(error)) from error
    return msgspec.structs.replace(declaration, boundaries=bounds)


def _check_times(times: list[int]) -> None:
    if not times or min(times) <= 0 or max(times) > _MAX_TIME:
        raise Refusal("bad_value", "a time is not between 1970 and 2262 (Unix nanoseconds)")


def _check_gauge(declaration: Declaration, points: GaugePoints) -> None:
    if declaration.kind != "gauge" or len(points.values) != len(points.times_unix_nano):
        raise Refusal("bad_value", f"{declaration.name}: gauge points do not fit its declaration")
    _check_times(points.times_unix_nano)
    if not all(map(math.isfinite, points.values)):
        raise Refusal("bad_value", f"{declaration.name}: a value is not finite")


def _check_sum(declaration: Declaration, points: SumDelta) -> None:
    if declaration.kind not in {"counter", "up_down_counter"}:
        raise Refusal("bad_value", f"{declaration.name}: a sum does not fit its declaration")
    _check_times([points.first_unix_nano, points.last_unix_nano])
    if not math.isfinite(points.delta) or (points.delta < 0 and declaration.kind == "counter"):
        raise Refusal("bad_value", f"{declaration.name}: cannot add {points.delta}")


def _check_histogram(declaration: Declaration, points: HistogramDelta) -> None:
    if declaration.kind != "histogram" or len(points.counts) != len(declaration.boundaries) + 1:
        raise Refusal("bad_value", f"{declaration.name}: buckets do not fit its declaration")
    _check_times([points.first_unix_nano, points.last_unix_nano])
    if min(points.counts) < 0 or not all(map(math.isfinite, (points.sum, points.min, points.max))):
        raise Refusal("bad_value", f"{declaration.name}: counts or sum are not valid")
