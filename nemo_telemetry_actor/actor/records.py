# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The registry as rows of the state file, and back. Pure: no file and no Ray."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import is_
from typing import Any, Final

from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.registry.pointlog import PointColumn, PointLog
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run
from nemo_telemetry_actor.registry.registry import Applied, Registry
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
    WindowBody,
)
from nemo_telemetry_actor.wire.messages import PlacementSet, encode

PlacementsOf = Callable[[Producer], PlacementSet | None]
"""Returns what a client vouches for."""

_MAX_SEQUENCE: Final = 2**64 - 1  # msgpack's largest number
_POINTS_A_ROW: Final = 10_000


class Recorder:
    """Turns what was applied into rows; gives each new thing a row of its own.

    A producer that is forgotten while points of it wait is written as gone, so that a restart can
    still say whose they are, and forgotten once they are delivered.

    Args:
        placements_of: See `PlacementsOf`.
        loaded: What the file holds already, whose rows are taken.
    """

    def __init__(self, placements_of: PlacementsOf, loaded: Loaded) -> None:
        self._placements_of = placements_of
        self._producer_rows = count(max(loaded.producers, default=0) + 1)
        self._metric_rows = count(max(loaded.metrics, default=0) + 1)
        self._series_rows = count(max(loaded.series, default=0) + 1)
        # What the rows were made of, where it seldom changes: the things themselves.
        self._runs: dict[str, tuple[object, ...]] = {}
        self._producers: dict[int, tuple[object, ...]] = {}
        # Until where points of gone producers may lie, in ascending order.
        self._gone = deque(
            (loaded.head, row) for row, body in loaded.producers.items() if body.is_gone
        )

    def changes(self, applied: Applied, head: int, delivered: int) -> Changes:
        """Return the rows of one commit, whose points begin at `head`; those below `delivered` go."""
        changes = Changes(
            jobs=applied.jobs, forgotten_runs=applied.forgotten_runs, delivered=delivered
        )
        for run_id in applied.forgotten_runs:
            self._runs.pop(run_id, None)
        for run in applied.runs:
            self._add_run(changes, run)
        for producer in applied.producers:
            self._add_producer(changes, producer)
        for item, metric in applied.items.items():
            if item is metric:
                self._add_metric(changes, metric)
            else:
                self._add_series(changes, metric, item)
        forgotten = dict.fromkeys(applied.forgotten_producers)
        columns = self._points(changes, applied.points, forgotten)
        size = sum([len(column.values) for column in columns])
        if columns:
            changes.points.append(PointsRow(head, size, columns))
            changes.head = head + size
        for producer in forgotten:
            self._let_go(changes, producer, head + size)
        self.settle(changes)
        return changes

    def settle(self, changes: Changes) -> None:
        """Add the gone producers whose points lie below `changes.delivered`: they are forgotten."""
        while self._gone and self._gone[0][0] <= changes.delivered:
            row = self._gone.popleft()[1]
            changes.producers.pop(row, None)
            changes.forgotten_producers.append(row)

    def everything(self, registry: Registry, log: PointLog) -> Changes:
        """Return the rows of all there is, to begin a file anew with."""
        self._runs.clear()
        self._producers.clear()
        self._gone.clear()
        changes = Changes(jobs=dict(registry.run_of_job), head=log.head)
        living = {each for run in registry.runs.values() for each in run.everyone()}
        for run in registry.runs.values():
            self._add_run(changes, run)
        for producer in living:
            self._add_producer(changes, producer)
            for metric in producer.metrics.values():
                self._add_metric(changes, metric)
                for series in metric.series.values():
                    self._add_series(changes, metric, series, is_new=True)
        gone: dict[Producer, None] = {}
        for position, columns, size in _rows_of(log.everything()):
            for column in columns:
                if column.metric.producer not in living:
                    gone[column.metric.producer] = None
            bodies = self._points(changes, columns, gone)
            changes.points.append(PointsRow(position, size, bodies))
        for producer in gone:
            self._let_go(changes, producer, log.head)
        return changes

    # ---- inside

    def _add_run(self, changes: Changes, run: Run) -> None:
        made_of = (run.attributes, run.ended_unix_nano, run.driver_id, len(run.jobs))
        if _is_same(self._runs.get(run.run_id), made_of):
            return
        self._runs[run.run_id] = made_of
        changes.runs[run.run_id] = RunBody(
            run.opened_unix_nano,
            run.ended_unix_nano,
            run.driver_id,
            sorted(run.jobs),
            dict(run.attributes),
        )

    def _add_producer(self, changes: Changes, producer: Producer) -> None:
        producer.row = producer.row or next(self._producer_rows)
        following, above = producer.window.state()
        changes.windows[producer.row] = WindowBody(
            min(following, _MAX_SEQUENCE), above, producer.accepted
        )
        vouched = self._placements_of(producer)
        made_of = (
            producer.attributes,
            producer.is_closed,
            producer.has_lease,
            producer.has_moved,
            vouched,
        )
        if _is_same(self._producers.get(producer.row), made_of):
            return
        self._producers[producer.row] = made_of
        changes.producers[producer.row] = ProducerBody(
            producer.run.run_id,
            producer.client_id,
            dict(producer.attributes),
            producer.is_closed,
            producer.has_lease,
            is_own=producer is producer.run.own,
            has_moved=producer.has_moved,
            placements=b"" if vouched is None else encode(vouched),
        )
        self._add_run(changes, producer.run)

    def _let_go(self, changes: Changes, producer: Producer, head: int) -> None:
        """Write a forgotten producer as gone; what was never written is not."""
        if not producer.row:
            return
        self._producers.pop(producer.row, None)
        changes.windows.pop(producer.row, None)
        changes.producers[producer.row] = ProducerBody(
            producer.run.run_id,
            producer.client_id,
            dict(producer.resource()),
            is_closed=True,
            has_lease=False,
            is_gone=True,
        )
        changes.gone_producers.append(producer.row)
        self._gone.append((head, producer.row))

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

    def _add_series(
        self, changes: Changes, metric: ProducerMetric, series: Any, *, is_new: bool = False
    ) -> None:
        if series.row and not is_new:
            changes.values[series.row] = _series_body(series)
            return
        if not metric.row:
            self._add_metric(changes, metric)
        series.row = series.row or next(self._series_rows)
        changes.series[series.row] = SeriesRow(metric.row, series.encoded, _series_body(series))

    def _points(
        self,
        changes: Changes,
        columns: Sequence[PointColumn],
        forgotten: Mapping[Producer, None],
    ) -> list[PointsBody]:
        for metric in dict.fromkeys([column.metric for column in columns]):
            if metric.producer in forgotten:
                metric.producer.row = metric.producer.row or next(self._producer_rows)
                metric.row = metric.row or next(self._metric_rows)
                changes.metrics[metric.row] = MetricBody(metric.producer.row, metric.encoded)
            elif not metric.row:
                self._add_metric(changes, metric)
        return [
            PointsBody(
                column.metric.row,
                column.encoded or encode_attributes(column.attributes),
                column.start_time_unix_nano,
                column.times_unix_nano,
                column.values,
            )
            for column in columns
        ]


def _is_same(before: tuple[object, ...] | None, now: tuple[object, ...]) -> bool:
    # By identity, since attributes and placements are replaced whole; a number equal but not the
    # same is written once more, which does no harm.
    return before is not None and all(map(is_, before, now))


def _rows_of(
    columns: Iterable[tuple[int, PointColumn]],
) -> Iterator[tuple[int, list[PointColumn], int]]:
    """Yield position, columns and points of each row of a file that is begun anew."""
    first, held, size = 0, list[PointColumn](), 0
    for position, column in columns:
        if not held:
            first = position
        held.append(column)
        size += len(column.values)
        if size >= _POINTS_A_ROW:
            yield first, held, size
            held, size = [], 0
    if held:
        yield first, held, size


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
