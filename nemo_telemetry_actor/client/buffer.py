# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Bounded store for measurements that wait to be folded."""

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from nemo_telemetry_actor.client.groups import BoundGroup

Entry: TypeAlias = tuple[BoundGroup, dict[str, float], Mapping[str, Any] | None, int]
"""One call of `record`: group, values by key, attributes, time in Unix nanoseconds."""

_ENTRY_FIELDS: Final = 4


class MeasurementBuffer:
    """Keeps what `record` was given until somebody folds it.

    Safe to call from any thread. `append` of one value takes no lock, of several one short lock,
    and never blocks on I/O, so a training step can call it. Nothing is dropped here: when enough
    waits, `append` says so, and its caller wakes the flush thread or, at the capacity, folds a
    slice itself, which is a bounded piece of work and loses nothing.

    Args:
        capacity: Values above which the caller should fold.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        # Reentrant: a signal handler may record while its thread is in here.
        self._lock = threading.RLock()
        # Entries lie flat, field by field: tuples that wait would be objects that the garbage
        # collector tracks, and thousands of them bring on collections of the whole process. No lock
        # is needed to add one: a deque takes all items of a tuple in one step.
        self._fields: deque[Any] = deque()
        # Guarded by _lock: what to add to the deque's length so that it is the waiting values times
        # the fields of an entry. An entry may be taken before its further values are counted here,
        # so that for a moment this is too small.
        self._further = 0
        # The very first value is news: a fresh buffer may have no flush thread yet.
        self._notice_at = _ENTRY_FIELDS

    def __len__(self) -> int:
        """Values that wait."""
        return max(0, len(self._fields) + self._further) // _ENTRY_FIELDS

    def append(self, entry: Entry) -> bool:
        """Add one entry; return whether its caller should see to the buffer."""
        fields = self._fields
        fields.extend(entry)
        if (values := len(entry[1])) != 1:
            with self._lock:
                self._further += _ENTRY_FIELDS * (values - 1)
        return len(fields) + self._further >= self._notice_at

    def expect(self, values: int) -> None:
        """Ask `append` to report from this many waiting values on."""
        self._notice_at = _ENTRY_FIELDS * max(1, min(values, self.capacity))

    def take(self, max_entries: int) -> list[Entry]:
        """Remove and return the oldest entries, at most `max_entries`."""
        with self._lock:
            count = min(max_entries, len(self._fields) // _ENTRY_FIELDS)
            field = self._fields.popleft
            taken = [(field(), field(), field(), field()) for _ in range(count)]
            self._further -= _ENTRY_FIELDS * (sum(len(entry[1]) for entry in taken) - count)
        return taken
