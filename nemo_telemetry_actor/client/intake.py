# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the buffer, the callbacks and the registrations to the content of batches."""

import threading
import time
from typing import Final

from nemo_telemetry_actor.client.buffer import MeasurementBuffer
from nemo_telemetry_actor.client.fold import Fold
from nemo_telemetry_actor.client.groups import GroupRegistry
from nemo_telemetry_actor.client.guard import Guard
from nemo_telemetry_actor.client.observe import Observer
from nemo_telemetry_actor.client.placements import Placements
from nemo_telemetry_actor.wire.messages import MetricBlock, ObservedSet, PlacementSet, Welcome

_SLICE_ENTRIES: Final = 256


class Intake:
    """Folds what was recorded and reads observables, until somebody takes it.

    `relieve` and `waiting` are safe to call from any thread, the rest from one.

    Args:
        buffer: Filled by `record`.
        fold: Aggregates; only touched with the lock held.
        groups: Where observables are declared.
        placements: What this process vouches for.
        guard: Counts and logs.
    """

    def __init__(
        self,
        buffer: MeasurementBuffer,
        fold: Fold,
        groups: GroupRegistry,
        placements: Placements,
        guard: Guard,
    ) -> None:
        self._buffer = buffer
        self._fold = fold
        self._groups = groups
        self._placements = placements
        self._fold_lock = threading.Lock()
        self._observer = Observer(guard, fold.series_per_metric)
        self._next_observe_s = 0.0

    def relieve(self) -> None:
        """Fold one slice of the buffer in the calling thread: bounded work, and nothing is lost."""
        with self._fold_lock:
            self._fold_slice()

    @property
    def waiting(self) -> int:
        """Values in the buffer and folded points that nobody has taken yet; a reading."""
        with self._fold_lock:
            return len(self._buffer) + self._fold.pending

    def fold_all(self) -> None:
        """Fold all that waits now."""
        # No more than that, or who records faster than this folds would keep it here for ever. An
        # entry has one value at least, so all entries of now are among as many entries as values.
        left = len(self._buffer)
        while left > 0:
            with self._fold_lock:
                folded = self._fold_slice()
            left = left - folded if folded else 0
        self._buffer.expect(self._buffer.capacity // 2)

    def take(self) -> list[list[MetricBlock]]:
        """Return everything folded, as the content of batches."""
        with self._fold_lock:
            return self._fold.take(time.time_ns())

    def observe(self, now_s: float, interval_s: float, *, at_once: bool) -> list[ObservedSet]:
        """Read every observable, when it is time to."""
        if now_s < self._next_observe_s and not at_once:
            return []
        self._next_observe_s = now_s + interval_s
        return self._observer.observe(self._groups.observables(), time.time_ns())

    def placements(self) -> PlacementSet | None:
        """Return what this process vouches for, if that is news."""
        return self._placements.take()

    def apply(self, welcome: Welcome) -> None:
        """Keep to the bounds that the actor names; observe and announce everything again.

        What this client had observed and vouched for went with its lease, if it had one.
        """
        self._buffer.capacity = welcome.buffer_points
        with self._fold_lock:
            self._fold.capacity = welcome.buffer_points
            self._fold.series_per_metric = welcome.series_per_metric
        self._observer.series_per_metric = welcome.series_per_metric
        self._next_observe_s = 0.0
        self._placements.announce_again()

    def _fold_slice(self) -> int:
        entries = self._buffer.take(_SLICE_ENTRIES)
        for entry in entries:
            self._fold.add(entry)
        return len(entries)
