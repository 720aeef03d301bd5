# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Bringing the actor up, finding it, and ending it; and `start()`, which opens a run."""

import logging
import os
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import ray
from ray.experimental import internal_kv

from nemo_telemetry_actor.actor.actor import TelemetryActor
from nemo_telemetry_actor.client.connect import clients, job_id
from nemo_telemetry_actor.client.identity import SCHEDULER_VARIABLE, stated_run_id
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import ACTOR_NAME, ACTOR_NAMESPACE, RayTransport
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.config.load import ConfigSource, load_config
from nemo_telemetry_actor.config.transfer import encode_config
from nemo_telemetry_actor.errors import ActorUnavailableError
from nemo_telemetry_actor.export.resource import detect

_log = logging.getLogger("nemo_telemetry_actor")

_HEAD_RESOURCE: Final = "node:__internal_head__"
_HEAD_SLIVER: Final = 0.001
_MAX_CONCURRENCY: Final = 10_000
_RETRY_S: Final = 0.2
_REVIVE_TIMEOUT_S: Final = 10.0
# Ray's own store has no public door; the dashboard's address is read the same way.
_STOPPED_KEY: Final = b"stopped"
_KV_NAMESPACE: Final = b"nemo_telemetry"


def find_actor() -> Any:
    """Return the handle of the running actor.

    Raises:
        ActorUnavailableError: There is none.
    """
    try:
        return ray.get_actor(ACTOR_NAME, namespace=ACTOR_NAMESPACE)
    except ValueError as error:
        raise ActorUnavailableError(
            "there is no telemetry actor in this cluster; bring one up with "
            "nemo_telemetry_actor.start() or `nemo-telemetry start`"
        ) from error


def ensure_actor(config: TelemetryConfig, timeout_s: float = 60.0) -> tuple[Any, list[str]]:
    """Bring the actor up, or join the one that runs; returns once it answers.

    Returns:
        The handle, and how the configuration in force differs from `config`: an actor that runs
        already keeps its own.

    Raises:
        ActorUnavailableError: Ray is not initialised, or no actor answers within the time.
    """
    if not ray.is_initialized():
        raise ActorUnavailableError(
            "Ray is not initialised in this process; call ray.init() before starting telemetry"
        )
    encoded = encode_config(config)
    deadline_s = time.monotonic() + timeout_s
    while True:
        left_s = deadline_s - time.monotonic()
        try:
            handle = _create_or_get(encoded)
            answer = handle.config_differences.remote(config=encoded)
            differs = ray.get(answer, timeout=max(0.1, left_s))
            _note_stopped(is_stopped=False)
            return handle, differs
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError, ValueError) as error:
            # A killed actor's name is free a moment later; a restarting one answers soon.
            if left_s <= 0:
                raise ActorUnavailableError(
                    f"the telemetry actor did not answer within {timeout_s:g} s ({error}); look "
                    "at it with `ray list actors --filter name=nemo_telemetry` and at its log in "
                    "the Ray dashboard"
                ) from error
        time.sleep(min(_RETRY_S, max(0.0, deadline_s - time.monotonic())))


class StopReport(msgspec.Struct, frozen=True):
    """How an actor ended.

    Args:
        answered: Whether it answered; if not, what it had not delivered is lost.
        delivered: Whether everything was delivered.
        exporters: The last state of each push exporter, with a `delivered` of its own.
        clients: Processes that still reported; they buffer until there is an actor again.
    """

    answered: bool
    delivered: bool
    exporters: list[dict[str, Any]] = []
    clients: int = 0


def stop_actor(timeout_s: float = 30.0) -> StopReport:
    """Deliver what the actor holds, within the time, and end it.

    Raises:
        ActorUnavailableError: There is none.
    """
    handle = find_actor()
    report = StopReport(answered=False, delivered=False)
    try:
        last_words = ray.get(handle.drain.remote(timeout_s=timeout_s), timeout=timeout_s + 5.0)
        report = StopReport(answered=True, **last_words)
    except ray.exceptions.RayError as error:
        _log.warning("the telemetry actor is ended although it could not finish: %s", error)
    # Before the end is seen: a driver that finds no actor must know that somebody wanted it so.
    _note_stopped(is_stopped=True)
    ray.kill(handle)
    return report


def start(  # noqa: PLR0913 — one keyword for each thing that people say of a run
    config: ConfigSource = None,
    *,
    run_id: str | None = None,
    algorithm: str | None = None,
    model: str | None = None,
    precision: str | None = None,
    tensor_parallel: int | None = None,
    pipeline_parallel: int | None = None,
    resource: Mapping[str, Any] | None = None,
    timeout_s: float = 60.0,
    strict: bool = False,
) -> Telemetry:
    """Bring the telemetry actor up, or join it, and open a run. Called once, in the driver.

    Args:
        config: A YAML file's path, a mapping or a `TelemetryConfig`; the embedded default when
            left out. `OTEL_*` variables are read here and travel to the actor.
        run_id: `nemo.run.id`. When left out: `NEMO_RL_OTEL_RUN_ID` or `NEMO_LENS_RUN_ID`, the run
            that this Ray job opened before, `SLURM_JOB_ID`, or a fresh id.
        algorithm: Resource attribute `rl.algorithm`, for example `grpo`.
        model: Resource attribute `rl.model`.
        precision: Resource attribute `nemo.precision`, for example `bfloat16`.
        tensor_parallel: Resource attribute `nv.dl.topology.size.tp`.
        pipeline_parallel: Resource attribute `nv.dl.topology.size.pp`.
        resource: Further resource attributes of the run; they win over all others.
        timeout_s: How long to wait for the actor.
        strict: Whether bugs and wrong use raise later, for tests.

    Raises:
        ConfigError: The configuration is wrong.
        ActorUnavailableError: Ray is not initialised, or the actor does not answer in time.
    """
    settings = load_config(config, os.environ)
    deadline_s = time.monotonic() + timeout_s
    _, differs = ensure_actor(settings, timeout_s)
    if differs:
        _log.warning(
            "the telemetry actor that runs already keeps its own configuration, which differs "
            "from the one given: %s (end it with `nemo-telemetry stop` to change it)",
            "; ".join(differs),
        )
    stated = stated_run_id(run_id, os.environ)
    own = {
        "rl.algorithm": algorithm,
        "rl.model": model,
        "nemo.precision": precision,
        "nv.dl.topology.size.tp": tensor_parallel,
        "nv.dl.topology.size.pp": pipeline_parallel,
        **(resource or {}),
    }
    attributes, of_process = detect(settings.service_name, own)

    def make() -> Telemetry:
        membership = Membership(
            job_id=job_id(),
            run_id=stated,
            scheduler_id=os.environ.get(SCHEDULER_VARIABLE, ""),
            opens_run=True,
            run_attributes=attributes,
            own_attributes=of_process,
            rank=0,
        )
        return Telemetry(membership, RayTransport(revive=clients.revive_actor), strict=strict)

    clients.revive = lambda: _revived(settings)
    telemetry, is_new = clients.find_or_make(stated, make)
    if not is_new:
        telemetry.open_run(attributes, of_process)
    if not telemetry.wait_joined(max(0.1, deadline_s - time.monotonic())):
        raise ActorUnavailableError(
            f"the telemetry actor did not let this driver in within {timeout_s:g} s"
        )
    return telemetry


def _revived(settings: TelemetryConfig) -> Any:
    """Return a new actor in place of one that is gone for good; None if it was stopped."""
    if _is_stopped():
        return None
    _log.warning("the telemetry actor is gone for good; this driver brings up another one")
    try:
        handle, _ = ensure_actor(settings, _REVIVE_TIMEOUT_S)
    except ActorUnavailableError as error:
        _log.debug("%s", error)  # the next attempt to send tries again
        return None
    return handle


def _note_stopped(*, is_stopped: bool) -> None:
    internal_kv._internal_kv_put(
        _STOPPED_KEY, b"1" if is_stopped else b"0", overwrite=True, namespace=_KV_NAMESPACE
    )


def _is_stopped() -> bool:
    value = internal_kv._internal_kv_get(_STOPPED_KEY, namespace=_KV_NAMESPACE)
    return bool(value == b"1")


def _create_or_get(config: bytes) -> Any:
    on_head = _HEAD_RESOURCE in ray.cluster_resources()  # type: ignore[no-untyped-call]  # as Ray has it
    actor_class: Any = ray.remote(TelemetryActor)
    return actor_class.options(
        name=ACTOR_NAME,
        namespace=ACTOR_NAMESPACE,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=0,
        # Soft node affinity is ignored for an actor without CPUs; a sliver of this is not.
        resources={_HEAD_RESOURCE: _HEAD_SLIVER} if on_head else None,
        max_restarts=-1,
        # A retried call that crashes the actor would crash it for ever; clients resend themselves.
        max_task_retries=0,
        max_concurrency=_MAX_CONCURRENCY,
    ).remote(config=config)
