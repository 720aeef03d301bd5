# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The reward: how sure a separately trained classifier is of an answer."""

from dataclasses import dataclass

import numpy as np

from nemo_telemetry_actor.demo.digits import FloatArray, IntArray, LabelledImages
from nemo_telemetry_actor.demo.mlp import Mlp
from nemo_telemetry_actor.demo.optimizer import Adam

_EPOCHS = 40
_BATCH = 50
_LEARNING_RATE = 5e-3
_HELD_OUT = 100


@dataclass(frozen=True)
class RewardModel:
    """A classifier learned from labels, and its accuracy on labels it was not shown."""

    network: Mlp
    weights: FloatArray
    accuracy: float

    def rewards(self, images: FloatArray, answers: IntArray) -> FloatArray:
        """Return the probability, in [0, 1], that an answer names its image's digit."""
        log_probs = self.network.forward(self.weights, images).log_probs
        chosen: FloatArray = np.exp(np.take_along_axis(log_probs, answers, axis=1))
        return chosen


def train_reward_model(examples: LabelledImages, seed: int) -> RewardModel:
    """Learn by cross-entropy on all but the last `_HELD_OUT` examples, which tell the accuracy."""
    rng = np.random.default_rng(seed)
    network = Mlp()
    weights = network.initial_weights(rng)
    adam = Adam(network.size)
    shown = len(examples) - _HELD_OUT
    for _ in range(_EPOCHS):
        order = rng.permutation(shown)
        for start in range(0, shown, _BATCH):
            chosen = order[start : start + _BATCH]
            gradient = _cross_entropy_gradient(
                network, weights, examples.images[chosen], examples.labels[chosen]
            )
            weights = adam.step(weights, gradient, _LEARNING_RATE)
    guesses = network.forward(weights, examples.images[shown:]).log_probs.argmax(axis=1)
    return RewardModel(network, weights, float((guesses == examples.labels[shown:]).mean()))


def _cross_entropy_gradient(
    network: Mlp, weights: FloatArray, images: FloatArray, labels: IntArray
) -> FloatArray:
    forward = network.forward(weights, images)
    logits_gradient = np.exp(forward.log_probs)
    logits_gradient[np.arange(len(labels)), labels] -= 1.0
    return network.backward(weights, images, forward, logits_gradient / len(labels))
