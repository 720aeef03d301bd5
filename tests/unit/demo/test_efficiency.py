# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.demo.efficiency import (
    COLLECTOR_CATEGORIES,
    WALL_CATEGORIES,
    CategoryTimer,
    efficiency_metrics,
)


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_seconds_of_a_category_add_up_and_end_with_take() -> None:
    clock = FakeClock()
    timer = CategoryTimer(clock)

    for seconds in (2.0, 3.0):
        with timer.measure("idle/validation"):
            clock.now += seconds
    timer.add("init/total", 7.0)

    assert timer.take() == {"idle/validation": 5.0, "init/total": 7.0}
    assert timer.take() == {}


def test_an_interval_that_ends_in_an_error_counts() -> None:
    clock = FakeClock()
    timer = CategoryTimer(clock)

    def fail() -> None:
        clock.now += 4.0
        raise KeyError

    with pytest.raises(KeyError), timer.measure("idle/validation"):
        fail()

    assert timer.seconds() == {"idle/validation": 4.0}


def test_nested_categories_each_count_their_own_time() -> None:
    clock = FakeClock()
    timer = CategoryTimer(clock)

    with timer.measure("outer"):
        clock.now += 1.0
        with timer.measure("inner"):
            clock.now += 2.0

    assert timer.seconds() == {"outer": 3.0, "inner": 2.0}


def test_a_quarter_of_the_step_idle_leaves_75_percent() -> None:
    metrics = efficiency_metrics({"idle/validation": 1.0}, total_wall_s=100.0, step_wall_s=4.0)

    assert metrics["efficiency/efficiency_pct"] == 75.0
    assert metrics["efficiency/efficiency_pct_is_per_step"] == 1.0
    assert metrics["efficiency/total_waste_s"] == 1.0
    assert metrics["efficiency/productive_time_s"] == 3.0
    assert metrics["efficiency/idle/validation_pct"] == 1.0


def test_init_and_the_collectors_categories_are_no_idle_time_of_a_step() -> None:
    every = dict.fromkeys(WALL_CATEGORIES + COLLECTOR_CATEGORIES, 1.0)

    metrics = efficiency_metrics(every, total_wall_s=100.0, step_wall_s=100.0)

    assert metrics["efficiency/total_waste_s"] == 3.0
    assert metrics["efficiency/efficiency_pct"] == 97.0
    assert metrics["efficiency/thread_seconds_total_s"] == 4.0


def test_idle_time_beyond_the_step_is_capped() -> None:
    metrics = efficiency_metrics({"idle/refit_bubble": 9.0}, total_wall_s=20.0, step_wall_s=5.0)

    assert metrics["efficiency/total_waste_s"] == 5.0
    assert metrics["efficiency/productive_time_s"] == 0.0
    assert metrics["efficiency/efficiency_pct"] == 0.0


def test_a_step_of_no_time_is_fully_efficient() -> None:
    metrics = efficiency_metrics({}, total_wall_s=0.0, step_wall_s=0.0)

    assert metrics["efficiency/efficiency_pct"] == 100.0
    assert metrics["efficiency/idle/validation_pct"] == 0.0


def test_every_category_is_there_even_when_nothing_was_measured() -> None:
    metrics = efficiency_metrics({}, total_wall_s=1.0, step_wall_s=1.0)

    for category in WALL_CATEGORIES + COLLECTOR_CATEGORIES:
        assert metrics[f"efficiency/{category}_s"] == 0.0
