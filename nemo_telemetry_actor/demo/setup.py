# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the job's worker groups at the same time, and times each phase of it."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import ray

from nemo_telemetry_actor.demo.digits import Digits, load
from nemo_telemetry_actor.demo.environment import build_environment
from nemo_telemetry_actor.demo.generation import GenerationGroup, GenerationWorker
from nemo_telemetry_actor.demo.groups import WorkerGroup
from nemo_telemetry_actor.demo.policy import PolicyGroup, PolicyWorker

_POLICY_WORKERS = 2
_GENERATION_WORKERS = 2
_END_TIMEOUT_S = 20.0

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """What setup leaves: data, worker groups, and the seconds of each phase by logger key."""

    digits: Digits
    policy: PolicyGroup
    generation: GenerationGroup
    environment: Any
    timings: dict[str, float]

    def flush(self) -> bool:
        """Let every worker send what it recorded so far; tell whether all of it arrived."""
        arrived = self.policy.workers.call_all("flush")
        arrived += self.generation.workers.call_all("flush")
        arrived.append(ray.get(self.environment.flush.remote()))
        return all(arrived)

    def end(self) -> None:
        """End every worker, each after it has sent what it recorded."""
        self.policy.workers.end()
        self.generation.workers.end()
        ray.get(self.environment.close.remote(), timeout=_END_TIMEOUT_S)
        ray.kill(self.environment)


def set_up(seed: int) -> Job:
    """Load the data, build the groups side by side, and give the generation group its weights."""
    started = time.perf_counter()
    digits = load(seed)
    workers_started = time.perf_counter()
    with ThreadPoolExecutor(3) as pool:
        policy_built = pool.submit(_timed, lambda: _build_policy(seed))
        generation_built = pool.submit(_timed, lambda: _build_generation(seed))
        environment_built = pool.submit(
            _timed, lambda: build_environment(digits.reward_model, seed)
        )
        policy, policy_s = policy_built.result()
        generation, generation_s = generation_built.result()
        environment, environment_s = environment_built.result()
    workers_s = time.perf_counter() - workers_started
    _, sync_s = _timed(lambda: generation.update_weights(policy.weights(), version=0))
    total_s = time.perf_counter() - started
    return Job(
        digits,
        policy,
        generation,
        environment,
        timings={
            "policy_init_time_s": policy_s,
            "generation_init_time_s": generation_s,
            "reward_model_init_time_s": environment_s,
            "parallel_init_enabled": 1.0,
            "parallel_wall_time_s": workers_s,
            "weight_sync_time_s": sync_s,
            "worker_setup_time_s": workers_s + sync_s,
            "other_setup_time_s": total_s - workers_s - sync_s,
            "total_setup_time_s": total_s,
        },
    )


def _build_policy(seed: int) -> PolicyGroup:
    group = PolicyGroup(WorkerGroup("lm_policy", PolicyWorker, _POLICY_WORKERS, seed))
    group.weights()
    return group


def _build_generation(seed: int) -> GenerationGroup:
    workers = WorkerGroup("generation", GenerationWorker, _GENERATION_WORKERS, seed)
    workers.call_all("ready")
    return GenerationGroup(workers)


def _timed(build: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    built = build()
    return built, time.perf_counter() - started
