# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded anywhere in the cluster is what backends get, exactly."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import ray

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import find_actor
from tests.integration.ray.conftest import RunDriver
from tests.prometheus_server import PrometheusServer, require_tool
from tests.receivers import OtlpGrpcReceiver, OtlpHttpReceiver

pytestmark = pytest.mark.timeout(120)

STEP = nta.MetricSpec("step", "test.step")
ANSWERS = nta.MetricSpec("answers", "test.answers", "counter", "{answer}")
SECONDS = nta.MetricSpec("seconds", "test.duration", "histogram", "s", boundaries=(1.0, 2.0))

OTHER_JOB = """
import ray, nemo_telemetry_actor as nta
ray.init(configure_logging=False, log_to_driver=False)

@ray.remote
def work():
    telemetry = nta.connect(worker_group="elsewhere", rank=0)
    telemetry.register_metric_group("test", [nta.MetricSpec("answers", "test.answers", "counter")])
    telemetry.record("test", answers=13)
    return telemetry.flush(20), telemetry.run_id

print(*ray.get(work.remote()))
"""


class ReporterClass:
    """A worker of a group."""

    def __init__(self, group: str, rank: int) -> None:
        self._telemetry = nta.connect(worker_group=group, rank=rank)
        self._telemetry.register_metric_group("test", [STEP, ANSWERS, SECONDS])

    def record(self, count: int) -> tuple[bool, str]:
        for index in range(count):
            self._telemetry.record("test", answers=1, seconds=0.5 + index)
        return self._telemetry.flush(20.0), self._telemetry.run_id


Reporter: Any = ray.remote(ReporterClass)


@ray.remote
def report_from_task(value: float) -> bool:
    telemetry = nta.connect(worker_group="tasks")
    telemetry.register_metric_group("test", [ANSWERS], allow_override=True)
    telemetry.record("test", answers=value)
    # Ray keeps the process for other tasks: left open, it would go on reporting to this run.
    return telemetry.shutdown(20.0)


def state() -> dict[str, Any]:
    answer: dict[str, Any] = ray.get(find_actor().state.remote())
    return answer


def series(name: str) -> list[dict[str, Any]]:
    rows = ray.get(find_actor().series.remote())
    return [row for row in rows if row["name"] == name]


def test_driver_actor_task_and_another_jobs_worker_arrive_exactly(
    cluster: str, run_driver: RunDriver
) -> None:
    telemetry = nta.start({"http": {"port": 0}}, run_id="mine")
    telemetry.register_metric_group("test", [ANSWERS])
    telemetry.record("test", answers=2)
    reporter = Reporter.remote("generation", 1)

    in_actor = ray.get(reporter.record.remote(3))
    in_tasks = ray.get([report_from_task.remote(value) for value in (5, 7)])
    other, errors = run_driver(OTHER_JOB).communicate(timeout=60)

    assert in_actor == (True, "mine")
    assert in_tasks == [True, True]
    assert telemetry.flush(20.0)
    assert other.split()[:1] == ["True"], errors
    other_run = other.split()[1]
    rows = series("test.answers")
    by_group: dict[tuple[str, str | None], float] = {}
    for row in rows:
        key = (row["run_id"], row["worker_group"])
        by_group[key] = by_group.get(key, 0.0) + row["value"]
    assert by_group == {
        ("mine", None): 2.0,
        ("mine", "generation"): 3.0,
        ("mine", "tasks"): 12.0,
        (other_run, "elsewhere"): 13.0,
    }
    assert other_run != "mine"
    assert state()["ingest"]["dropped"] == {}


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_each_of_500_steps_in_one_interval_arrives_with_its_own_time(
    cluster: str, protocol: str
) -> None:
    receiver = OtlpGrpcReceiver() if protocol == "grpc" else OtlpHttpReceiver()
    with receiver:
        endpoint = receiver.endpoint.removeprefix("http://")
        telemetry = nta.start(
            {
                "http": {"port": 0},
                "export": {
                    "interval_s": 2.0,
                    "otlp": {"endpoint": f"http://{endpoint}", "protocol": protocol},
                },
            },
            algorithm="grpo",
        )
        telemetry.register_metric_group("test", [STEP, ANSWERS, SECONDS])

        for step in range(500):
            telemetry.record("test", {"step": step}, attributes={"rl.env": "math"})
            telemetry.record("test", answers=2, seconds=1.5)
        assert telemetry.shutdown(20.0)

        assert receiver.wait_for_points("test.step", 500)
        assert receiver.wait_for_points("test.answers", 1)
        steps = receiver.points("test.step")
        assert sorted((point.time_unix_nano, point.value) for point in steps) == [
            (point.time_unix_nano, float(step)) for step, point in enumerate(steps)
        ]
        assert len({point.time_unix_nano for point in steps}) == 500
        assert {tuple(point.attributes.items()) for point in steps} == {(("rl.env", "math"),)}
        resource = steps[0].resource
        assert resource["nemo.run.id"] == telemetry.run_id
        assert resource["rl.algorithm"] == "grpo"
        assert resource["service.name"] == "nemo-rl"
        assert receiver.points("test.answers")[-1].value == 1000.0
        histogram = receiver.points("test.duration")[-1].data
        assert (histogram.count, histogram.sum) == (500, 750.0)
        assert list(histogram.bucket_counts) == [0, 500, 0]


def test_prometheus_scrapes_the_actor_and_answers_with_the_right_numbers(
    cluster: str, tmp_path: Path
) -> None:
    telemetry = nta.start(
        {"http": {"port": 0}, "client": {"flush_interval_s": 0.2}}, model="Qwen/Qwen3-8B"
    )
    telemetry.register_metric_group("test", [STEP, ANSWERS, SECONDS])
    reporters = [Reporter.remote("generation", rank) for rank in range(2)]
    ray.get([reporter.record.remote(10) for reporter in reporters])
    telemetry.record("test", {"step": 41, "answers": 5, "seconds": 1.5})
    telemetry.record("test", {"step": 42})
    telemetry.tee({"reward": 0.75, "lr": 1e-6}, "train")
    assert telemetry.flush(20.0)

    with PrometheusServer(tmp_path, [state()["http_url"].removeprefix("http://")]) as prometheus:
        answers = prometheus.wait_for(
            f'sum by (nemo_run_id) (test_answers_total{{nemo_run_id="{telemetry.run_id}"}})'
        )
        step = prometheus.query("test_step")
        reward = prometheus.query("rl_reward_mean")
        by_rank = prometheus.query(
            'sum by (nv_dl_rank) (test_duration_seconds_count{rl_worker_group="generation"})'
        )
        of_model = prometheus.query(
            "rl_reward_mean * on (nemo_run_id, service_instance_id) "
            "group_left (rl_model) target_info"
        )

    assert [sample.value for sample in answers] == [25.0]
    assert [sample.value for sample in step] == [42.0]
    assert [sample.value for sample in reward] == [0.75]
    assert {sample.labels["nv_dl_rank"]: sample.value for sample in by_rank} == {
        "0": 10.0,
        "1": 10.0,
    }
    assert [sample.labels["rl_model"] for sample in of_model] == ["Qwen/Qwen3-8B"]


def test_promtool_has_no_complaint_about_the_actors_page(cluster: str) -> None:
    promtool = require_tool("promtool")
    telemetry = nta.start({"http": {"port": 0}})
    telemetry.register_metric_group("test", [STEP, ANSWERS, SECONDS])
    telemetry.record("test", {"step": 1, "answers": 1, "seconds": 1.5})
    telemetry.tee({"reward": 0.5, "loss": float("nan"), "vllm/prompt_tokens": 9}, "train")
    telemetry.tee({"total_setup_time_s": 3.5}, "timing/setup")
    assert telemetry.flush(20.0)

    page = subprocess.run(
        ["curl", "-sS", "--fail", state()["http_url"] + "/metrics"],
        capture_output=True,
        check=True,
    ).stdout
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=page, capture_output=True, check=False
    )

    assert b"rl_reward_mean" in page
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
