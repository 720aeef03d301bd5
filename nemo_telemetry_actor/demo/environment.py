# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The environment actor, which builds the reward model's worker group inside itself.

So the reward model registers in a process that the driver never sees: what a metrics registry
in the driver's memory would miss.
"""

import time
from typing import Any

import numpy as np
import ray

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.demo.digits import CLASSES, FloatArray, IntArray, LabelledImages
from nemo_telemetry_actor.demo.groups import WORKER_CPUS, WorkerGroup
from nemo_telemetry_actor.demo.reward_model import train_reward_model

_REWARD_MODEL_METRICS = [
    nta.MetricSpec(
        "accuracy",
        "digits.reward_model.accuracy",
        unit="1",
        description="Share of held-out labels the reward model names.",
    ),
    nta.MetricSpec(
        "scored", "digits.reward_model.scored", "counter", "{answer}", "Answers scored."
    ),
    nta.MetricSpec(
        "batch_duration",
        "digits.reward_model.batch.duration",
        "histogram",
        "s",
        "Time to score one batch of groups.",
        boundaries=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    ),
]
_ENVIRONMENT_METRICS = [
    nta.MetricSpec(
        "graded", "digits.env.graded", "counter", "{answer}", "Answers graded, by the digit named."
    ),
    nta.MetricSpec(
        "reward",
        "digits.env.reward",
        unit="1",
        description="Mean reward of the answers that name a digit, in the last batch with one.",
    ),
]


class RewardModelWorker:
    """Learns the reward model when it is built; scores answers after that."""

    def __init__(self, group: str, rank: int, examples: LabelledImages, seed: int) -> None:
        self._telemetry = nta.connect(worker_group=group, rank=rank)
        self._telemetry.register_metric_group("digits_reward_model", _REWARD_MODEL_METRICS)
        self._model = train_reward_model(examples, seed)
        self._telemetry.record("digits_reward_model", {"accuracy": self._model.accuracy})

    def accuracy(self) -> float:
        """Return the share of held-out labels the model names."""
        return self._model.accuracy

    def score(self, images: FloatArray, answers: IntArray) -> FloatArray:
        """Return a reward in [0, 1] an answer."""
        started = time.perf_counter()
        rewards = self._model.rewards(images, answers)
        self._telemetry.record(
            "digits_reward_model",
            {"scored": answers.size, "batch_duration": time.perf_counter() - started},
        )
        return rewards

    def flush(self) -> bool:
        """Send what is recorded so far; tell whether all of it arrived."""
        return self._telemetry.flush(timeout_s=5.0)

    def close(self) -> None:
        """Send what is recorded, and report no more."""
        self._telemetry.shutdown(timeout_s=2.0)


class DigitsEnvironment:
    """Grades answers with a reward model of its own."""

    def __init__(self, examples: LabelledImages, seed: int) -> None:
        self._telemetry = nta.connect(worker_group="digits_environment", rank=0)
        self._telemetry.register_metric_group("digits_env", _ENVIRONMENT_METRICS)
        self._reward_model = WorkerGroup(
            "reward_model_policy", RewardModelWorker, 1, examples, seed
        )

    def reward_model_accuracy(self) -> float:
        """Return the reward model's accuracy, once it has learned."""
        accuracy: float = self._reward_model.call_all("accuracy")[0]
        return accuracy

    def grade(self, images: FloatArray, answers: IntArray) -> FloatArray:
        """Return a reward in [0, 1] an answer."""
        rewards: FloatArray = self._reward_model.call_all("score", images, answers)[0]
        self._record(rewards, answers)
        return rewards

    def flush(self) -> bool:
        """Send what is recorded here and by the reward model; tell whether all of it arrived."""
        return all(self._reward_model.call_all("flush")) and self._telemetry.flush(timeout_s=5.0)

    def close(self) -> None:
        """End the reward model, send what is recorded, and report no more."""
        self._reward_model.end()
        self._telemetry.shutdown(timeout_s=2.0)

    def _record(self, rewards: FloatArray, answers: IntArray) -> None:
        graded = np.bincount(answers.ravel(), minlength=CLASSES)
        sums = np.bincount(answers.ravel(), weights=rewards.ravel(), minlength=CLASSES)
        for digit in np.flatnonzero(graded):
            self._telemetry.record(
                "digits_env",
                {"graded": int(graded[digit]), "reward": float(sums[digit] / graded[digit])},
                attributes={"digits.answer": str(digit)},
            )


def build_environment(examples: LabelledImages, seed: int) -> Any:
    """Start the environment actor; return its handle once its reward model has learned."""
    remote_class: Any = ray.remote(DigitsEnvironment)
    handle = remote_class.options(num_cpus=WORKER_CPUS).remote(examples, seed)
    ray.get(handle.reward_model_accuracy.remote())
    return handle
