# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A source of numbered points, and deliveries from it."""

from nemo_telemetry_actor.errors import (
    MessageTooLargeError,
    RetryableExportError,
)
from nemo_telemetry_actor.export.delivery import Delivery, Page
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import MetricData, NumberPoint, Snapshot
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from tests.snapshots import T0, numbers, snapshot

DOWN = RetryableExportError("refused to connect")


class ListSource:
    """Gauge points of one series, numbered from 0, and counters with a revision each."""

    def __init__(self, points: int = 0) -> None:
        self.head = points
        self.tail = 0
        self.totals: dict[str, tuple[float, int]] = {}
        self.asked: list[tuple[int, bool]] = []

    def waiting(self, position: int) -> tuple[int, int, int]:
        points = self.head - max(position, self.tail)
        return points, 16 * points, T0 + max(position, self.tail) if points else 0

    def read_points(self, position: int, max_points: int) -> Page:
        lost = max(0, self.tail - position)
        first = position + lost
        last = min(self.head, first + max_points)
        points = [NumberPoint({}, 0, T0 + i, float(i)) for i in range(first, last)]
        page = snapshot(MetricData(Declaration("rl.reward", "gauge"), points))
        return Page(page, last, lost)

    def read_totals(self, since_revision: int, *, everything: bool) -> tuple[Snapshot, int]:
        self.asked.append((since_revision, everything))
        metrics = [
            numbers(name, "counter", [value])
            for name, (value, revision) in self.totals.items()
            if everything or revision > since_revision
        ]
        return snapshot(*metrics), max((r for _, r in self.totals.values()), default=0)


class SizeLimited(InMemoryExporter):
    """Takes messages of a number of points, and never the point of one value."""

    def __init__(self, limit: int, poison: float | None = None) -> None:
        super().__init__(max_points=100)
        self.limit = limit
        self.poison = poison
        self.sizes: list[int] = []

    async def export(self, snapshot: Snapshot) -> ExportResult:
        self.sizes.append(snapshot.point_count)
        values = [p.value for r in snapshot.resources for m in r.metrics for p in m.points]  # type: ignore[union-attr]
        if snapshot.point_count > self.limit or self.poison in values:
            raise MessageTooLargeError("too large")
        return await super().export(snapshot)


def delivery_of(
    exporter: InMemoryExporter, source: ListSource, clock: FakeClock, position: int = 0
) -> Delivery:
    delivery = Delivery(
        exporter,
        source,
        max_points=exporter.max_points,
        time_ns=clock.time_ns,
        monotonic=clock.monotonic,
    )
    delivery.position = position
    return delivery


def values_of(exporter: InMemoryExporter, name: str = "rl.reward") -> list[float]:
    return [point.value for point in exporter.points(name) if isinstance(point, NumberPoint)]
