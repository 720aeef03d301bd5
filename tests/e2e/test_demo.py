# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The demo as a user runs it: what the job logged is what the file holds."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

STEPS = 25
ANSWERS_PER_STEP = 4 * 32 * 16
RUN_TIMEOUT_S = 150

pytestmark = pytest.mark.timeout(RUN_TIMEOUT_S + 30)

CONFIG = """
http: {{port: 0}}
client: {{flush_interval_s: 0.5}}
export:
  interval_s: 2
  file: {{path: {path}}}
"""


class Point(NamedTuple):
    """One data point of the file, flat."""

    metric: str
    producer: tuple[str | None, int | None]
    attributes: tuple[tuple[str, str], ...]
    time_unix_nano: int
    value: float | None


class Demo(NamedTuple):
    """A finished run: what it printed, and every point of its file in file order."""

    exit_code: int
    result: dict[str, Any]
    messages: str
    points: list[Point]

    def of(self, metric: str) -> list[Point]:
        return [point for point in self.points if point.metric == metric]


def plain(value: dict[str, Any]) -> Any:
    ((kind, inner),) = value.items()
    return int(inner) if kind == "intValue" else inner


def attributes_of(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {item["key"]: plain(item["value"]) for item in items}


def points_of_line(line: str) -> Iterator[Point]:
    for resource_metrics in json.loads(line)["resourceMetrics"]:
        resource = attributes_of(resource_metrics["resource"]["attributes"])
        producer = (resource.get("rl.worker_group"), resource.get("nv.dl.rank"))
        for scope_metrics in resource_metrics["scopeMetrics"]:
            for metric in scope_metrics["metrics"]:
                data = metric.get("gauge") or metric.get("sum") or metric["histogram"]
                for point in data["dataPoints"]:
                    value = point.get("asDouble", point.get("asInt"))
                    yield Point(
                        metric["name"],
                        producer,
                        tuple(sorted(attributes_of(point.get("attributes", [])).items())),
                        int(point["timeUnixNano"]),
                        None if value is None else float(value),
                    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    directory = tmp_path_factory.mktemp("demo")
    file = directory / "metrics.jsonl"
    config = directory / "telemetry.yaml"
    config.write_text(CONFIG.format(path=file))
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    environment["RAY_AUTH_MODE"] = "disabled"
    command = [sys.executable, "-m", "nemo_telemetry_actor.cli.main", "demo", "--json"]

    finished = subprocess.run(
        [*command, "--steps", str(STEPS), "--seed", "1", "--config", str(config)],
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        env=environment,
        check=False,
    )

    assert finished.returncode == 0, finished.stderr
    lines = Path(file).read_text().splitlines()
    points = [point for line in lines for point in points_of_line(line)]
    return Demo(finished.returncode, json.loads(finished.stdout), finished.stderr, points)


def test_every_steps_reward_is_in_the_file_exactly_and_once(demo: Demo) -> None:
    logged = demo.result["reward"]
    written = demo.of("rl.reward.mean")

    assert [step for step, _ in logged] == list(range(1, STEPS + 1))
    assert [point.value for point in written] == [value for _, value in logged]
    times = [point.time_unix_nano for point in written]
    assert times == sorted(set(times))


def test_every_validations_accuracy_is_in_the_file_exactly_and_once(demo: Demo) -> None:
    written = [point.value for point in demo.of("digits.validation.accuracy")]

    assert written == [value for _, value in demo.result["accuracy"]]
    assert [step for step, _ in demo.result["accuracy"]] == [0, 10, 20, 25]


@pytest.mark.parametrize(
    "metric",
    ["rl.kl.divergence", "rl.policy.loss", "rl.entropy", "rl.grad_norm", "rl.learning_rate"],
)
def test_a_training_scalar_has_one_point_a_step(demo: Demo, metric: str) -> None:
    assert len(demo.of(metric)) == STEPS


def test_every_efficiency_category_is_measured_at_every_step(demo: Demo) -> None:
    by_category: dict[str, int] = {}
    for point in demo.of("rl.efficiency.seconds"):
        category = dict(point.attributes)["rl.efficiency.category"]
        by_category[category] = by_category.get(category, 0) + 1

    assert by_category == dict.fromkeys(
        [
            "init/total",
            "idle/buffer_starvation",
            "idle/refit_bubble",
            "idle/validation",
            "idle/refit_event_wait",
            "idle/generation_limit_pause",
            "idle/buffer_full_backoff",
            "wasted/failed_trajectory",
        ],
        STEPS,
    )
    assert len(demo.of("rl.efficiency.pct")) == STEPS


def test_each_setup_phase_is_there_once_and_the_whole_is_the_longest(demo: Demo) -> None:
    phases = {
        dict(point.attributes)["rl.setup.phase"]: point.value
        for point in demo.of("rl.setup.duration")
    }

    assert {"policy_init", "generation_init", "worker_setup", "total_setup"} <= set(phases)
    assert phases["total_setup"] == max(value for value in phases.values() if value is not None)


def test_the_trainers_counted_every_answer_that_was_trained_on(demo: Demo) -> None:
    totals = {point.producer: point.value for point in demo.of("digits.policy.answers")}

    assert set(totals) == {("lm_policy", 0), ("lm_policy", 1)}
    assert sum(value or 0.0 for value in totals.values()) == STEPS * ANSWERS_PER_STEP


def test_the_reward_model_built_inside_the_environment_reports_too(demo: Demo) -> None:
    graded = sum(
        value or 0.0
        for value in {
            point.attributes: point.value for point in demo.of("digits.env.graded")
        }.values()
    )
    scored = demo.of("digits.reward_model.scored")

    assert {point.producer for point in scored} == {("reward_model_policy", 0)}
    assert scored[-1].value == graded >= STEPS * ANSWERS_PER_STEP


def test_the_series_were_read_back_from_the_actor_with_their_last_values(demo: Demo) -> None:
    by_name = {row["name"]: row for row in demo.result["series"]}
    _, last_reward = demo.result["reward"][-1]

    assert by_name["rl.reward.mean"]["value"] == f"{last_reward:.6g}"
    producers = {row["producer"] for row in demo.result["series"]}
    assert {"generation 0", "generation 1", "reward_model_policy 0"} <= producers
    assert demo.result["is_delivered"] is True


def test_people_are_told_where_the_file_is_and_nothing_that_is_gone(demo: Demo) -> None:
    assert demo.result["file"] in demo.messages
    assert "http://" not in demo.messages
    assert "read back from the telemetry actor" in demo.messages
