# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Gauge points that push exporters have not all delivered yet."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from nemo_telemetry_actor.model.points import Attributes
from nemo_telemetry_actor.registry.producers import ProducerMetric

_POINT_BYTES: Final = 16  # a time and a value


class PointColumn(msgspec.Struct, frozen=True, gc=False):
    """Points of one series, in columns; `start_time_unix_nano` is 0 for a gauge.

    `encoded` are the attributes as the bytes they are known by.
    """

    metric: ProducerMetric
    attributes: Attributes
    start_time_unix_nano: int
    times_unix_nano: list[int]
    values: list[float]
    encoded: bytes = b""


class PointPage(msgspec.Struct, frozen=True):
    """What one read hands out.

    Args:
        columns: The points, in the order of their commits.
        position: Where the next read goes on.
        lost: Points that were dropped unread before the first one here, since the log was full.
        too_old: The same, since they had waited too long.
    """

    columns: Sequence[PointColumn]
    position: int
    lost: int
    too_old: int = 0


class Waiting(msgspec.Struct, frozen=True):
    """What has not been read from a position on.

    Args:
        points: How many.
        size_bytes: What they take, roughly: 16 bytes a point and each column's attributes.
        oldest_unix_nano: Time of the first of them; 0 when there is none.
    """

    points: int
    size_bytes: int
    oldest_unix_nano: int


class PointLog:
    """Committed gauge points in order, each at a position that counts up by one a point.

    Every push exporter reads at its own position. What all have read goes by `forget_below`; above
    a bound the oldest goes unread, and the next read of who missed it says how many.

    Args:
        capacity: Points kept at most.
        first: Position of the first point that will be added.
        capacity_bytes: Bytes kept at most, as `Waiting` counts them; one column is kept whatever
            its size.
    """

    def __init__(self, capacity: int, first: int = 0, capacity_bytes: int | None = None) -> None:
        self._capacity = capacity
        self._capacity_bytes = capacity_bytes
        self._columns: list[PointColumn] = []
        self._starts: list[int] = []
        # Bytes of everything ever added, up to and including each column.
        self._ends_bytes: list[int] = []
        self._total_bytes = 0
        self._too_old_below = first
        self.head = first

    @property
    def tail(self) -> int:
        """Position of the oldest point kept; equals `head` when there is none."""
        return self._starts[0] if self._starts else self.head

    def append(self, columns: Sequence[PointColumn]) -> None:
        """Add committed points."""
        for column in columns:
            self._columns.append(column)
            self._starts.append(self.head)
            self._total_bytes += _bytes_of(column)
            self._ends_bytes.append(self._total_bytes)
            self.head += len(column.values)
        oldest = self.head - self._capacity
        if self.tail < oldest:
            self.forget_below(oldest)
            self._trim(oldest)
        self._keep_bytes()

    def everything(self) -> Iterator[tuple[int, PointColumn]]:
        """Yield every column with its position, oldest first."""
        yield from zip(self._starts, self._columns, strict=True)

    def forget_below(self, position: int) -> None:
        """Drop every column that lies wholly below a position."""
        keep = bisect_right(self._starts, position)
        if keep and (keep < len(self._starts) or position < self.head):
            keep -= 1  # the column that holds the position
        self._drop(keep)

    def forget_older(self, time_unix_nano: int) -> None:
        """Drop the columns at the tail whose newest point is older than a time."""
        count = 0
        while count < len(self._columns) and max(self._columns[count].times_unix_nano) < (
            time_unix_nano
        ):
            count += 1
        if count:
            self._drop(count)
            self._too_old_below = self.tail

    def waiting(self, position: int) -> Waiting:
        """Return what has not been read from a position on."""
        position = max(position, self.tail)
        if position >= self.head:
            return Waiting(0, 0, 0)
        index = max(0, bisect_right(self._starts, position) - 1)
        column = self._columns[index]
        before = self._ends_bytes[index] - _bytes_of(column)
        oldest = column.times_unix_nano[position - self._starts[index]]
        return Waiting(self.head - position, self._total_bytes - before, oldest)

    def read(self, position: int, max_points: int) -> PointPage:
        """Return points from a position on, at most `max_points`."""
        too_old = max(0, min(self._too_old_below, self.tail) - position)
        lost = max(0, self.tail - position) - too_old
        position += lost + too_old
        columns: list[PointColumn] = []
        left = max_points
        index = max(0, bisect_right(self._starts, position) - 1)
        while left > 0 and position < self.head:
            first = position - self._starts[index]
            part = _slice(self._columns[index], first, first + left)
            columns.append(part)
            left -= len(part.values)
            position += len(part.values)
            index += 1
        return PointPage(columns, position, lost, too_old)

    def _keep_bytes(self) -> None:
        if self._capacity_bytes is None or not self._columns:
            return
        before = self._ends_bytes[0] - _bytes_of(self._columns[0])
        too_many = self._total_bytes - self._capacity_bytes
        if too_many > before:
            count = bisect_left(self._ends_bytes, too_many) + 1
            self._drop(min(count, len(self._columns) - 1))

    def _drop(self, count: int) -> None:
        del self._columns[:count]
        del self._starts[:count]
        del self._ends_bytes[:count]

    def _trim(self, oldest: int) -> None:
        """Cut what lies below a position off the first column."""
        below = oldest - self._starts[0]
        if below:
            self._columns[0] = _slice(self._columns[0], below, len(self._columns[0].values))
            self._starts[0] = oldest


def _bytes_of(column: PointColumn) -> int:
    return len(column.encoded) + _POINT_BYTES * len(column.values)


def _slice(column: PointColumn, first: int, last: int) -> PointColumn:
    if first == 0 and last >= len(column.values):
        return column
    return msgspec.structs.replace(
        column,
        times_unix_nano=column.times_unix_nano[first:last],
        values=column.values[first:last],
    )
