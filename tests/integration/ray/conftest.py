# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One real Ray for the whole suite, and no telemetry actor left from one test to the next."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import ray

from nemo_telemetry_actor import ActorUnavailableError
from nemo_telemetry_actor.actor.actor import session_directory
from nemo_telemetry_actor.actor.lifecycle import stop_actor
from nemo_telemetry_actor.client.connect import clients

RunDriver = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="session")
def ray_address() -> Iterator[str]:
    """A local Ray that this process is a driver of; its address, for further drivers."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        address="local",
        include_dashboard=False,
        num_cpus=4,
        log_to_driver=False,
        configure_logging=False,
    )
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


@pytest.fixture
def cluster(ray_address: str) -> Iterator[str]:
    """The same, without a telemetry actor before and after the test."""
    yield ray_address
    while (client := clients.find("")) is not None:
        client.shutdown(timeout_s=2.0)
    # The test may have ended it, or never had one.
    with contextlib.suppress(ActorUnavailableError):
        stop_actor(timeout_s=5.0)
    # What could not be delivered is kept for the next actor; the next test wants none of it.
    shutil.rmtree(session_directory() / "nemo_telemetry", ignore_errors=True)


@pytest.fixture
def run_driver(cluster: str) -> Iterator[RunDriver]:
    """Run Python text as the driver of another job of the same cluster."""
    started: list[subprocess.Popen[str]] = []

    def run(code: str, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "RAY_ADDRESS": cluster, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
