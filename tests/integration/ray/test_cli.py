# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""start, status and stop as a shell runs them, against a real cluster."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import ray

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import ensure_actor, find_actor
from nemo_telemetry_actor.config.load import load_config

pytestmark = pytest.mark.timeout(180)

QUIET: dict[str, object] = {"http": {"port": 0}, "export": {"file": False, "interval_s": 0.2}}
CLI = (sys.executable, "-m", "nemo_telemetry_actor.cli.main")
TOKEN = "0123456789abcdef" * 4


def _cli(cluster: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    environ = {"RAY_ADDRESS": cluster, "COLUMNS": "160", **environ}
    return subprocess.run(
        [*CLI, *arguments],
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        return int(listening.getsockname()[1])


def _next_step(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.rstrip("\n").rpartition("\n")[2]


def _to_a_dead_backend() -> dict[str, Any]:
    otlp = {"endpoint": f"http://127.0.0.1:{_free_port()}", "timeout_s": 1.0}
    return {"http": {"port": 0}, "export": {"file": False, "interval_s": 0.2, "otlp": otlp}}


@pytest.fixture
def quiet_file(tmp_path: Path) -> str:
    path = tmp_path / "quiet.yaml"
    path.write_text(json.dumps(QUIET))  # JSON is YAML
    return str(path)


def test_start_makes_the_actor_then_joins_it_and_opens_no_run(
    cluster: str, quiet_file: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(json.dumps({**QUIET, "service_name": "mine"}))

    made = _cli(cluster, "start", "--config", quiet_file)
    joined = _cli(cluster, "start", "--config", str(other), "--json")

    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith("telemetry actor made\n  url      http://127.0.0.1:")
    report = json.loads(joined.stdout)
    state = ray.get(find_actor().state.remote())
    assert (joined.returncode, joined.stderr) == (0, "")
    assert report == {
        "made": False,
        "address": cluster,
        "http_url": state["http_url"],
        "version": state["version"],
        "host": state["host"],
        "pid": state["pid"],
        "differences": ['service_name: running "nemo-rl", wanted "mine"'],
        "problems": [],
    }
    assert (state["runs"], state["clients"]) == ([], [])


def test_start_with_a_wrong_configuration_is_2_and_starts_nothing(
    cluster: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("http: {port: -1}")

    done = _cli(cluster, "start", "--config", str(path))

    assert done.returncode == 2
    assert "http.port is -1" in done.stderr
    assert _next_step(done) == f"Next: correct it, then run nemo-telemetry check-config {path}"
    with pytest.raises(nta.ActorUnavailableError):
        find_actor()


@pytest.mark.parametrize("command", ["status", "stop"])
def test_without_an_actor_it_is_1_and_the_next_step_is_start(cluster: str, command: str) -> None:
    done = _cli(cluster, command)

    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no telemetry actor in this cluster" in done.stderr
    assert _next_step(done) == "Next: nemo-telemetry start"


def test_status_shows_what_the_run_recorded_and_lost(cluster: str) -> None:
    telemetry = nta.start(QUIET, algorithm="grpo", model="digits")
    telemetry.register_metric_group("env", [nta.MetricSpec("score", "rl.env.score")])
    telemetry.record("env", {"score": float("nan"), "unknown": 1.0})
    assert telemetry.flush()

    page = _cli(cluster, "status")
    report = json.loads(_cli(cluster, "status", "--json").stdout)

    assert (page.returncode, page.stderr) == (0, "")
    (row,) = [line for line in page.stdout.splitlines() if line.startswith(telemetry.run_id)]
    assert [cell for cell in row.split() if cell in {"open", "grpo", "digits"}] == [
        "open",
        "grpo",
        "digits",
    ]
    assert "none that pushes" in page.stdout
    assert (report["healthy"], report["client_dropped"]) == (True, {"undeclared": 1})
    assert [(each["metric"], each["count"]) for each in report["nonfinite"]] == [
        ("rl.env.score", 1)
    ]
    assert [each["run_id"] for each in report["actor"]["runs"]] == [telemetry.run_id]


def test_a_dead_backend_is_1_in_status_and_stop_says_what_is_left(cluster: str) -> None:
    telemetry = nta.start(_to_a_dead_backend())
    telemetry.register_metric_group("env", [nta.MetricSpec("score", "rl.env.score")])
    telemetry.record("env", {"score": 0.5})
    assert telemetry.flush()
    while ray.get(find_actor().state.remote())["exporters"][0]["state"] != "down":
        pass  # each turn waits for an answer of the actor

    status = _cli(cluster, "status")
    stopped = _cli(cluster, "stop", "--timeout", "1")

    assert (status.returncode, stopped.returncode) == (1, 1)
    assert "is down" in status.stderr
    assert "nemo-telemetry status --watch" in _next_step(status)
    # The value, and what every process and host reports of itself.
    assert re.search(r"left: [1-9]\d* points", stopped.stdout)
    assert "1 client still there" in stopped.stdout
    assert "not everything was delivered" in stopped.stderr
    with pytest.raises(nta.ActorUnavailableError):
        find_actor()


def test_stop_delivers_first_and_then_there_is_no_actor(cluster: str, tmp_path: Path) -> None:
    path = tmp_path / "values.jsonl"
    export = {"file": {"path": str(path)}, "interval_s": 3600}
    telemetry = nta.start({"http": {"port": 0}, "export": export})
    telemetry.register_metric_group("env", [nta.MetricSpec("score", "rl.env.score")])
    telemetry.record("env", {"score": 0.123456})
    assert telemetry.flush()

    done = _cli(cluster, "stop", "--json")

    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (report["stopped"], report["answered"], report["delivered"]) == (True, True, True)
    assert [each["backlog_points"] for each in report["exporters"]] == [0]
    assert "0.123456" in path.read_text()
    with pytest.raises(nta.ActorUnavailableError):
        find_actor()


def test_an_actor_that_hangs_is_ended_all_the_same(cluster: str) -> None:
    handle, _ = ensure_actor(load_config(QUIET, {}))
    os.kill(ray.get(handle.state.remote())["pid"], signal.SIGSTOP)

    done = _cli(cluster, "stop", "--timeout", "0.1")

    assert (done.returncode, done.stdout) == (1, "telemetry actor stopped\n")
    assert "what it had not delivered is lost" in done.stderr
    with pytest.raises(nta.ActorUnavailableError):
        find_actor()


def test_watch_goes_on_until_it_is_interrupted(cluster: str) -> None:
    ensure_actor(load_config(QUIET, {}))
    watching = subprocess.Popen(
        [*CLI, "status", "--watch", "0.5", "--json"],
        env={**os.environ, "RAY_ADDRESS": cluster},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None

    lines = [json.loads(watching.stdout.readline()) for _ in range(2)]
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=60)

    assert (watching.returncode, errors) == (0, "")
    first, second = (line["actor"]["time_unix_nano"] for line in lines)
    assert second > first


def test_an_address_where_nothing_listens_is_told_in_seconds(cluster: str) -> None:
    done = _cli(cluster, "start", "--address", f"127.0.0.1:{_free_port()}")

    assert done.returncode == 1
    assert "no Ray cluster answers at 127.0.0.1:" in done.stderr
    assert _next_step(done).startswith("Next: ray start --head, or give --address")


@pytest.fixture
def closed_cluster(tmp_path: Path) -> Iterator[str]:
    """A cluster of its own that wants a token."""
    port = _free_port()
    # Ray's sockets lie below this path, and such a path may have a hundred characters only.
    folder = Path("/tmp") / f"nta-{os.getpid()}-{port}"
    options = [f"--port={port}", f"--ray-client-server-port={_free_port()}", "--num-cpus=1"]
    options += ["--include-dashboard=false", f"--temp-dir={folder}"]
    head = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", *options],
        env={**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert head.stdout is not None
    for line in head.stdout:
        if "--block" in line:
            break
    yield f"127.0.0.1:{port}"
    head.terminate()
    head.communicate(timeout=30)
    shutil.rmtree(folder)


def test_a_cluster_that_wants_a_token_is_explained_and_joined_with_it(closed_cluster: str) -> None:
    without = _cli(closed_cluster, "status")
    with_token = _cli(closed_cluster, "status", RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)

    assert without.returncode == 1
    assert "wants a token, and this shell gives none or another" in without.stderr
    assert _next_step(without).startswith("Next: export RAY_AUTH_MODE=token")
    assert "there is no telemetry actor in this cluster" in with_token.stderr
