# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from nemo_telemetry_actor.demo.collector import CollectorOptions, TrajectoryCollector
from nemo_telemetry_actor.demo.efficiency import (
    BUFFER_FULL_BACKOFF,
    COLLECTOR_CATEGORIES,
    FAILED_TRAJECTORY,
    GENERATION_LIMIT_PAUSE,
    REFIT_EVENT_WAIT,
    CategoryTimer,
)
from nemo_telemetry_actor.demo.errors import CollectorBrokenError
from nemo_telemetry_actor.demo.replay import ReplayBuffer, Rollout

WAIT_S = 10.0


def rollout_of(number: int) -> Rollout:
    empty = np.zeros((1, 1))
    return Rollout(empty, np.array([[number]]), empty, empty, version=0)


def numbers(rollouts: list[Rollout] | None) -> list[int]:
    assert rollouts is not None
    return sorted(int(rollout.answers[0, 0]) for rollout in rollouts)


class WatchedTimer(CategoryTimer):
    """Tells when a thread has begun to wait in a category."""

    def __init__(self) -> None:
        super().__init__()
        self._entered = {category: threading.Event() for category in COLLECTOR_CATEGORIES}

    @contextmanager
    def measure(self, category: str) -> Iterator[None]:
        with super().measure(category):
            self._entered[category].set()
            yield

    def wait_until_entered(self, category: str) -> None:
        assert self._entered[category].wait(WAIT_S)


class Setting:
    def __init__(
        self,
        carry_out: Callable[[int], Rollout],
        *,
        capacity: int = 10,
        threads: int = 1,
        limit: int = 3,
    ) -> None:
        self.timer = WatchedTimer()
        self.buffer = ReplayBuffer(capacity, max_lag=1, on_stale=lambda _: None)
        self.collector = TrajectoryCollector(
            carry_out,
            self.buffer,
            self.timer,
            CollectorOptions(threads=threads, rollouts_per_version=limit, max_failures=2),
        )


def test_it_pauses_at_the_generation_limit_until_the_next_version() -> None:
    setting = Setting(rollout_of, limit=3)
    setting.collector.start()

    first = setting.buffer.take(3, WAIT_S)
    nothing_more = setting.buffer.take(1, timeout_s=0.0)
    setting.collector.begin_refit()
    setting.collector.finish_refit()
    second = setting.buffer.take(3, WAIT_S)
    setting.collector.stop()

    assert numbers(first) == [0, 1, 2]
    assert nothing_more is None
    assert numbers(second) == [3, 4, 5]
    assert setting.timer.seconds()[GENERATION_LIMIT_PAUSE] > 0.0


def test_no_rollout_starts_during_a_refit_and_the_wait_is_measured() -> None:
    setting = Setting(rollout_of, limit=2)
    setting.collector.begin_refit()
    setting.collector.start()

    setting.timer.wait_until_entered(REFIT_EVENT_WAIT)
    during = len(setting.buffer)
    setting.collector.finish_refit()
    after = setting.buffer.take(2, WAIT_S)
    setting.collector.stop()

    assert during == 0
    assert numbers(after) == [0, 1]
    assert setting.timer.seconds()[REFIT_EVENT_WAIT] > 0.0


def test_a_full_buffer_holds_the_thread_back_and_loses_nothing() -> None:
    setting = Setting(rollout_of, capacity=1, limit=3)
    setting.collector.start()

    setting.timer.wait_until_entered(BUFFER_FULL_BACKOFF)
    taken = [numbers(setting.buffer.take(1, WAIT_S))[0] for _ in range(3)]
    setting.collector.stop()

    assert taken == [0, 1, 2]
    assert setting.timer.seconds()[BUFFER_FULL_BACKOFF] > 0.0


def test_a_failed_rollout_is_counted_as_waste_and_another_takes_its_place() -> None:
    def carry_out(number: int) -> Rollout:
        if number == 0:
            raise ConnectionError("the worker is gone")
        return rollout_of(number)

    setting = Setting(carry_out, limit=2)
    setting.collector.start()

    taken = setting.buffer.take(2, WAIT_S)
    setting.collector.raise_if_broken()
    setting.collector.stop()

    assert numbers(taken) == [1, 2]
    assert setting.timer.seconds()[FAILED_TRAJECTORY] > 0.0


def test_rollouts_that_fail_one_after_another_reach_the_trainer_with_their_cause() -> None:
    third = threading.Event()

    def carry_out(number: int) -> Rollout:
        if number == 3:
            third.set()
        raise ConnectionError("the worker is gone")

    setting = Setting(carry_out, limit=2)
    setting.collector.start()
    third.wait(WAIT_S)

    with pytest.raises(CollectorBrokenError, match="failed one after another") as caught:
        setting.collector.raise_if_broken()
    setting.collector.stop()

    assert isinstance(caught.value.__cause__, ConnectionError)


def test_stop_ends_a_thread_that_waits_for_room() -> None:
    setting = Setting(rollout_of, capacity=1, threads=2, limit=4)
    setting.collector.start()
    setting.timer.wait_until_entered(BUFFER_FULL_BACKOFF)

    setting.collector.stop()

    assert len(setting.buffer) == 1
