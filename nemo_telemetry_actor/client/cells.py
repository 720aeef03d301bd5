# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What has been folded of one series since the last batch, a class for each aggregation."""

from bisect import bisect_left

from nemo_telemetry_actor.wire.messages import GaugePoints, HistogramDelta, SumDelta


class GaugeCell:
    """Values of one gauge series, each with its time, oldest first."""

    __slots__ = ("times", "values")

    def __init__(self) -> None:
        self.times: list[int] = []
        self.values: list[float] = []

    def add(self, value: float, time_unix_nano: int) -> None:
        """Keep one more value."""
        self.times.append(time_unix_nano)
        self.values.append(value)

    def thin(self) -> int:
        """Drop every second value, never the newest; return how many went."""
        before = len(self.values)
        newest_first = slice(None, None, -2)
        self.times = self.times[newest_first][::-1]
        self.values = self.values[newest_first][::-1]
        return before - len(self.values)

    def to_wire(self, attributes: bytes, first: int, last: int) -> GaugePoints:
        """Return the values from index `first` up to `last`."""
        return GaugePoints(attributes, self.times[first:last], self.values[first:last])


class SumCell:
    """One delta of a counter or up-down counter series."""

    __slots__ = ("delta", "first", "last")

    def __init__(self) -> None:
        self.delta = 0.0
        self.first = 0
        self.last = 0

    def add(self, value: float, time_unix_nano: int) -> None:
        """Add to the delta."""
        self.delta += value
        self.first = self.first or time_unix_nano
        self.last = time_unix_nano

    def to_wire(self, attributes: bytes) -> SumDelta:
        """Return the delta."""
        return SumDelta(attributes, self.delta, self.first, self.last)


class HistogramCell:
    """Bucket counts of one histogram series; a bucket holds values up to its boundary."""

    __slots__ = ("boundaries", "counts", "first", "last", "max", "min", "sum")

    def __init__(self, boundaries: tuple[float, ...]) -> None:
        self.boundaries = boundaries
        self.counts = [0] * (len(boundaries) + 1)
        self.sum = 0.0
        self.min = float("inf")
        self.max = float("-inf")
        self.first = 0
        self.last = 0

    def add(self, value: float, time_unix_nano: int) -> None:
        """Count one value."""
        self.counts[bisect_left(self.boundaries, value)] += 1
        self.sum += value
        # As min() and max() do, without the calls, which cost a third of the whole method.
        if value < self.min:  # noqa: PLR1730
            self.min = value
        if value > self.max:  # noqa: PLR1730
            self.max = value
        self.first = self.first or time_unix_nano
        self.last = time_unix_nano

    def to_wire(self, attributes: bytes) -> HistogramDelta:
        """Return the counts."""
        return HistogramDelta(
            attributes, self.counts, self.sum, self.min, self.max, self.first, self.last
        )
