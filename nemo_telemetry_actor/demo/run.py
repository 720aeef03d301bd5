# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The demo from start to end: Ray, the actor, the job, the report."""

import contextlib
import os
import threading
import time
from contextlib import ExitStack
from typing import Any

import ray
from rich.console import Console

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.actor.lifecycle import find_actor, stop_actor
from nemo_telemetry_actor.demo.driver import Driver, TrainingOptions
from nemo_telemetry_actor.demo.logger import History, Logger, ValidationBackend
from nemo_telemetry_actor.demo.options import DemoOptions
from nemo_telemetry_actor.demo.progress import TrainingProgress
from nemo_telemetry_actor.demo.ray_session import ray_session
from nemo_telemetry_actor.demo.report import DemoResult, print_places, print_result, series_row
from nemo_telemetry_actor.demo.setup import Job, set_up

_FLUSH_TIMEOUT_S = 10.0
_STOP_TIMEOUT_S = 15.0
_READ_TIMEOUT_S = 10.0


def run_demo(options: DemoOptions, *, console: Console) -> DemoResult:
    """Train the policy, and report every number through the telemetry actor.

    Raises:
        DemoError: No cluster answers at the address, it has no room, or rollouts keep failing.
        ConfigError: The configuration file is wrong.
    """
    started = time.perf_counter()
    with ExitStack() as stack:
        address = options.address or os.environ.get("RAY_ADDRESS")
        console.print(f"Joining the Ray at {address} …" if address else "Starting a local Ray …")
        session = stack.enter_context(ray_session(address))
        if session.is_own or options.stop:
            stack.callback(stop_actor, timeout_s=_STOP_TIMEOUT_S)
        telemetry = nta.start(options.config, algorithm="grpo", model="digits-mlp")
        stack.callback(telemetry.shutdown, timeout_s=_FLUSH_TIMEOUT_S)
        stack.callback(nta.install_logger_tee(Logger))

        history = History()
        logger = Logger([history, ValidationBackend(telemetry)])
        console.print("Setting up the worker groups …")
        job = set_up(options.seed)
        stack.callback(job.end)
        logger.log_metrics(job.timings, 0, prefix="timing/setup")

        training_from = time.perf_counter()
        _train(job, options, logger, console)
        training_s = time.perf_counter() - training_from
        is_delivered = job.flush() and telemetry.flush(_FLUSH_TIMEOUT_S)
        state, series = _read_back(telemetry.run_id)
        result = DemoResult(
            run_id=telemetry.run_id,
            seconds=time.perf_counter() - started,
            training_seconds=training_s,
            reward=history.series("train", "reward"),
            accuracy=history.series("validation", "accuracy"),
            series=[series_row(row) for row in series],
            is_delivered=is_delivered,
            metrics_url=_metrics_url(state),
            file=_file(state),
            ray_address=session.address,
            is_own_ray=session.is_own,
        )
        print_result(console, result)
        if options.hold:
            _hold(console, result)
    print_places(console, result, is_running=not (session.is_own or options.stop))
    return result


def _train(job: Job, options: DemoOptions, logger: Logger, console: Console) -> None:
    with TrainingProgress(console, options.steps) as progress:
        training = TrainingOptions(steps=options.steps, seed=options.seed)
        Driver(job, training, logger, progress.update).train()


def _read_back(run_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the actor's state, and every series of the run with its newest value."""
    actor = find_actor()
    answers = [actor.state.remote(), actor.series.remote(run_id=run_id)]
    state, series = ray.get(answers, timeout=_READ_TIMEOUT_S)
    return state, series


def _metrics_url(state: dict[str, Any]) -> str | None:
    url = state["http_url"]
    return f"{url}/metrics" if url else None


def _file(state: dict[str, Any]) -> str | None:
    """Return the file exporter's path, from its name `file <path>`."""
    for exporter in state["exporters"]:
        kind, _, path = exporter["name"].partition(" ")
        if kind == "file":
            return str(path)
    return None


def _hold(console: Console, result: DemoResult) -> None:
    print_places(console, result, is_running=True)
    console.print("Everything stays up until you press Ctrl-C.")
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
