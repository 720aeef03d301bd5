# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The demo from start to end on a Ray that is there: the actor, the job, the report."""

import contextlib
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
from nemo_telemetry_actor.demo.ray_session import RaySession
from nemo_telemetry_actor.demo.report import DemoResult, print_places, print_result, series_row
from nemo_telemetry_actor.demo.setup import Job, set_up

_FLUSH_TIMEOUT_S = 10.0
_STOP_TIMEOUT_S = 15.0
_READ_TIMEOUT_S = 10.0


def run_demo(options: DemoOptions, session: RaySession, *, console: Console) -> DemoResult:
    """Train the policy, and report every number through the telemetry actor.

    Args:
        options: How it runs.
        session: The Ray that this process is a driver of.
        console: Where people read along.

    Raises:
        DemoError: The cluster has no room, or rollouts keep failing.
        ConfigError: The configuration file is wrong.
        ActorUnavailableError: The telemetry actor does not come up.
    """
    started = time.perf_counter()
    ends_actor = session.is_own or options.stop
    with ExitStack() as stack:
        telemetry = nta.start(options.config, algorithm="grpo", model="digits-mlp")
        if ends_actor:
            stack.callback(_stop_actor, console)
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
    print_places(console, result, is_running=not ends_actor)
    return result


def _train(job: Job, options: DemoOptions, logger: Logger, console: Console) -> None:
    with TrainingProgress(console, options.steps) as progress:
        training = TrainingOptions(steps=options.steps, seed=options.seed)
        Driver(job, training, logger, progress.update).train()


def _stop_actor(console: Console) -> None:
    """End the actor once every exporter, the file among them, has what was recorded."""
    try:
        is_delivered = stop_actor(_STOP_TIMEOUT_S).delivered
    except nta.ActorUnavailableError:
        console.print("[yellow]The telemetry actor was stopped meanwhile, by someone else.")
        return
    if not is_delivered:
        console.print(
            f"[yellow]Not everything reached every exporter within {_STOP_TIMEOUT_S:.0f} s."
        )


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
