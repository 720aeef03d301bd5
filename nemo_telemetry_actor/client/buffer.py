# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Bounded store for measurements that wait to be folded."""

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, TypeAlias

from nemo_telemetry_actor.client.groups import BoundGroup

Entry: TypeAlias = tuple[BoundGroup, dict[str, float], Mapping[str, Any] | None, int]
"""One call of `record`: group, values by key, attributes, time in Unix nanoseconds."""


class MeasurementBuffer:
    """Keeps what `record` was given until somebody folds it.

    Safe to call from any thread. `append` takes one short lock and never blocks on I/O, so a
    training step can call it. Nothing is dropped here: when enough waits, `append` says so, and
    its caller wakes the flush thread or, at the capacity, folds a slice itself, which is a bounded
    piece of work and loses nothing.

    Args:
        capacity: Values above which the caller should fold.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        # Reentrant: a signal handler may record while its thread is in here.
        self._lock = threading.RLock()
        # Guarded by _lock:
        self._entries: deque[Entry] = deque()
        self._values = 0
        # The very first value is news: a fresh buffer may have no flush thread yet.
        self._notice_at = 1

    def __len__(self) -> int:
        """Values that wait."""
        return self._values

    def append(self, entry: Entry) -> bool:
        """Add one entry; return whether its caller should see to the buffer."""
        with self._lock:
            self._entries.append(entry)
            self._values += len(entry[1])
            return self._values >= self._notice_at

    def expect(self, values: int) -> None:
        """Ask `append` to report from this many waiting values on."""
        self._notice_at = max(1, min(values, self.capacity))

    def take(self, max_entries: int) -> list[Entry]:
        """Remove and return the oldest entries, at most `max_entries`."""
        with self._lock:
            count = min(max_entries, len(self._entries))
            taken = [self._entries.popleft() for _ in range(count)]
            self._values -= sum(len(entry[1]) for entry in taken)
        return taken
