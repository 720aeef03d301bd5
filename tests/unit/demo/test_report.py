# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import io

import pytest
from rich.console import Console

from nemo_telemetry_actor.demo.report import (
    DemoResult,
    SeriesRow,
    print_places,
    print_result,
    series_row,
)

ROW = SeriesRow("rl.reward.mean", "a=[b]", "driver", "", "0.5")


def result(*, is_own_ray: bool = True, is_delivered: bool = True) -> DemoResult:
    return DemoResult(
        run_id="r",
        seconds=3.0,
        training_seconds=2.0,
        reward=[(1, 0.1), (2, 0.2)],
        accuracy=[(0, 0.1), (2, 0.9)],
        series=[ROW],
        is_delivered=is_delivered,
        metrics_url="http://127.0.0.1:9464/metrics",
        file="/somewhere/metrics.jsonl",
        ray_address="127.0.0.1:6379",
        is_own_ray=is_own_ray,
    )


def printed(*, is_own_ray: bool, is_running: bool) -> str:
    output = io.StringIO()
    print_places(
        Console(file=output, width=80), result(is_own_ray=is_own_ray), is_running=is_running
    )
    return output.getvalue()


def test_a_gauges_row_shows_its_value_attributes_and_rank() -> None:
    row = series_row(
        {
            "name": "digits.env.reward",
            "kind": "gauge",
            "unit": "1",
            "worker_group": "lm_policy",
            "rank": 1,
            "attributes": {"digits.answer": "3"},
            "value": 0.25,
        }
    )

    assert row == SeriesRow("digits.env.reward", "3", "lm_policy 1", "1", "0.25")


def test_a_histograms_row_shows_count_and_mean() -> None:
    row = series_row(
        {
            "name": "d",
            "kind": "histogram",
            "unit": "s",
            "worker_group": None,
            "rank": 0,
            "attributes": {},
            "count": 4,
            "sum": 2.0,
            "max": 1.5,
        }
    )

    assert row == SeriesRow("d", "", "driver", "s", "4, mean 0.5")


def test_the_result_shows_the_curve_and_every_series_brackets_and_all() -> None:
    output = io.StringIO()

    print_result(Console(file=output, width=120), result())

    text = output.getvalue()
    assert "10.0% ▁█ 90.0%" in text
    assert "2 steps in 2.0 s" in text
    assert "rl.reward.mean" in text
    assert "a=[b]" in text
    assert "in time" not in text


def test_what_did_not_arrive_is_said() -> None:
    output = io.StringIO()

    print_result(Console(file=output, width=120), result(is_delivered=False))

    assert "Not everything reached the telemetry actor in time." in output.getvalue()


@pytest.mark.parametrize("is_own_ray", [True, False])
def test_while_the_actor_runs_all_places_are_named(is_own_ray: bool) -> None:
    text = printed(is_own_ray=is_own_ray, is_running=True)

    for place in ("/somewhere/metrics.jsonl", "http://127.0.0.1:9464/metrics", "status", ":6379"):
        assert place in text


def test_after_the_demos_own_ray_has_ended_only_the_file_is_named() -> None:
    text = printed(is_own_ray=True, is_running=False)

    assert "/somewhere/metrics.jsonl" in text
    assert "http://" not in text
    assert "--hold" in text


def test_what_the_service_measures_is_the_actors_and_bytes_are_readable() -> None:
    row = series_row(
        {
            "name": "rl.host.memory.used",
            "kind": "observable_gauge",
            "unit": "By",
            "worker_group": None,
            "rank": None,
            "attributes": {"host.name": "vm", "rl.worker_groups": "lm_policy"},
            "value": 3.0 * 2**30,
        }
    )

    assert row == SeriesRow("rl.host.memory.used", "vm lm_policy", "actor", "By", "3,072 MiB")
