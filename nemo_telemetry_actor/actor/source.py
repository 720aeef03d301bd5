# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What deliveries read: the registry's committed side and the point log, as snapshots."""

from collections.abc import Callable

from nemo_telemetry_actor.export.delivery import Page
from nemo_telemetry_actor.model.points import ResourceData, Snapshot
from nemo_telemetry_actor.registry.collect import snapshot_of_points, snapshot_of_totals
from nemo_telemetry_actor.registry.pointlog import PointLog
from nemo_telemetry_actor.registry.registry import Registry


class CommittedSource:
    """A `DeliverySource` over a registry and its point log.

    Args:
        registry: Whose committed totals are read.
        log: Whose points are read.
        time_ns: Wall clock, Unix nanoseconds.
        not_before_unix_nano: Until when an earlier life of the actor may have sent totals.
    """

    def __init__(
        self,
        registry: Registry,
        log: PointLog,
        time_ns: Callable[[], int],
        not_before_unix_nano: int = 0,
    ) -> None:
        self._registry = registry
        self._log = log
        self._time_ns = time_ns
        self._last_unix_nano = not_before_unix_nano
        # What the service measures of itself; read anew at each export.
        self.about_itself: Callable[[int], ResourceData] | None = None

    @property
    def head(self) -> int:
        """See `DeliverySource`."""
        return self._log.head

    def waiting(self, position: int) -> tuple[int, int, int]:
        """See `DeliverySource`."""
        waiting = self._log.waiting(position)
        return waiting.points, waiting.size_bytes, waiting.oldest_unix_nano

    def read_points(self, position: int, max_points: int) -> Page:
        """See `DeliverySource`."""
        page = self._log.read(position, max_points)
        return Page(snapshot_of_points(page.columns), page.position, page.lost, page.too_old)

    def read_totals(self, since_revision: int, *, everything: bool) -> tuple[Snapshot, int]:
        """See `DeliverySource`."""
        # The wall clock may be set back; a total's time may not, or backends refuse the point.
        self._last_unix_nano = max(self._last_unix_nano + 1, self._time_ns())
        snapshots = [
            snapshot_of_totals(
                run.everyone(),
                0 if everything and run.is_open else since_revision,
                self._last_unix_nano,
            )
            for run in self._registry.runs.values()
        ]
        resources = [resource for each in snapshots for resource in each.resources]
        if self.about_itself is not None:
            resources.append(self.about_itself(self._last_unix_nano))
        return Snapshot(resources), self._registry.revision
