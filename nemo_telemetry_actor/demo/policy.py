# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The policy's trainers: each takes a shard of the batch, all step by the averaged gradient."""

import time
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.demo.digits import FloatArray
from nemo_telemetry_actor.demo.groups import WorkerGroup
from nemo_telemetry_actor.demo.grpo import AnswerBatch, GrpoOptions, group_advantages, grpo_loss
from nemo_telemetry_actor.demo.mlp import Mlp
from nemo_telemetry_actor.demo.optimizer import Adam, clip_by_norm
from nemo_telemetry_actor.demo.replay import Rollout

Number = TypeVar("Number", np.float64, np.int64)

_MAX_GRADIENT_NORM = 1.0
_METRICS = [
    nta.MetricSpec(
        "gradient_duration",
        "digits.policy.gradient.duration",
        "histogram",
        "s",
        "Time of one gradient over one shard.",
        boundaries=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    ),
    nta.MetricSpec(
        "largest_ratio",
        "digits.policy.ratio.max",
        unit="1",
        description="Largest importance ratio of a shard: how far its answers are off-policy.",
    ),
    nta.MetricSpec(
        "answers", "digits.policy.answers", "counter", "{answer}", "Answers trained on."
    ),
]


@dataclass(frozen=True)
class ShardResult:
    """One trainer's gradient, and its shard's means."""

    images: int
    gradient: FloatArray
    loss: float
    kl: float
    entropy: float


class PolicyWorker:
    """Holds one copy of the policy, the frozen reference, and the optimizer's state.

    Equal seeds and equal averaged gradients keep the copies of all ranks equal.
    """

    def __init__(self, group: str, rank: int, seed: int) -> None:
        self._telemetry = nta.connect(worker_group=group, rank=rank)
        self._telemetry.register_metric_group("digits_policy", _METRICS)
        self._network = Mlp()
        self._weights = self._network.initial_weights(np.random.default_rng(seed))
        self._reference = self._weights.copy()
        self._adam = Adam(self._network.size)

    def weights(self) -> FloatArray:
        """Return the policy's weights."""
        return self._weights

    def gradient(self, shard: Rollout) -> ShardResult:
        """Return the gradient of the loss over one shard; changes nothing."""
        started = time.perf_counter()
        forward = self._network.forward(self._weights, shard.images)
        reference = self._network.forward(self._reference, shard.images)
        batch = AnswerBatch(shard.answers, shard.log_probs, group_advantages(shard.rewards))
        loss = grpo_loss(forward.log_probs, reference.log_probs, batch, GrpoOptions())
        gradient = self._network.backward(
            self._weights, shard.images, forward, loss.logits_gradient
        )
        self._telemetry.record(
            "digits_policy",
            {
                "gradient_duration": time.perf_counter() - started,
                "largest_ratio": loss.largest_ratio,
                "answers": shard.answers.size,
            },
        )
        return ShardResult(len(shard.images), gradient, loss.loss, loss.kl, loss.entropy)

    def step(self, gradient: FloatArray, learning_rate: float) -> float:
        """Step by the averaged gradient; return its norm before clipping."""
        clipped, norm = clip_by_norm(gradient, _MAX_GRADIENT_NORM)
        self._weights = self._adam.step(self._weights, clipped, learning_rate)
        return norm

    def flush(self) -> bool:
        """Send what is recorded so far; tell whether all of it arrived."""
        return self._telemetry.flush(timeout_s=5.0)

    def close(self) -> None:
        """Send what is recorded, and report no more."""
        self._telemetry.shutdown(timeout_s=2.0)


class PolicyGroup:
    """The trainers, driven from one process."""

    def __init__(self, workers: WorkerGroup) -> None:
        self.workers = workers

    def weights(self) -> FloatArray:
        """Return the policy's weights."""
        weights: FloatArray = self.workers.call_all("weights")[0]
        return weights

    def train(self, rollouts: list[Rollout], learning_rate: float) -> dict[str, Any]:
        """Take one step on all rollouts together; return the step's metrics by logger key."""
        shards = shard_rollouts(rollouts, len(self.workers))
        results: list[ShardResult] = self.workers.call_each(
            "gradient", [(shard,) for shard in shards]
        )
        share = np.array([result.images for result in results], dtype=np.float64)
        share /= share.sum()
        gradient = share @ np.stack([result.gradient for result in results])
        norm = self.workers.call_all("step", gradient, learning_rate)[0]
        return {
            "reward": float(np.mean([rollout.rewards.mean() for rollout in rollouts])),
            "loss": float(share @ [result.loss for result in results]),
            "kl_penalty": float(share @ [result.kl for result in results]),
            "approx_entropy": float(share @ [result.entropy for result in results]),
            "grad_norm": norm,
            "lr": learning_rate,
        }


def shard_rollouts(rollouts: list[Rollout], shards: int) -> list[Rollout]:
    """Cut the rollouts' images into shards of nearly one size; a group stays whole."""
    images = _cut([rollout.images for rollout in rollouts], shards)
    answers = _cut([rollout.answers for rollout in rollouts], shards)
    log_probs = _cut([rollout.log_probs for rollout in rollouts], shards)
    rewards = _cut([rollout.rewards for rollout in rollouts], shards)
    oldest = min(rollout.version for rollout in rollouts)
    return [
        Rollout(*parts, version=oldest)
        for parts in zip(images, answers, log_probs, rewards, strict=True)
    ]


def _cut(arrays: list[npt.NDArray[Number]], shards: int) -> list[npt.NDArray[Number]]:
    return np.array_split(np.concatenate(arrays), shards)
