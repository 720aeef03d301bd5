# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From measurements to batch content: gauges keep every value, the rest becomes deltas."""

import math
from collections.abc import Mapping
from typing import Any, Final

from nemo_telemetry_actor.client.buffer import Entry
from nemo_telemetry_actor.client.cells import GaugeCell, HistogramCell, SumCell
from nemo_telemetry_actor.client.groups import CLIENT_DROPPED, NONFINITE, BoundGroup, BoundMetric
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.model.attributes import (
    NO_ATTRIBUTES,
    OVERFLOW_ATTRIBUTES,
    BadAttributeError,
    encode_attributes,
)
from nemo_telemetry_actor.wire.messages import GaugePoints, HistogramDelta, MetricBlock, SumDelta

MAX_BATCH_POINTS: Final = 16_384
"""Points in one batch: about 300 kB, above which one Ray call costs its neighbours time."""

_MAX_CACHED_ATTRIBUTE_SETS: Final = 4096
_INFINITE: Final = math.inf


Cell = GaugeCell | SumCell | HistogramCell


class Fold:
    """Aggregates measurements until they are taken as batches. Not safe for several threads.

    Counters and histograms fold without loss. Gauge values are kept with their times up to
    `capacity`, or three a series where that is more; beyond it every second one of each series
    goes, the newest stays, and what went is counted as `buffer_full`.

    Args:
        own: The client's own metrics (`SELF_GROUP`).
        guard: Counts and logs what is dropped.
        capacity: Gauge values kept.
        series_per_metric: Attribute sets of one metric; further ones share the overflow series of
            the OpenTelemetry metrics SDK specification.
    """

    def __init__(
        self, own: BoundGroup, guard: Guard, *, capacity: int, series_per_metric: int
    ) -> None:
        self._capacity = capacity
        self._thin_above = capacity
        self.series_per_metric = series_per_metric
        self._own = own
        self._guard = guard
        self._cells: dict[BoundMetric, dict[bytes, Cell]] = {}
        self._gauge_values = 0
        self._encoded: dict[tuple[tuple[str, str], ...], bytes] = {}

    @property
    def capacity(self) -> int:
        """Gauge values kept."""
        return self._capacity

    @capacity.setter
    def capacity(self, capacity: int) -> None:
        self._capacity = self._thin_above = capacity

    @property
    def pending(self) -> int:
        """Gauge values, and series of other kinds, that wait to be taken."""
        return self._gauge_values + sum(
            len(cells) for metric, cells in self._cells.items() if metric.spec.kind != "gauge"
        )

    def add(self, entry: Entry) -> None:
        """Fold one call of `record`."""
        group, values, attributes, time_unix_nano = entry
        encoded = self._encode(group, attributes) if attributes else NO_ATTRIBUTES
        metrics, all_cells = group.metrics, self._cells
        for key, value in values.items():
            try:
                metric = metrics.get(key)
                if metric is None or metric.is_observable:
                    self._refuse_key(group, key, metric)
                elif not -_INFINITE < value < _INFINITE:  # NaN compares false
                    self._note_nonfinite(metric, time_unix_nano)
                elif value < 0 and metric.is_counter:
                    self._refuse_negative(metric, value)
                else:
                    # Most values are of a series that has a cell: found without a call.
                    cells = all_cells.get(metric)
                    cell = cells.get(encoded) if cells else None
                    if cell is None:
                        cell = self._cell(metric, encoded)
                    cell.add(value, time_unix_nano)
                    if metric.is_gauge:
                        self._gauge_values += 1
            except Exception as error:  # a key may be any object that was once a key of a dict
                if self._guard.strict:
                    raise
                self._guard.drop("bad_value")
                self._guard.failed("fold", error)
        if self._gauge_values > self._thin_above:
            self._thin()

    def take(self, now_unix_nano: int) -> list[list[MetricBlock]]:
        """Return everything folded, as the content of batches, and start anew.

        Drops counted since the last take ride along as a metric of the client's own.
        """
        for reason, count in self._guard.take_drops().items():
            encoded = encode_attributes({"reason": reason})
            self._cell(self._own.metrics[CLIENT_DROPPED.key], encoded).add(count, now_unix_nano)
        cells, self._cells = self._cells, {}
        self._gauge_values = 0
        self._thin_above = self._capacity
        return _batched(cells)

    def _encode(self, group: BoundGroup, attributes: Mapping[str, Any]) -> bytes:
        cache_key: Any = tuple(attributes.items())
        try:
            # Only text is cached: `1`, `1.0` and `True` are one dict key but not one attribute. So
            # what is found was text, and needs no look at its types.
            encoded = self._encoded.get(cache_key)
        except Exception:  # noqa: BLE001 — a value without a hash, or a foreign one that raises
            encoded = None
        if encoded is not None:
            return encoded
        try:
            encoded = encode_attributes(attributes)
            if all(type(value) is str for value in attributes.values()):
                if len(self._encoded) >= _MAX_CACHED_ATTRIBUTE_SETS:
                    self._encoded.clear()
                self._encoded[cache_key] = encoded
            return encoded
        except BadAttributeError as error:
            self._guard.warn_once(
                f"attributes:{group.name}",
                "attributes given for group %r cannot be used, so its values are recorded "
                "without them: %s",
                group.name,
                error,
            )
            return NO_ATTRIBUTES

    def _cell(self, metric: BoundMetric, attributes: bytes) -> Cell:
        cells = self._cells.get(metric)
        if cells is None:
            cells = self._cells[metric] = {}
        cell = cells.get(attributes)
        if cell is None:
            attributes = self._admitted(metric, attributes)
            cell = cells.get(attributes)
            if cell is None:
                cell = cells[attributes] = _new_cell(metric)
        return cell

    def _admitted(self, metric: BoundMetric, attributes: bytes) -> bytes:
        """Return the attribute set, or the overflow set when there are too many."""
        if attributes in metric.attribute_sets:
            return attributes
        # One place is kept for the overflow series itself, as the specification has it.
        if len(metric.attribute_sets) < self.series_per_metric - 1:
            metric.attribute_sets.add(attributes)
            return attributes
        self._guard.warn_once(
            f"cardinality:{metric.spec.name}",
            "%s has more than %d attribute sets in this process; further ones are kept together "
            "under otel.metric.overflow=true (use fewer attribute values, or raise "
            "limits.series_per_metric)",
            metric.spec.name,
            self.series_per_metric,
        )
        return OVERFLOW_ATTRIBUTES

    def _note_nonfinite(self, metric: BoundMetric, time_unix_nano: int) -> None:
        counter = self._own.metrics[NONFINITE.key]
        encoded = encode_attributes({"rl.metric": metric.spec.name})
        self._cell(counter, encoded).add(1, time_unix_nano)

    def _refuse_negative(self, metric: BoundMetric, value: float) -> None:
        self._guard.drop("bad_value")
        self._guard.warn_once(
            f"negative:{metric.spec.name}",
            "counter %s was given %r; a counter only grows, so the value is dropped (declare an "
            "up_down_counter if it may fall)",
            metric.spec.name,
            value,
        )

    def _refuse_key(self, group: BoundGroup, key: object, metric: BoundMetric | None) -> None:
        self._guard.drop("undeclared")
        if metric is None:
            self._guard.warn_once(
                f"key:{group.name}:{key}",
                "group %r has no key %r; its value is dropped (declare it with "
                "register_metric_group)",
                group.name,
                key,
            )
        else:
            self._guard.warn_once(
                f"key:{group.name}:{key}",
                "key %r of group %r is an %s: its callback is read, values recorded are dropped",
                key,
                group.name,
                metric.spec.kind,
            )

    def _thin(self) -> None:
        gauges = [
            cell
            for cells in self._cells.values()
            for cell in cells.values()
            if isinstance(cell, GaugeCell)
        ]
        dropped = sum(cell.thin() for cell in gauges)
        self._gauge_values -= dropped
        # Each series keeps its newest value, so many series may hold more than the capacity; then
        # thinning waits until one a series has come again, or every value would cost a pass over
        # all. Not until as many have come as are left: halves are rounded up, so that would grow.
        self._thin_above = max(self._capacity, self._gauge_values + len(gauges))
        if dropped:
            self._guard.drop("buffer_full", dropped)


def _new_cell(metric: BoundMetric) -> Cell:
    match metric.spec.kind:
        case "gauge":
            return GaugeCell()
        case "histogram":
            return HistogramCell(metric.boundaries)
        case _:
            return SumCell()


def _batched(cells: Mapping[BoundMetric, Mapping[bytes, Cell]]) -> list[list[MetricBlock]]:
    """Group cells into batches of at most `MAX_BATCH_POINTS` points."""
    batches: list[list[MetricBlock]] = []
    room = 0
    for metric, of_metric in cells.items():
        points: list[GaugePoints | SumDelta | HistogramDelta] | None = None
        for attributes, cell in of_metric.items():
            at, size = 0, len(cell.values) if isinstance(cell, GaugeCell) else 1
            while at < size:
                if room <= 0:
                    batches.append([])
                    room, points = MAX_BATCH_POINTS, None
                if points is None:
                    points = []
                    batches[-1].append(MetricBlock(metric.encoded, points))
                part = min(size - at, room)
                points.append(
                    cell.to_wire(attributes, at, at + part)
                    if isinstance(cell, GaugeCell)
                    else cell.to_wire(attributes)
                )
                at += part
                room -= part
    return batches
