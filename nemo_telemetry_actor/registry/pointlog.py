# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Gauge points that push exporters have not all delivered yet."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from nemo_telemetry_actor.model.points import Attributes
from nemo_telemetry_actor.registry.producers import ProducerMetric


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
        lost: Points that were dropped unread before the first one here.
    """

    columns: Sequence[PointColumn]
    position: int
    lost: int


class PointLog:
    """Committed gauge points in order, each at a position that counts up by one a point.

    Every push exporter reads at its own position. What all have read goes by `forget_below`; above
    the capacity the oldest goes unread, and the next read of who missed it says how many.

    Args:
        capacity: Points kept at most.
        first: Position of the first point that will be added.
    """

    def __init__(self, capacity: int, first: int = 0) -> None:
        self._capacity = capacity
        self._columns: list[PointColumn] = []
        self._starts: list[int] = []
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
            self.head += len(column.values)
        oldest = self.head - self._capacity
        if self.tail < oldest:
            self.forget_below(oldest)
            self._trim(oldest)

    def everything(self) -> Iterator[tuple[int, PointColumn]]:
        """Yield every column with its position, oldest first."""
        yield from zip(self._starts, self._columns, strict=True)

    def forget_below(self, position: int) -> None:
        """Drop every column that lies wholly below a position."""
        keep = bisect_right(self._starts, position)
        if keep and (keep < len(self._starts) or position < self.head):
            keep -= 1  # the column that holds the position
        del self._columns[:keep]
        del self._starts[:keep]

    def read(self, position: int, max_points: int) -> PointPage:
        """Return points from a position on, at most `max_points`."""
        lost = max(0, self.tail - position)
        position += lost
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
        return PointPage(columns, position, lost)

    def _trim(self, oldest: int) -> None:
        """Cut what lies below a position off the first column."""
        below = oldest - self._starts[0]
        if below:
            self._columns[0] = _slice(self._columns[0], below, len(self._columns[0].values))
            self._starts[0] = oldest


def _slice(column: PointColumn, first: int, last: int) -> PointColumn:
    if first == 0 and last >= len(column.values):
        return column
    return msgspec.structs.replace(
        column,
        times_unix_nano=column.times_unix_nano[first:last],
        values=column.values[first:last],
    )
