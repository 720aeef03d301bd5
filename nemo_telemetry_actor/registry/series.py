# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One series each: what was applied, and of that what is committed and may be read."""

import math
from operator import add
from typing import Final, TypeAlias

from nemo_telemetry_actor.model.points import Attributes, HistogramPoint, NumberPoint
from nemo_telemetry_actor.wire.messages import GaugePoints, HistogramDelta, SumDelta

_MAX_COUNT: Final = 2**63 - 1


class _Kept:
    """What the state file needs of a series: its attributes' bytes, and its row, 0 for none yet."""

    __slots__ = ("attributes", "encoded", "row")

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        self.encoded = b""
        self.row = 0


class GaugeSeries(_Kept):
    """The newest value of a gauge, by the time at which it was recorded."""

    __slots__ = ("committed", "time_unix_nano", "value")

    def __init__(self, attributes: Attributes) -> None:
        super().__init__(attributes)
        self.time_unix_nano = 0
        self.value = 0.0
        self.committed: NumberPoint | None = None

    def add(self, points: GaugePoints) -> None:
        """Take the newest value, unless a newer one was taken: batches may come out of order."""
        times = points.times_unix_nano
        newest = max(times)
        if newest >= self.time_unix_nano:
            self.time_unix_nano = newest
            # Of several values at one time the last one was recorded last.
            self.value = points.values[len(times) - 1 - times[::-1].index(newest)]

    def commit(self, revision: int) -> None:
        """Let readers see what was applied."""
        del revision  # a gauge is read whole: every value of it is in the point log
        self.committed = NumberPoint(self.attributes, 0, self.time_unix_nano, self.value)


class SumSeries(_Kept):
    """The running total of a counter or up-down counter since its start time."""

    __slots__ = ("committed_total", "revision", "start_time_unix_nano", "total")

    def __init__(self, attributes: Attributes, start_time_unix_nano: int) -> None:
        super().__init__(attributes)
        self.start_time_unix_nano = start_time_unix_nano
        self.total = 0.0
        self.committed_total = 0.0
        self.revision = 0

    def try_add(self, delta: SumDelta) -> bool:
        """Add what a batch brings; False when the total would be no number any more."""
        total = self.total + delta.delta
        if not math.isfinite(total):
            return False
        self.total = total
        if not self.revision:
            # Nobody has seen the start yet, and batches may come out of order.
            self.start_time_unix_nano = min(self.start_time_unix_nano, delta.first_unix_nano)
        return True

    def commit(self, revision: int) -> None:
        """Let readers see what was applied."""
        self.committed_total = self.total
        self.revision = revision

    def point(self, now_unix_nano: int) -> NumberPoint:
        """Return the committed total as of now."""
        return NumberPoint(
            self.attributes, self.start_time_unix_nano, now_unix_nano, self.committed_total
        )


class HistogramSeries(_Kept):
    """Bucket counts, sum and extremes since the start time."""

    __slots__ = (
        "committed",
        "count",
        "counts",
        "max",
        "min",
        "revision",
        "start_time_unix_nano",
        "sum",
    )

    def __init__(self, attributes: Attributes, start_time_unix_nano: int, buckets: int) -> None:
        super().__init__(attributes)
        self.start_time_unix_nano = start_time_unix_nano
        self.counts = [0] * buckets
        self.count = 0
        self.sum = 0.0
        self.min = float("inf")
        self.max = float("-inf")
        self.committed: tuple[tuple[int, ...], int, float, float, float] = ((), 0, 0.0, 0.0, 0.0)
        self.revision = 0

    def try_add(self, delta: HistogramDelta) -> bool:
        """Add what a batch brings, in as many buckets as this series has.

        False when the sum would be no number any more, or the count not fit into 64 bits.
        """
        count = self.count + sum(delta.counts)
        total = self.sum + delta.sum
        if count > _MAX_COUNT or not math.isfinite(total):
            return False
        self.counts = list(map(add, self.counts, delta.counts))
        self.count = count
        self.sum = total
        self.min = min(self.min, delta.min)
        self.max = max(self.max, delta.max)
        if not self.revision:
            # Nobody has seen the start yet, and batches may come out of order.
            self.start_time_unix_nano = min(self.start_time_unix_nano, delta.first_unix_nano)
        return True

    def commit(self, revision: int) -> None:
        """Let readers see what was applied."""
        self.committed = (tuple(self.counts), self.count, self.sum, self.min, self.max)
        self.revision = revision

    def point(self, now_unix_nano: int) -> HistogramPoint:
        """Return the committed counts as of now; there must have been a commit."""
        counts, count, total, low, high = self.committed
        return HistogramPoint(
            self.attributes,
            self.start_time_unix_nano,
            now_unix_nano,
            count,
            total,
            low,
            high,
            counts,
        )


Series: TypeAlias = GaugeSeries | SumSeries | HistogramSeries
