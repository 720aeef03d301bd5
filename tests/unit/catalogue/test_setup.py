# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import itertools
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.catalogue.setup import setup_phase, setup_points


def _point(phase: str, seconds: float) -> tuple[dict[str, float], dict[str, str]]:
    return {"setup_duration": seconds}, {"rl.setup.phase": phase}


@pytest.mark.parametrize(
    "phase",
    [
        "generation_init",
        "generation_init_reserve",
        "generation_init_load",
        "policy_init",
        "value_init",
        "nemo_gym_init",
        "collective_init",
        "weight_sync",
        "parallel_wall",
        "teacher_reservation",
        "teacher_model_init",
        "teacher_init",
        "vllm_checkpoint_engine_init",
        "total_setup",
        "worker_setup",
        "other_setup",
        "vllm_nccl_sparse_init",
    ],
)
def test_a_phase_of_the_catalogue_is_its_key_without_time_s(phase: str) -> None:
    assert setup_points({f"{phase}_time_s": 2.5}) == [_point(phase, 2.5)]


@pytest.mark.parametrize(
    ("key", "phase"),
    [
        ("load_s", "load"),
        ("load_time_s", "load"),
        ("downtime_s", "downtime"),
        ("_x_s", "_x"),
        ("_s_s", "_s"),
        ("_time_s_s", "_time_s"),
        ("_time_s_time_s", "_time_s"),
        ("_s", None),
        ("_time_s", None),
        ("s", None),
        ("", None),
        ("phases", None),
        ("parallel_init_enabled", None),
        ("load_S", None),
        ("load_time_s ", None),
        ("load_ms", None),
    ],
)
def test_a_phase_is_what_stands_before_a_durations_ending(key: str, phase: str | None) -> None:
    assert setup_phase(key) == phase


def test_phases_come_in_the_dicts_order_with_no_bucket() -> None:
    metrics = {"b_time_s": 1, "parallel_init_enabled": 1.0, "a_s": np.float32(0.5)}

    assert setup_points(metrics) == [_point("b", 1.0), _point("a", 0.5)]


@pytest.mark.parametrize("value", [None, True, "1.0", [1.0], {}, np.array([1.0, 2.0])])
def test_a_duration_that_is_no_number_is_left_out(value: object) -> None:
    assert setup_points({"a_s": value, "b_s": 1.0}) == [_point("b", 1.0)]


@pytest.mark.parametrize(
    "items", list(itertools.permutations([("a_s", 1.0), ("a_time_s", 2.0), ("b_s", 3.0)]))
)
def test_the_longer_ending_wins_whatever_the_order(items: list[tuple[str, float]]) -> None:
    points = setup_points(dict(items))

    assert sorted(points, key=str) == sorted([_point("a", 2.0), _point("b", 3.0)], key=str)


@pytest.mark.parametrize("items", [("a_s", "a_time_s"), ("a_time_s", "a_s")])
def test_the_longer_ending_wins_only_with_a_number(items: tuple[str, str]) -> None:
    values = {"a_s": 1.0, "a_time_s": None}

    assert setup_points({key: values[key] for key in items}) == [_point("a", 1.0)]


def test_a_key_that_is_no_text_is_left_out() -> None:
    metrics: dict[Any, Any] = {3: 1.0, None: 1.0, (): 1.0, b"a_s": 1.0, np.str_("a_s"): 2.0}

    assert setup_points(metrics) == [_point("a", 2.0)]
