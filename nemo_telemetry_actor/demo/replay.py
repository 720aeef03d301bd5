# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Bounded store of rollouts between the collector's threads and the trainer."""

import enum
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from nemo_telemetry_actor.demo.digits import FloatArray, IntArray


@dataclass(frozen=True)
class Rollout:
    """Graded answers to one batch of images; a row an image, a column an answer.

    `version` is that of the weights that sampled the answers, `thread_seconds` what the rollout
    cost its thread.
    """

    images: FloatArray
    answers: IntArray
    log_probs: FloatArray
    rewards: FloatArray
    version: int
    thread_seconds: float = 0.0


class Offer(enum.Enum):
    """What became of a rollout that was offered."""

    STORED = "stored"
    FULL = "full"
    STALE = "stale"


def is_stale(rollout_version: int, trainer_version: int, max_lag: int) -> bool:
    """Tell whether the trainer is more than `max_lag` versions past the rollout's weights."""
    return trainer_version - rollout_version > max_lag


class ReplayBuffer:
    """Holds at most `capacity` rollouts, first in first out, none older than `max_lag` versions.

    Safe from any thread. Each rollout that goes stale, waiting here or when it is offered, is
    handed to `on_stale` exactly once and never trained on.
    """

    def __init__(self, capacity: int, max_lag: int, on_stale: Callable[[Rollout], None]) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._max_lag = max_lag
        self._on_stale = on_stale
        self._changed = threading.Condition()
        # Guarded by _changed:
        self._rollouts: deque[Rollout] = deque()
        self._trainer_version = 0

    def __len__(self) -> int:
        with self._changed:
            return len(self._rollouts)

    def offer(self, rollout: Rollout) -> Offer:
        """Store the rollout if it is fresh and there is room; never waits."""
        with self._changed:
            if is_stale(rollout.version, self._trainer_version, self._max_lag):
                self._on_stale(rollout)
                return Offer.STALE
            if len(self._rollouts) >= self._capacity:
                return Offer.FULL
            self._rollouts.append(rollout)
            self._changed.notify_all()
            return Offer.STORED

    def wait_for_change(self, timeout_s: float) -> None:
        """Wait until there is room or a new trainer version, or the time is over."""
        with self._changed:
            version = self._trainer_version
            self._changed.wait_for(
                lambda: len(self._rollouts) < self._capacity or self._trainer_version != version,
                timeout_s,
            )

    def take(self, count: int, timeout_s: float) -> list[Rollout] | None:
        """Remove and return the oldest `count`, or None when they are not there in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._rollouts) >= count, timeout_s):
                return None
            taken = [self._rollouts.popleft() for _ in range(count)]
            self._changed.notify_all()
            return taken

    def advance(self, trainer_version: int) -> None:
        """Tell the trainer's version, and drop what is stale by it."""
        with self._changed:
            self._trainer_version = trainer_version
            fresh: deque[Rollout] = deque()
            for rollout in self._rollouts:
                if is_stale(rollout.version, trainer_version, self._max_lag):
                    self._on_stale(rollout)
                else:
                    fresh.append(rollout)
            self._rollouts = fresh
            self._changed.notify_all()
