# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of an asynchronous job goes: measured by category, summed up a step.

The names and the arithmetic are NeMo-RL's, so that a logger hook finds what it knows.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

INIT: Final = "init/total"
BUFFER_STARVATION: Final = "idle/buffer_starvation"
REFIT_BUBBLE: Final = "idle/refit_bubble"
VALIDATION: Final = "idle/validation"
WALL_CATEGORIES: Final = (INIT, BUFFER_STARVATION, REFIT_BUBBLE, VALIDATION)
"""Wall clock of the driver; the timer of these is emptied every step."""

REFIT_EVENT_WAIT: Final = "idle/refit_event_wait"
GENERATION_LIMIT_PAUSE: Final = "idle/generation_limit_pause"
BUFFER_FULL_BACKOFF: Final = "idle/buffer_full_backoff"
FAILED_TRAJECTORY: Final = "wasted/failed_trajectory"
COLLECTOR_CATEGORIES: Final = (
    REFIT_EVENT_WAIT,
    GENERATION_LIMIT_PAUSE,
    BUFFER_FULL_BACKOFF,
    FAILED_TRAJECTORY,
)
"""The first two are wall clock of the collector's loop, the others seconds of its threads."""

_STEP_IDLE: Final = (BUFFER_STARVATION, REFIT_BUBBLE, VALIDATION)


class CategoryTimer:
    """Sums seconds by category, from any number of threads at once.

    An interval counts when it ends, with whatever ended it.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Guarded by _lock:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def measure(self, category: str) -> Iterator[None]:
        """Count the time of the block under `category`."""
        started = self._clock()
        try:
            yield
        finally:
            self.add(category, self._clock() - started)

    def add(self, category: str, seconds: float) -> None:
        """Count seconds that were measured elsewhere."""
        with self._lock:
            self._seconds[category] = self._seconds.get(category, 0.0) + seconds

    def seconds(self) -> dict[str, float]:
        """Return the sums so far."""
        with self._lock:
            return dict(self._seconds)

    def take(self) -> dict[str, float]:
        """Return the sums so far and begin again at zero."""
        with self._lock:
            taken, self._seconds = self._seconds, {}
            return taken


def efficiency_metrics(
    seconds: Mapping[str, float], total_wall_s: float, step_wall_s: float
) -> dict[str, float]:
    """Sum up one step: seconds of every category, and the share of the step that was productive.

    Args:
        seconds: This step's driver categories and the run's collector categories; a missing one
            counts 0.
        total_wall_s: Elapsed since the run began.
        step_wall_s: Elapsed since the previous step ended.
    """
    metrics: dict[str, float] = {}
    for category in WALL_CATEGORIES:
        value = seconds.get(category, 0.0)
        metrics[f"efficiency/{category}_s"] = value
        metrics[f"efficiency/{category}_pct"] = (
            100.0 * value / total_wall_s if total_wall_s > 0 else 0.0
        )
    for category in COLLECTOR_CATEGORIES:
        metrics[f"efficiency/{category}_s"] = seconds.get(category, 0.0)
    metrics["efficiency/thread_seconds_total_s"] = sum(
        seconds.get(category, 0.0) for category in COLLECTOR_CATEGORIES
    )
    waste = sum(seconds.get(category, 0.0) for category in _STEP_IDLE)
    if step_wall_s > 0:
        waste = min(waste, step_wall_s)
    productive = max(0.0, step_wall_s - waste)
    metrics["efficiency/total_waste_s"] = waste
    metrics["efficiency/productive_time_s"] = productive
    metrics["efficiency/efficiency_pct"] = (
        min(100.0, 100.0 * productive / step_wall_s) if step_wall_s > 0 else 100.0
    )
    metrics["efficiency/total_wall_time_s"] = total_wall_s
    metrics["efficiency/efficiency_pct_is_per_step"] = 1.0
    return metrics
