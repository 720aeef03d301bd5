# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One series each: what was applied, and of that what is committed and may be read."""

from nemo_telemetry_actor.model.points import Attributes, HistogramPoint, NumberPoint
from nemo_telemetry_actor.wire.messages import HistogramDelta, SumDelta


class GaugeSeries:
    """The newest value of a gauge, by the time at which it was recorded."""

    __slots__ = ("attributes", "committed", "time_unix_nano", "value")

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        self.time_unix_nano = 0
        self.value = 0.0
        self.committed: NumberPoint | None = None

    def set(self, value: float, time_unix_nano: int) -> None:
        """Take a value, unless a newer one was taken: batches may come out of order."""
        if time_unix_nano >= self.time_unix_nano:
            self.time_unix_nano = time_unix_nano
            self.value = value

    def commit(self, revision: int) -> None:
        """Let readers see what was applied."""
        del revision  # a gauge is read whole: every value of it is in the point log
        self.committed = NumberPoint(self.attributes, 0, self.time_unix_nano, self.value)


class SumSeries:
    """The running total of a counter or up-down counter since its start time."""

    __slots__ = ("attributes", "committed_total", "revision", "start_time_unix_nano", "total")

    def __init__(self, attributes: Attributes, start_time_unix_nano: int) -> None:
        self.attributes = attributes
        self.start_time_unix_nano = start_time_unix_nano
        self.total = 0.0
        self.committed_total = 0.0
        self.revision = 0

    def add(self, delta: SumDelta) -> None:
        """Add what a batch brings."""
        self.total += delta.delta

    def commit(self, revision: int) -> None:
        """Let readers see what was applied."""
        self.committed_total = self.total
        self.revision = revision

    def point(self, now_unix_nano: int) -> NumberPoint:
        """Return the committed total as of now."""
        return NumberPoint(
            self.attributes, self.start_time_unix_nano, now_unix_nano, self.committed_total
        )


class HistogramSeries:
    """Bucket counts, sum and extremes since the start time."""

    __slots__ = (
        "attributes",
        "committed",
        "counts",
        "max",
        "min",
        "revision",
        "start_time_unix_nano",
        "sum",
    )

    def __init__(self, attributes: Attributes, start_time_unix_nano: int, buckets: int) -> None:
        self.attributes = attributes
        self.start_time_unix_nano = start_time_unix_nano
        self.counts = [0] * buckets
        self.sum = 0.0
        self.min = float("inf")
        self.max = float("-inf")
        self.committed: tuple[tuple[int, ...], float, float, float] | None = None
        self.revision = 0

    def add(self, delta: HistogramDelta) -> None:
        """Add what a batch brings; it has as many buckets as this series."""
        self.counts = [mine + new for mine, new in zip(self.counts, delta.counts, strict=True)]
        self.sum += delta.sum
        self.min = min(self.min, delta.min)
        self.max = max(self.max, delta.max)

    def commit(self, revision: int) -> None:
        """Let readers see what was applied."""
        self.committed = (tuple(self.counts), self.sum, self.min, self.max)
        self.revision = revision

    def point(self, now_unix_nano: int) -> HistogramPoint:
        """Return the committed counts as of now; there must have been a commit."""
        counts, total, low, high = self.committed or ((), 0.0, 0.0, 0.0)
        return HistogramPoint(
            self.attributes,
            self.start_time_unix_nano,
            now_unix_nano,
            sum(counts),
            total,
            low,
            high,
            counts,
        )


Series = GaugeSeries | SumSeries | HistogramSeries
