# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""hosts and doctor as a shell runs them, against a real cluster."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import ray

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import ensure_actor, find_actor
from nemo_telemetry_actor.config.load import load_config

pytestmark = pytest.mark.timeout(120)

QUIET: dict[str, Any] = {
    "http": {"port": 0},
    "export": {"file": False},
    "hosts": {"interval_s": 0.2},
}
CLI = (sys.executable, "-m", "nemo_telemetry_actor.cli.main")


def _cli(cluster: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLI, *arguments],
        env={**os.environ, "RAY_ADDRESS": cluster, "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _next_step(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.rstrip("\n").rpartition("\n")[2]


def _checks(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def _wait_for_samples() -> None:
    while not ((rows := _rows()) and all(row["state"] == "fresh" for row in rows)):
        pass  # each turn waits for an answer of the actor


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ray.get(find_actor().hosts.remote())
    return rows


def test_hosts_shows_this_host_with_the_group_that_sits_there(cluster: str) -> None:
    telemetry = nta.start(QUIET)
    nodes = [node["NodeID"] for node in ray.nodes()]  # type: ignore[no-untyped-call]
    telemetry.register_worker_group_nodes("lm_policy", nodes)
    assert telemetry.flush()
    _wait_for_samples()

    page = _cli(cluster, "hosts")
    report = json.loads(_cli(cluster, "hosts", "--json").stdout)
    status = _cli(cluster, "status")

    assert (page.returncode, page.stderr) == (0, "")
    (line,) = [line for line in page.stdout.splitlines() if line.startswith(socket.gethostname())]
    assert line.split()[-2:] == ["fresh", "lm_policy"]
    assert "from each raylet's page: on Ray" in page.stdout
    (row,) = report["hosts"]
    assert (row["host"], row["state"]) == (socket.gethostname(), "fresh")
    assert row["groups"] == {telemetry.run_id: "lm_policy"}
    assert 0 < row["used_bytes"] < row["total_bytes"]
    assert "  hosts    1 fresh, from each raylet's page" in status.stdout


@pytest.mark.parametrize(
    ("arguments", "first"), [([], "hosts\n"), (["--json"], '{"healthy":true,')]
)
def test_watch_goes_on_in_a_pipe_until_it_is_interrupted_and_ends_with_0(
    cluster: str, arguments: list[str], first: str
) -> None:
    ensure_actor(load_config(QUIET, {}))
    _wait_for_samples()
    watching = subprocess.Popen(
        [*CLI, "hosts", "--watch", "0.5", *arguments],
        env={**os.environ, "RAY_ADDRESS": cluster},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None

    blocks = 0
    for line in watching.stdout:
        blocks += line.startswith(first)
        if blocks == 2:
            break
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=30)

    assert (watching.returncode, errors) == (0, "")


def test_hosts_that_are_off_are_1_and_say_how_to_turn_them_on(cluster: str) -> None:
    ensure_actor(load_config({**QUIET, "hosts": False}, {}))

    done = _cli(cluster, "hosts")

    assert (done.returncode, done.stdout) == (1, "")
    assert "host memory is off in the actor's configuration" in done.stderr
    assert _next_step(done).startswith("Next: set hosts: true")


def test_hosts_without_an_actor_is_1_and_a_wrong_option_is_2(cluster: str) -> None:
    done = _cli(cluster, "hosts")

    assert (done.returncode, _next_step(done)) == (1, "Next: nemo-telemetry start")
    assert _cli(cluster, "hosts", "--watch", "0").returncode == 2


def test_the_doctor_finds_a_sound_installation_sound(cluster: str, tmp_path: Path) -> None:
    path = tmp_path / "quiet.yaml"
    path.write_text(json.dumps(QUIET))  # JSON is YAML
    ensure_actor(load_config(str(path), {}))
    _wait_for_samples()

    done = _cli(cluster, "doctor", "--config", str(path), "--json")

    assert (done.returncode, done.stderr) == (0, "")
    checks = _checks(done)
    assert {name: check["level"] for name, check in checks.items()} == dict.fromkeys(checks, "ok")
    assert checks["raylet pages, from here"]["found"] == "1 of 1 pages carry the memory families"
    assert checks["clock: nodes"]["found"].startswith("agrees with the actor's to within")


def test_the_doctor_says_which_exporter_is_down_and_what_differs(
    cluster: str, tmp_path: Path
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        endpoint = f"http://127.0.0.1:{listening.getsockname()[1]}"
    export = {"file": False, "interval_s": 0.2, "otlp": {"endpoint": endpoint}}
    telemetry = nta.start({**QUIET, "export": export})
    _wait_for_samples()
    while ray.get(find_actor().state.remote())["exporters"][0]["state"] != "down":
        pass  # each turn waits for an answer of the actor
    path = tmp_path / "wanted.yaml"
    path.write_text(json.dumps(QUIET))

    done = _cli(cluster, "doctor", "--config", str(path), "--json")

    checks = _checks(done)
    exporter = checks[f"otlp/grpc {endpoint}"]
    assert (done.returncode, exporter["level"]) == (1, "failed")
    assert "Connection refused" in exporter["found"].rpartition("from here:")[2]
    assert checks["actor's configuration"]["level"] == "warning"
    assert f"failed: otlp/grpc {endpoint}" in done.stderr
    assert telemetry.flush()


def test_without_an_actor_the_doctor_checks_what_needs_none(cluster: str) -> None:
    done = _cli(cluster, "doctor", "--json")

    levels = {name: check["level"] for name, check in _checks(done).items()}
    assert (done.returncode, _next_step(done)) == (1, "Next: nemo-telemetry start")
    assert {name for name, level in levels.items() if level == "failed"} == {"actor"}
    # Pages may be empty for a moment after Ray has started; that is a warning.
    needs_none = {"Ray", "package", "configuration", "cluster", "clock: nodes"}
    assert {levels[name] for name in needs_none} == {"ok"}
    assert levels["raylet pages, from here"] in {"ok", "warning"}


def test_without_a_cluster_the_doctor_says_so_and_needs_no_traceback(cluster: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]

    done = _cli(cluster, "doctor", "--address", f"127.0.0.1:{port}")

    assert done.returncode == 1
    assert "failed    cluster" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert _next_step(done).startswith("Next: ray start --head")
