# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Who makes the actor, who shares it, and what is left when processes end."""

import json
import logging
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import ray

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import ensure_actor, find_actor, stop_actor
from nemo_telemetry_actor.client.connect import clients
from nemo_telemetry_actor.config.load import load_config
from nemo_telemetry_actor.config.transfer import encode_config
from tests.integration.ray.conftest import RunDriver

pytestmark = pytest.mark.timeout(180)

QUIET = {"http": {"port": 0}, "client": {"flush_interval_s": 0.2}}
COUNT = nta.MetricSpec("count", "test.count", "counter")

DRIVER = """
import json, os, signal, sys
import ray, nemo_telemetry_actor as nta
ray.init(configure_logging=False, log_to_driver=False)
how, path = sys.argv[1:]
telemetry = nta.start({"http": {"port": 0}, "export": {"file": {"path": path}}}, run_id="driver")
telemetry.register_metric_group("g", [nta.MetricSpec("count", "test.count", "counter")])
telemetry.record("g", count=3)
telemetry.record("g", count=4)
if how == "raises":
    raise SystemExit("as asked")
if how == "sigterm":
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()
"""

BEFORE_RAY = """
import json, os
import nemo_telemetry_actor as nta
telemetry = nta.connect(worker_group="early")
telemetry.register_metric_group("g", [nta.MetricSpec("count", "test.count", "counter")])
telemetry.record("g", count=1)
assert telemetry.flush(0.3) is False
import ray
ray.init(configure_logging=False, log_to_driver=False)
telemetry.record("g", count=1)
print(json.dumps([telemetry.flush(30), telemetry.undelivered, telemetry.run_id]))
"""

FORKS = """
import json, os, sys
import nemo_telemetry_actor as nta
telemetry = nta.connect(run_id="forks")
telemetry.register_metric_group("g", [nta.MetricSpec("count", "test.count", "counter")])
telemetry.record("g", count=1)
child = os.fork()
import ray
ray.init(configure_logging=False, log_to_driver=False)
telemetry.record("g", count=10 if child else 100)
flushed = telemetry.flush(30)
if not child:
    os._exit(0 if flushed else 1)
print(json.dumps([flushed, os.waitpid(child, 0)[1]]))
"""


class StarterClass:
    """A process that brings telemetry up when it is told to."""

    def ready(self) -> int:
        return os.getpid()

    def start(self) -> tuple[str, int]:
        handle, _ = ensure_actor(load_config(QUIET, {}), timeout_s=60.0)
        state = ray.get(handle.state.remote())
        return state["incarnation"], state["pid"]


class LeaverClass:
    """Records and ends without a flush."""

    def __init__(self) -> None:
        self._telemetry = nta.connect(worker_group="leaver")
        self._telemetry.register_metric_group("g", [COUNT])

    def record(self, count: int) -> str:
        assert self._telemetry.wait_joined(20.0)
        self._telemetry.record("g", count=count)
        return self._telemetry.run_id

    def leave(self) -> None:
        ray.actor.exit_actor()  # type: ignore[no-untyped-call]  # as Ray has it


Starter: Any = ray.remote(num_cpus=0)(StarterClass)
Leaver: Any = ray.remote(num_cpus=0)(LeaverClass)


def state() -> dict[str, Any]:
    answer: dict[str, Any] = ray.get(find_actor().state.remote())
    return answer


def totals(name: str, run_id: str | None = None) -> list[float]:
    rows = ray.get(find_actor().series.remote(run_id=run_id))
    return [row["value"] for row in rows if row["name"] == name]


def wait_until(is_true: Any, timeout_s: float = 30.0) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline_s, "it never became true"
        ray.wait([find_actor().state.remote()], timeout=1.0)


def test_twenty_processes_that_start_at_once_share_one_actor(cluster: str) -> None:
    starters = [Starter.remote() for _ in range(20)]
    assert len(set(ray.get([starter.ready.remote() for starter in starters]))) == 20

    found = ray.get([starter.start.remote() for starter in starters])

    assert len(set(found)) == 1


def test_the_actor_is_on_the_head_node_and_found_by_name(cluster: str) -> None:
    nta.start(QUIET)

    handle: Any = ray.get_actor("nemo_telemetry", namespace="nemo_telemetry")

    same = encode_config(load_config(QUIET, {}))
    assert ray.get(handle.config_differences.remote(config=same)) == []
    assert ray.get(handle.state.remote())["problems"] == []
    named: list[Any] = ray.util.list_named_actors(all_namespaces=True)
    assert {"name": "nemo_telemetry", "namespace": "nemo_telemetry"} in named
    # What pins it there: a sliver of a resource that the head node alone has.
    left: Any = ray.available_resources()  # type: ignore[no-untyped-call]  # as Ray has it
    assert left["node:__internal_head__"] == pytest.approx(0.999)


def test_an_actor_that_runs_keeps_its_configuration_and_the_difference_is_reported(
    cluster: str, caplog: pytest.LogCaptureFixture
) -> None:
    first = nta.start(QUIET, run_id="first")

    with caplog.at_level(logging.WARNING, "nemo_telemetry_actor"):
        second = nta.start({**QUIET, "export": {"interval_s": 33.0}}, run_id="second")

    assert "export.interval_s" in caplog.text
    assert (first.run_id, second.run_id) == ("first", "second")
    assert [run["run_id"] for run in state()["runs"]] == ["first", "second"]


def test_runs_of_one_actor_do_not_mix(cluster: str) -> None:
    one = nta.start(QUIET, run_id="one", algorithm="grpo")
    two = nta.start(QUIET, run_id="two", algorithm="dpo")
    for telemetry, count in ((one, 1), (two, 2)):
        telemetry.register_metric_group("g", [COUNT])
        telemetry.record("g", count=count)
        assert telemetry.flush(20.0)

    assert totals("test.count", "one") == [1.0]
    assert totals("test.count", "two") == [2.0]
    assert {run["run_id"]: run["attributes"]["rl.algorithm"] for run in state()["runs"]} == {
        "one": "grpo",
        "two": "dpo",
    }


@pytest.mark.parametrize("how", ["returns", "raises", "sigterm"])
def test_a_driver_that_ends_without_a_word_loses_nothing_and_ends_its_run(
    cluster: str, run_driver: RunDriver, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "metrics.jsonl"

    _, errors = run_driver(DRIVER, how, str(path)).communicate(timeout=60)

    run = next((each for each in state()["runs"] if each["run_id"] == "driver"), None)
    assert run is not None, errors
    assert run["state"] == "ended"
    assert totals("test.count", "driver") == [7.0]
    # Its final values are exported though the export interval is far away.
    wait_until(lambda: path.exists() and "test.count" in path.read_text())
    exported = [
        metric["sum"]["dataPoints"][0]["asDouble"]
        for line in path.read_text().splitlines()
        for resource in json.loads(line)["resourceMetrics"]
        for metric in resource["scopeMetrics"][0]["metrics"]
        if metric["name"] == "test.count"
    ]
    assert exported[-1] == 7.0


def test_an_actor_that_exits_delivers_what_it_had_buffered(cluster: str) -> None:
    nta.start({"http": {"port": 0}, "client": {"flush_interval_s": 15.0}})
    leaver = Leaver.remote()
    run_id = ray.get(leaver.record.remote(9))

    with pytest.raises(ray.exceptions.RayActorError):
        ray.get(leaver.leave.remote())

    wait_until(lambda: totals("test.count", run_id) == [9.0])


def test_connect_before_ray_and_before_the_actor_buffers_and_joins_later(
    cluster: str, run_driver: RunDriver
) -> None:
    early = run_driver(BEFORE_RAY)
    ensure_actor(load_config(QUIET, {}))

    out, errors = early.communicate(timeout=60)

    assert out, errors
    flushed, undelivered, run_id = json.loads(out)
    assert (flushed, undelivered) == (True, 0)
    assert totals("test.count", run_id) == [2.0]


def test_a_fork_before_ray_reports_as_a_process_of_its_own(
    cluster: str, run_driver: RunDriver
) -> None:
    ensure_actor(load_config(QUIET, {}))

    out, errors = run_driver(FORKS).communicate(timeout=60)

    assert out, errors
    assert json.loads(out) == [True, 0], errors
    # The parent's 1 from before the fork is the parent's alone.
    assert sorted(totals("test.count", "forks")) == [11.0, 100.0]


def test_a_killed_actor_goes_on_from_its_totals_and_start_times(cluster: str) -> None:
    telemetry = nta.start(QUIET, run_id="survivor", algorithm="grpo")
    telemetry.register_metric_group("g", [COUNT])
    telemetry.record("g", count=1)
    assert telemetry.flush(20.0)
    before = state()
    (row,) = ray.get(find_actor().series.remote(names=["test.count"]))

    os.kill(before["pid"], signal.SIGKILL)
    telemetry.record("g", count=5)

    assert telemetry.flush(60.0)
    after = state()
    assert after["incarnation"] != before["incarnation"]
    assert (before["durability"]["restarts"], after["durability"]["restarts"]) == (0, 1)
    assert [run["run_id"] for run in after["runs"]] == ["survivor"]
    assert after["runs"][0]["attributes"]["rl.algorithm"] == "grpo"
    (after_row,) = ray.get(find_actor().series.remote(names=["test.count"]))
    assert (row["value"], after_row["value"]) == (1.0, 6.0)
    assert after_row["start_time_unix_nano"] == row["start_time_unix_nano"]


def test_what_comes_while_the_actor_ends_waits_for_the_next_one(cluster: str) -> None:
    telemetry = nta.start(QUIET, run_id="waits")
    telemetry.register_metric_group("g", [COUNT])
    telemetry.record("g", count=1)
    assert telemetry.flush(20.0)
    drained = ray.get(find_actor().drain.remote(timeout_s=5.0))

    telemetry.record("g", count=2)
    refused = telemetry.flush(1.0)
    report = stop_actor(5.0)
    ensure_actor(load_config(QUIET, {}))

    assert (drained["delivered"], refused, report.delivered) == (True, False, True)
    assert telemetry.flush(60.0)
    assert totals("test.count", "waits") == [2.0]


def test_a_driver_brings_the_actor_back_when_it_is_gone_for_good(cluster: str) -> None:
    telemetry = nta.start(QUIET, run_id="again")
    telemetry.register_metric_group("g", [COUNT])
    telemetry.record("g", count=1)
    assert telemetry.flush(20.0)

    ray.kill(find_actor())
    telemetry.record("g", count=2)

    assert telemetry.flush(60.0)
    assert totals("test.count", "again") == [3.0]


def test_a_driver_leaves_an_actor_that_was_stopped_alone(cluster: str) -> None:
    telemetry = nta.start(QUIET, run_id="stopped")
    telemetry.register_metric_group("g", [COUNT])
    stop_actor(5.0)

    telemetry.record("g", count=2)

    assert not telemetry.flush(3.0)
    with pytest.raises(nta.ActorUnavailableError):
        find_actor()


def test_connect_twice_gives_one_handle_and_start_after_connect_opens_its_run(
    cluster: str,
) -> None:
    ensure_actor(load_config(QUIET, {}))
    connected = nta.connect()

    started = nta.start(QUIET, algorithm="grpo")

    assert connected is started is nta.connect()
    assert clients.find(started.run_id) is started
    assert state()["runs"][0]["attributes"]["rl.algorithm"] == "grpo"
    assert started.shutdown(20.0)
    assert [run["state"] for run in state()["runs"]] == ["ended"]


def test_start_without_ray_says_what_to_do(run_driver: RunDriver) -> None:
    _, errors = run_driver("import nemo_telemetry_actor as nta; nta.start()").communicate(
        timeout=60
    )

    assert "ActorUnavailableError" in errors
    assert "ray.init()" in errors
