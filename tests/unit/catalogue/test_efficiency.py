# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.catalogue.efficiency import (
    CATEGORIES,
    efficiency_points,
    pct_window,
    seconds_attributes,
)

TABLE = [
    ("init/total", "wall_clock", "run", "overhead"),
    ("idle/buffer_starvation", "wall_clock", "step", "idle"),
    ("idle/refit_bubble", "wall_clock", "step", "idle"),
    ("idle/validation", "wall_clock", "step", "idle"),
    ("idle/refit_event_wait", "collector_wall_clock", "run", "idle"),
    ("idle/generation_limit_pause", "collector_wall_clock", "run", "idle"),
    ("idle/buffer_full_backoff", "thread_seconds", "run", "idle"),
    ("wasted/failed_trajectory", "thread_seconds", "run", "wasted"),
]

# What the loop logs beside the categories.
AGGREGATES = {
    "efficiency/thread_seconds_total_s": 9.0,
    "efficiency/total_waste_s": 9.0,
    "efficiency/productive_time_s": 9.0,
    "efficiency/total_wall_time_s": 9.0,
    **{f"efficiency/{row[0]}_pct": 9.0 for row in TABLE[:4]},
}


def _attributes(category: str, measurement: str, window: str, bucket: str) -> dict[str, str]:
    return {
        "rl.efficiency.category": category,
        "rl.efficiency.measurement": measurement,
        "rl.efficiency.window": window,
        "rl.bucket": bucket,
    }


def _pct(window: str) -> dict[str, str]:
    return {"rl.efficiency.measurement": "wall_clock", "rl.efficiency.window": window}


def test_the_categories_are_the_catalogues() -> None:
    assert list(CATEGORIES) == [row[0] for row in TABLE]


@pytest.mark.parametrize(("category", "measurement", "window", "bucket"), TABLE)
def test_a_categorys_seconds_carry_its_four_attributes(
    category: str, measurement: str, window: str, bucket: str
) -> None:
    points = efficiency_points({f"efficiency/{category}_s": 1.25})

    expected = _attributes(category, measurement, window, bucket)
    assert points == [({"efficiency_seconds": 1.25}, expected)]


def test_a_category_of_no_bucket_leaves_the_bucket_out() -> None:
    assert seconds_attributes("idle/new", "wall_clock") == {
        "rl.efficiency.category": "idle/new",
        "rl.efficiency.measurement": "wall_clock",
        "rl.efficiency.window": "step",
    }


def test_categories_come_in_table_order_and_the_share_last() -> None:
    metrics: dict[str, Any] = {"efficiency/efficiency_pct": 75.0}
    metrics |= {f"efficiency/{row[0]}_s": float(i) for i, row in reversed([*enumerate(TABLE)])}

    points = efficiency_points(metrics)

    expected: list[Any] = [
        ({"efficiency_seconds": float(i)}, _attributes(*row)) for i, row in enumerate(TABLE)
    ]
    assert points == [*expected, ({"efficiency_pct": 75.0}, _pct("run"))]


def test_aggregates_and_shares_of_the_same_form_are_no_categories() -> None:
    assert efficiency_points(AGGREGATES) == []


def test_a_train_dict_makes_no_efficiency_series() -> None:
    assert efficiency_points({"loss": 1.0, "reward": 0.5, "idle/validation_s": 2.0}) == []


def test_zero_seconds_are_a_point() -> None:
    points = efficiency_points({"efficiency/idle/validation_s": 0.0})

    assert [values for values, _ in points] == [{"efficiency_seconds": 0.0}]


@pytest.mark.parametrize("value", [None, True, "1.0", [1.0], np.array([1.0, 2.0]), 10**400])
def test_a_category_or_share_that_is_no_number_is_left_out(value: object) -> None:
    metrics = {
        "efficiency/idle/validation_s": value,
        "efficiency/efficiency_pct": value,
        "efficiency/idle/refit_bubble_s": np.float32(0.5),
    }

    assert [values for values, _ in efficiency_points(metrics)] == [{"efficiency_seconds": 0.5}]


def test_values_that_are_not_finite_pass() -> None:
    points = efficiency_points(
        {"efficiency/idle/validation_s": math.inf, "efficiency/efficiency_pct": math.nan}
    )

    assert points[0][0] == {"efficiency_seconds": math.inf}
    assert math.isnan(points[1][0]["efficiency_pct"])


@pytest.mark.parametrize(
    ("flag", "window"),
    [
        (1.0, "step"),
        (1, "step"),
        (np.float32(1), "step"),
        (0.0, "run"),
        (0, "run"),
        (None, "run"),
        (math.nan, "run"),
        (-1.0, "run"),
        (True, "run"),
        ("1.0", "run"),
    ],
)
def test_only_a_number_above_zero_makes_the_share_a_steps(flag: object, window: str) -> None:
    metrics = {
        "efficiency/efficiency_pct": 97.0,
        "efficiency/efficiency_pct_is_per_step": flag,
    }

    assert efficiency_points(metrics) == [({"efficiency_pct": 97.0}, _pct(window))]
    assert pct_window(flag) == window


def test_a_share_without_its_flag_is_the_runs() -> None:
    points = efficiency_points({"efficiency/efficiency_pct": 97.0})

    assert points == [({"efficiency_pct": 97.0}, _pct("run"))]


def test_the_flag_alone_makes_no_point() -> None:
    assert efficiency_points({"efficiency/efficiency_pct_is_per_step": 1.0}) == []


@pytest.mark.parametrize(
    ("pct", "flag", "window"),
    [
        pytest.param(75.0, 1.0, "step", id="idle is a quarter of the step"),
        pytest.param(100.0, 1.0, "step", id="a step without wall time"),
        pytest.param(97.0, 0.0, "run", id="no step wall, so the run's is the denominator"),
        pytest.param(0.0, 1.0, "step", id="waste beyond the wall"),
        pytest.param(94.0, 0.0, "run", id="driver and collector merged"),
    ],
)
def test_the_worked_shares_pass_as_logged(pct: float, flag: float, window: str) -> None:
    metrics = AGGREGATES | {
        "efficiency/efficiency_pct": pct,
        "efficiency/efficiency_pct_is_per_step": flag,
    }

    assert efficiency_points(metrics) == [({"efficiency_pct": pct}, _pct(window))]
