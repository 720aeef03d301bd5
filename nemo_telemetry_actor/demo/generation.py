# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The generation group: samples answers with the weights it was last given."""

import time
from dataclasses import dataclass

import numpy as np
import ray

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.demo.digits import FloatArray, IntArray
from nemo_telemetry_actor.demo.groups import WorkerGroup
from nemo_telemetry_actor.demo.mlp import Mlp

_METRICS = [
    nta.MetricSpec(
        "answers", "digits.generation.answers", "counter", "{answer}", "Answers sampled."
    ),
    nta.MetricSpec(
        "batch_duration",
        "digits.generation.batch.duration",
        "histogram",
        "s",
        "Time to sample one batch of groups.",
        boundaries=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    ),
    nta.MetricSpec(
        "weight_version",
        "digits.generation.weight.version",
        unit="1",
        description="Training steps behind the weights in use.",
    ),
]


@dataclass(frozen=True)
class Sample:
    """Sampled answers and their log probabilities: a row an image, a column an answer."""

    answers: IntArray
    log_probs: FloatArray
    version: int


def sample_answers(
    log_probs: FloatArray, group_size: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Draw `group_size` classes a row; return them and the log probability of each."""
    edges = np.exp(log_probs).cumsum(axis=1)[:, None, :-1]
    draws = rng.random((len(log_probs), group_size, 1))
    answers: IntArray = (draws > edges).sum(axis=2).astype(np.int64)
    return answers, np.take_along_axis(log_probs, answers, axis=1)


class GenerationWorker:
    """Samples answers; its random numbers are its own, by seed and rank."""

    def __init__(self, group: str, rank: int, seed: int) -> None:
        self._telemetry = nta.connect(worker_group=group, rank=rank)
        self._telemetry.register_metric_group("digits_generation", _METRICS)
        self._network = Mlp()
        self._rng = np.random.default_rng([seed, rank])
        self._weights = np.zeros(self._network.size)
        self._version = 0

    def ready(self) -> None:
        """Return, which a worker can once it is built."""

    def update_weights(self, weights: FloatArray, version: int) -> None:
        """Use these weights from now on."""
        self._weights = weights
        self._version = version
        self._telemetry.record("digits_generation", {"weight_version": version})

    def sample(self, images: FloatArray, group_size: int) -> Sample:
        """Return `group_size` sampled answers to each image."""
        started = time.perf_counter()
        log_probs = self._network.forward(self._weights, images).log_probs
        answers, chosen = sample_answers(log_probs, group_size, self._rng)
        self._telemetry.record(
            "digits_generation",
            {"answers": answers.size, "batch_duration": time.perf_counter() - started},
        )
        return Sample(answers, chosen, self._version)

    def greedy(self, images: FloatArray) -> IntArray:
        """Return the likeliest answer to each image."""
        answers: IntArray = self._network.forward(self._weights, images).log_probs.argmax(axis=1)
        return answers

    def flush(self) -> bool:
        """Send what is recorded so far; tell whether all of it arrived."""
        return self._telemetry.flush(timeout_s=5.0)

    def close(self) -> None:
        """Send what is recorded, and report no more."""
        self._telemetry.shutdown(timeout_s=2.0)


class GenerationGroup:
    """The generation workers, driven from one process; safe from any thread."""

    def __init__(self, workers: WorkerGroup) -> None:
        self.workers = workers

    def update_weights(self, weights: FloatArray, version: int) -> None:
        """Give every worker the weights, behind what it is sampling now."""
        self.workers.call_all("update_weights", weights, version)

    def sample(self, number: int, images: FloatArray, group_size: int) -> Sample:
        """Sample on the worker whose turn it is by `number`."""
        worker = self.workers.workers[number % len(self.workers)]
        sample: Sample = ray.get(worker.sample.remote(images, group_size))
        return sample

    def accuracy(self, images: FloatArray, labels: IntArray) -> float:
        """Return the share of images whose likeliest answer is right."""
        shards = np.array_split(images, len(self.workers))
        answers = np.concatenate(self.workers.call_each("greedy", [(shard,) for shard in shards]))
        return float((answers == labels).mean())
