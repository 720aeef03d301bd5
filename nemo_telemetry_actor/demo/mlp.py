# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A softmax classifier with one hidden layer, its weights in one flat vector.

One vector is what travels between workers, what is averaged, clipped and stepped.
"""

from dataclasses import dataclass

import numpy as np

from nemo_telemetry_actor.demo.digits import FloatArray


@dataclass(frozen=True)
class Forward:
    """What one pass keeps for the backward pass: hidden activations, log probabilities."""

    hidden: FloatArray
    log_probs: FloatArray


@dataclass(frozen=True)
class Mlp:
    """The shape of the network: `inputs` → `hidden` (tanh) → `outputs` (softmax)."""

    inputs: int = 64
    hidden: int = 64
    outputs: int = 10

    @property
    def size(self) -> int:
        """Weights in all."""
        return (self.inputs + 1) * self.hidden + (self.hidden + 1) * self.outputs

    def initial_weights(self, rng: np.random.Generator) -> FloatArray:
        """Return random weights whose answers are close to uniform."""
        first = rng.normal(0.0, np.sqrt(2.0 / self.inputs), self.inputs * self.hidden)
        second = rng.normal(0.0, 0.05, self.hidden * self.outputs)
        return np.concatenate([first, np.zeros(self.hidden), second, np.zeros(self.outputs)])

    def forward(self, weights: FloatArray, images: FloatArray) -> Forward:
        """Return the activations and the log probability of each class, an image a row."""
        first, first_bias, second, second_bias = self._layers(weights)
        hidden = np.tanh(images @ first + first_bias)
        logits = hidden @ second + second_bias
        logits -= logits.max(axis=1, keepdims=True)
        log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return Forward(hidden, log_probs)

    def backward(
        self,
        weights: FloatArray,
        images: FloatArray,
        forward: Forward,
        logits_gradient: FloatArray,
    ) -> FloatArray:
        """Return the gradient of the weights, given that of the logits."""
        _, _, second, _ = self._layers(weights)
        hidden_gradient = (logits_gradient @ second.T) * (1.0 - forward.hidden**2)
        return np.concatenate(
            [
                (images.T @ hidden_gradient).ravel(),
                hidden_gradient.sum(axis=0),
                (forward.hidden.T @ logits_gradient).ravel(),
                logits_gradient.sum(axis=0),
            ]
        )

    def _layers(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        if weights.shape != (self.size,):
            raise ValueError(f"expected {self.size} weights, got shape {weights.shape}")
        ends = np.cumsum([self.inputs * self.hidden, self.hidden, self.hidden * self.outputs])
        first, first_bias, second, second_bias = np.split(weights, ends)
        return (
            first.reshape(self.inputs, self.hidden),
            first_bias,
            second.reshape(self.hidden, self.outputs),
            second_bias,
        )
