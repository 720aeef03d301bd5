# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One client a process and run: making it, finding it again, and what a fork does to it."""

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from nemo_telemetry_actor.catalogue.host_memory import PROCESS_RSS
from nemo_telemetry_actor.client.identity import SCHEDULER_VARIABLE, stated_run_id
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import RayTransport, call_at_actor_exit
from nemo_telemetry_actor.tee import hook

PROCESS_GROUP: Final = "nemo_telemetry.process"
"""The group of what every connected process reports of itself."""


class Clients:
    """The clients of this process, by run. Safe to call from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by _lock; the last one is the newest. The key is the run id asked for, "" for none.
        self._by_run: dict[str, Telemetry] = {}
        # Brings the actor back when it is gone for good: known to a driver that called start().
        self.revive: Callable[[], Any] | None = None

    def find(self, run_id: str) -> Telemetry | None:
        """Return the open client of a run, or the newest open one when no run is named."""
        with self._lock:
            open_clients = [each for each in self._by_run.values() if not each.is_shut_down]
            if run_id:
                open_clients = [each for each in open_clients if each.run_id == run_id]
            return open_clients[-1] if open_clients else None

    def find_or_make(self, run_id: str, make: Callable[[], Telemetry]) -> tuple[Telemetry, bool]:
        """Return the client of a run, and whether it was made just now."""
        with self._lock:
            for each in reversed(self._by_run.values()):
                if not each.is_shut_down and (not run_id or each.run_id == run_id):
                    return each, False
            client = make()
            client.register_metric_group(PROCESS_GROUP, [PROCESS_RSS])
            self._by_run.pop(run_id, None)
            self._by_run[run_id] = client
            return client, True

    def revive_actor(self) -> Any:
        """Return the handle of a new actor; None in a process that is not to make one."""
        return self.revive() if self.revive is not None else None

    def after_fork(self) -> None:
        """Give every client of a forked child a life of its own."""
        self._lock = threading.Lock()
        ray = sys.modules.get("ray")
        inherits_ray = ray is not None and ray.is_initialized()
        for client in self._by_run.values():
            client.after_fork(RayTransport(inherits_ray=inherits_ray))


clients = Clients()
os.register_at_fork(after_in_child=clients.after_fork)


def job_id() -> str:
    """Return the Ray job of this process, hex; empty when Ray is not initialised here."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return ""
    job: str = ray.get_runtime_context().get_job_id()
    return job


def connect(
    *,
    worker_group: str | None = None,
    rank: int | None = None,
    run_id: str | None = None,
    strict: bool = False,
) -> Telemetry:
    """Report from this process: a worker, an actor, a task, or a driver that did not start a run.

    Returns at once, whether or not Ray or the actor is there; what is recorded meanwhile is
    buffered, and the process joins when it can. Calling it again returns the same handle.

    Args:
        worker_group: Which worker group this process belongs to (resource attribute
            `rl.worker_group`); `NRL_WORKER_GROUP` when left out.
        rank: Its rank in the group (`nv.dl.rank`); `RANK` when left out.
        run_id: The run to join. When left out: `NEMO_RL_OTEL_RUN_ID` or `NEMO_LENS_RUN_ID`, the
            run of this Ray job, `SLURM_JOB_ID`, or a fresh id, in this order.
        strict: Whether bugs raise, for tests. Wrong use is counted and logged all the same.
    """
    stated = stated_run_id(run_id, os.environ)

    def make() -> Telemetry:
        membership = Membership(
            job_id=job_id(),
            run_id=stated,
            scheduler_id=os.environ.get(SCHEDULER_VARIABLE, ""),
            worker_group=worker_group,
            rank=rank,
        )
        return Telemetry(membership, RayTransport(revive=clients.revive_actor), strict=strict)

    client, is_new = clients.find_or_make(stated, make)
    if is_new:
        call_at_actor_exit(client.shutdown)
    else:
        client.describe(worker_group, rank)
    return client


def install_logger_tee(
    logger_class: type, telemetry: Telemetry | None = None
) -> Callable[[], None]:
    """Let every `log_metrics` call of a logger class be teed, after the class's own fan-out.

    Args:
        logger_class: A class with NeMo-RL's
            `log_metrics(metrics, step, prefix="", step_metric=None, step_finished=False)`.
        telemetry: Where values go; this process's newest client at the time of each call when left
            out, made by `connect()` if there is none.

    Returns:
        A function that takes the hook off again.

    Raises:
        TypeError: `logger_class` is no class, or has no `log_metrics`.
    """

    def tee(metrics: Any, prefix: Any) -> None:
        (telemetry or clients.find("") or connect()).tee(metrics, prefix)

    return hook.install_logger_tee(logger_class, tee)
