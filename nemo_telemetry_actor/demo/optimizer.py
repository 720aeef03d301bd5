# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Adam on a flat vector, gradient clipping, and the learning-rate schedule."""

import math

import numpy as np

from nemo_telemetry_actor.demo.digits import FloatArray


class Adam:
    """Adam with bias correction; keeps the two moments of one weight vector."""

    def __init__(self, size: int, *, beta1: float = 0.9, beta2: float = 0.999) -> None:
        self._beta1 = beta1
        self._beta2 = beta2
        self._mean = np.zeros(size)
        self._square = np.zeros(size)
        self._steps = 0

    def step(self, weights: FloatArray, gradient: FloatArray, learning_rate: float) -> FloatArray:
        """Return the weights after one step against `gradient`."""
        self._steps += 1
        self._mean = self._beta1 * self._mean + (1.0 - self._beta1) * gradient
        self._square = self._beta2 * self._square + (1.0 - self._beta2) * gradient**2
        mean = self._mean / (1.0 - self._beta1**self._steps)
        square = self._square / (1.0 - self._beta2**self._steps)
        stepped: FloatArray = weights - learning_rate * mean / (np.sqrt(square) + 1e-8)
        return stepped


def clip_by_norm(gradient: FloatArray, max_norm: float) -> tuple[FloatArray, float]:
    """Return the gradient scaled down to at most `max_norm`, and the norm it had before."""
    norm = float(np.linalg.norm(gradient))
    return (gradient * (max_norm / norm) if norm > max_norm else gradient), norm


def learning_rate(step: int, steps: int, *, peak: float, warmup: int = 10) -> float:
    """Return the rate of `step` (from 0): linear up over `warmup`, then a half cosine to peak/10."""
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return peak * (0.1 + 0.9 * 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress))))
