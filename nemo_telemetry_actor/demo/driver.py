# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The training loop: asynchronous GRPO, one optimizer step at a time, every number logged."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import ray

from nemo_telemetry_actor.demo.collector import CollectorOptions, TrajectoryCollector
from nemo_telemetry_actor.demo.digits import PromptStream
from nemo_telemetry_actor.demo.efficiency import (
    BUFFER_STARVATION,
    FAILED_TRAJECTORY,
    INIT,
    REFIT_BUBBLE,
    VALIDATION,
    CategoryTimer,
    efficiency_metrics,
)
from nemo_telemetry_actor.demo.logger import Logger
from nemo_telemetry_actor.demo.optimizer import learning_rate
from nemo_telemetry_actor.demo.replay import ReplayBuffer, Rollout
from nemo_telemetry_actor.demo.setup import Job

_TAKE_TIMEOUT_S = 1.0


@dataclass(frozen=True)
class TrainingOptions:
    """Sizes and rates of the job."""

    steps: int
    seed: int
    images_per_rollout: int = 32
    group_size: int = 16
    rollouts_per_step: int = 4
    max_lag: int = 1
    buffer_capacity: int = 5
    peak_learning_rate: float = 1e-3
    validation_period: int = 10


@dataclass(frozen=True)
class StepReport:
    """What people watch while it trains; `accuracy` is that of the last validation."""

    step: int
    reward: float
    kl: float
    accuracy: float
    idle_pct: float


class Driver:
    """Trains the policy of a job that is set up.

    Args:
        job: The worker groups and the data.
        options: Sizes and rates.
        logger: Takes every dict of numbers.
        on_step: Called at the end of each step.
    """

    def __init__(
        self,
        job: Job,
        options: TrainingOptions,
        logger: Logger,
        on_step: Callable[[StepReport], None],
    ) -> None:
        self._job = job
        self._options = options
        self._logger = logger
        self._on_step = on_step
        self._timer = CategoryTimer()
        self._collector_timer = CategoryTimer()
        self._buffer = ReplayBuffer(options.buffer_capacity, options.max_lag, self._discard)
        self._prompts_lock = threading.Lock()
        self._prompts = PromptStream(
            job.digits.policy.images,
            options.images_per_rollout,
            np.random.default_rng(options.seed),
        )
        self._collector = TrajectoryCollector(
            self._rollout,
            self._buffer,
            self._collector_timer,
            CollectorOptions(rollouts_per_version=options.rollouts_per_step + 1),
        )
        self._accuracy = 0.0
        self._run_started = self._step_started = time.perf_counter()

    def train(self) -> None:
        """Take every step; rollouts go on beside it and end with it."""
        self._run_started = self._step_started = time.perf_counter()
        self._collector.start()
        try:
            self._validate(0)
            for version in range(self._options.steps):
                self._step(version)
        finally:
            self._collector.stop()

    def _step(self, version: int) -> None:
        step = version + 1
        rate = learning_rate(version, self._options.steps, peak=self._options.peak_learning_rate)
        waited_from = time.perf_counter()
        rollouts = self._next_rollouts(INIT if version == 0 else BUFFER_STARVATION)
        training_from = time.perf_counter()
        metrics = self._job.policy.train(rollouts, rate)
        refit_from = time.perf_counter()
        self._refit(step)
        refit_to = time.perf_counter()
        if step % self._options.validation_period == 0 or step == self._options.steps:
            self._validate(step)
        step_to = time.perf_counter()

        images = sum(len(rollout.images) for rollout in rollouts)
        metrics["trajectory_age"] = version - sum(r.version for r in rollouts) / len(rollouts)
        step_s, self._step_started = step_to - self._step_started, step_to
        efficiency = efficiency_metrics(
            self._timer.take() | self._collector_timer.seconds(),
            total_wall_s=step_to - self._run_started,
            step_wall_s=step_s,
        )
        log = self._logger.log_metrics
        log({"weight_sync_time_s": refit_to - refit_from}, step, prefix="refit")
        log({"images_per_sec": images / step_s}, step, prefix="performance")
        log(metrics, step, prefix="train")
        log(efficiency, step)
        log(
            {
                "exposed_generation": training_from - waited_from,
                "policy_training": refit_from - training_from,
                "total_step_time": step_s,
            },
            step,
            prefix="timing/train",
            step_finished=True,
        )
        self._on_step(
            StepReport(
                step,
                reward=metrics["reward"],
                kl=metrics["kl_penalty"],
                accuracy=self._accuracy,
                idle_pct=100.0 - efficiency["efficiency/efficiency_pct"],
            )
        )

    def _next_rollouts(self, category: str) -> list[Rollout]:
        with self._timer.measure(category):
            while True:
                rollouts = self._buffer.take(self._options.rollouts_per_step, _TAKE_TIMEOUT_S)
                if rollouts is not None:
                    return rollouts
                self._collector.raise_if_broken()

    def _refit(self, version: int) -> None:
        """Hand the new weights to the generation group while no rollout starts."""
        with self._timer.measure(REFIT_BUBBLE):
            self._collector.begin_refit()
            self._job.generation.update_weights(self._job.policy.weights(), version)
            self._buffer.advance(version)
            self._collector.finish_refit()

    def _validate(self, step: int) -> None:
        held_out = self._job.digits.validation
        with self._timer.measure(VALIDATION):
            self._accuracy = self._job.generation.accuracy(held_out.images, held_out.labels)
        self._logger.log_metrics({"accuracy": self._accuracy}, step, prefix="validation")

    def _rollout(self, number: int) -> Rollout:
        """Sample and grade one batch; called from the collector's threads."""
        with self._prompts_lock:
            images = next(self._prompts)
        sample = self._job.generation.sample(number, images, self._options.group_size)
        rewards = ray.get(self._job.environment.grade.remote(images, sample.answers))
        return Rollout(images, sample.answers, sample.log_probs, rewards, sample.version)

    def _discard(self, rollout: Rollout) -> None:
        self._collector_timer.add(FAILED_TRAJECTORY, rollout.thread_seconds)
