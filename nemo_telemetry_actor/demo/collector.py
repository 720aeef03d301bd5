# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Fills the replay buffer while training goes on, and measures what it waits for."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from nemo_telemetry_actor.demo.efficiency import (
    BUFFER_FULL_BACKOFF,
    FAILED_TRAJECTORY,
    GENERATION_LIMIT_PAUSE,
    REFIT_EVENT_WAIT,
    CategoryTimer,
)
from nemo_telemetry_actor.demo.errors import CollectorBrokenError
from nemo_telemetry_actor.demo.replay import Offer, ReplayBuffer, Rollout

_LOG = logging.getLogger(__name__)
_POLL_S = 0.2


@dataclass(frozen=True)
class CollectorOptions:
    """How far the collector may run ahead.

    A generation limit above what the trainer takes a step keeps it from starving; what that
    produces too much goes stale and is thrown away.
    """

    threads: int = 2
    rollouts_per_version: int = 5
    max_failures: int = 3


class TrajectoryCollector:
    """One loop thread that starts rollouts, and `threads` threads that carry them out.

    Args:
        rollout: Carries out the rollout of a number (0, 1, 2, …); called from several threads.
        buffer: Where rollouts go.
        timer: Counts the collector's four categories.
        options: The bounds.
        clock: Seconds, for what a rollout costs its thread.
    """

    def __init__(
        self,
        rollout: Callable[[int], Rollout],
        buffer: ReplayBuffer,
        timer: CategoryTimer,
        options: CollectorOptions,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._rollout = rollout
        self._buffer = buffer
        self._timer = timer
        self._options = options
        self._clock = clock
        self._slots = threading.Semaphore(options.threads)
        self._pool = ThreadPoolExecutor(options.threads, thread_name_prefix="rollout")
        self._loop = threading.Thread(target=self._run, name="collector", daemon=True)
        self._changed = threading.Condition()
        # Guarded by _changed:
        self._stopped = False
        self._refitting = False
        self._started_of_version = 0
        self._failures = 0
        self._last_failure: Exception | None = None

    def start(self) -> None:
        """Begin to collect."""
        self._loop.start()

    def begin_refit(self) -> None:
        """Start no rollout until `finish_refit`; those under way go on."""
        with self._changed:
            self._refitting = True

    def finish_refit(self) -> None:
        """Go on, with a new version's generation limit."""
        with self._changed:
            self._refitting = False
            self._started_of_version = 0
            self._changed.notify_all()

    def raise_if_broken(self) -> None:
        """Raise when rollouts fail one after another.

        Raises:
            CollectorBrokenError: `max_failures` in a row.
        """
        with self._changed:
            if self._failures >= self._options.max_failures:
                raise CollectorBrokenError(
                    f"{self._failures} rollouts failed one after another, the last with "
                    f"{self._last_failure!r}"
                ) from self._last_failure

    def stop(self) -> None:
        """Start nothing more, and wait for the rollouts under way."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._loop.join()
        self._pool.shutdown(wait=True)

    def _run(self) -> None:
        number = 0
        while self._may_start():
            if not self._slots.acquire(timeout=_POLL_S):
                continue
            with self._changed:
                self._started_of_version += 1
            self._pool.submit(self._carry_out, number)
            number += 1

    def _may_start(self) -> bool:
        """Wait out refits and the generation limit; False when the collector stops."""
        with self._changed:
            while not self._stopped:
                if self._refitting:
                    with self._timer.measure(REFIT_EVENT_WAIT):
                        self._changed.wait_for(lambda: self._stopped or not self._refitting)
                elif self._at_limit_locked():
                    with self._timer.measure(GENERATION_LIMIT_PAUSE):
                        self._changed.wait_for(self._pause_is_over_locked)
                else:
                    return True
            return False

    def _at_limit_locked(self) -> bool:
        return self._started_of_version >= self._options.rollouts_per_version

    def _pause_is_over_locked(self) -> bool:
        return self._stopped or self._refitting or not self._at_limit_locked()

    def _carry_out(self, number: int) -> None:
        started = self._clock()
        try:
            rollout = self._rollout(number)
        except Exception as error:  # noqa: BLE001 - whatever it is, it costs this rollout alone
            _LOG.exception("rollout %d failed and is discarded", number)
            self._timer.add(FAILED_TRAJECTORY, self._clock() - started)
            self._note_failure(error)
        else:
            with self._changed:
                self._failures = 0
            self._deliver(replace(rollout, thread_seconds=self._clock() - started))
        finally:
            self._slots.release()

    def _note_failure(self, error: Exception) -> None:
        with self._changed:
            self._failures += 1
            self._last_failure = error
            # Without another in its place the trainer could wait for ever at the limit.
            self._started_of_version -= 1
            self._changed.notify_all()

    def _deliver(self, rollout: Rollout) -> None:
        while self._buffer.offer(rollout) is Offer.FULL:
            with self._changed:
                if self._stopped:
                    return
            with self._timer.measure(BUFFER_FULL_BACKOFF):
                self._buffer.wait_for_change(_POLL_S)
