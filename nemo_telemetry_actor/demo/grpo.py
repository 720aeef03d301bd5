# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Group-relative policy optimisation of a contextual bandit: one image, one answer.

For an image several answers are sampled; an answer's advantage is its reward against the others
of its group. The loss is the clipped importance-weighted surrogate, so that answers sampled by
older weights stay usable, plus a penalty for leaving the reference policy.
"""

from dataclasses import dataclass

import numpy as np

from nemo_telemetry_actor.demo.digits import FloatArray, IntArray

_LEAST_DEVIATION = 1e-6


@dataclass(frozen=True)
class GrpoOptions:
    """Weights of the loss terms, and how far the importance ratio may move."""

    clip_ratio: float = 0.2
    kl_coefficient: float = 0.01
    entropy_coefficient: float = 0.001


@dataclass(frozen=True)
class AnswerBatch:
    """Sampled answers: every array has one row an image and one column an answer of its group."""

    answers: IntArray
    generation_log_probs: FloatArray
    advantages: FloatArray


@dataclass(frozen=True)
class GrpoLoss:
    """The loss, its parts as means over the images, and its gradient at the logits."""

    loss: float
    kl: float
    entropy: float
    clipped_fraction: float
    largest_ratio: float
    logits_gradient: FloatArray


def group_advantages(rewards: FloatArray) -> FloatArray:
    """Return each reward minus its row's mean, over its row's standard deviation.

    A group whose rewards are all equal teaches nothing: its advantages are 0.
    """
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    deviation = rewards.std(axis=1, keepdims=True)
    advantages: FloatArray = np.where(
        deviation > _LEAST_DEVIATION, centred / np.maximum(deviation, _LEAST_DEVIATION), 0.0
    )
    return advantages


def kl_divergence(log_probs: FloatArray, reference_log_probs: FloatArray) -> FloatArray:
    """Return KL(policy ‖ reference) of each row, in nats, summed over the classes exactly."""
    divergence: FloatArray = (np.exp(log_probs) * (log_probs - reference_log_probs)).sum(axis=1)
    return divergence


def grpo_loss(
    log_probs: FloatArray,
    reference_log_probs: FloatArray,
    batch: AnswerBatch,
    options: GrpoOptions,
) -> GrpoLoss:
    """Return the loss of the policy's log probabilities (an image a row) and its gradient."""
    images, group = batch.answers.shape
    probs = np.exp(log_probs)
    ratio = np.exp(
        np.take_along_axis(log_probs, batch.answers, axis=1) - batch.generation_log_probs
    )
    free = ratio * batch.advantages
    clipped = np.clip(ratio, 1.0 - options.clip_ratio, 1.0 + options.clip_ratio) * batch.advantages
    is_clipped = clipped < free
    kl = kl_divergence(log_probs, reference_log_probs)
    entropy = -(probs * log_probs).sum(axis=1)

    # The clipped branch is constant in the weights, so only the free one pulls.
    pull = np.where(is_clipped, 0.0, -free) / (images * group)
    gradient = -probs * pull.sum(axis=1, keepdims=True)
    np.add.at(gradient, (np.arange(images)[:, None], batch.answers), pull)
    gradient += (options.kl_coefficient / images) * (
        probs * (log_probs - reference_log_probs - kl[:, None])
    )
    gradient += (options.entropy_coefficient / images) * (probs * (log_probs + entropy[:, None]))

    mean_kl, mean_entropy = float(kl.mean()), float(entropy.mean())
    surrogate = -float(np.minimum(free, clipped).mean())
    return GrpoLoss(
        loss=surrogate
        + options.kl_coefficient * mean_kl
        - options.entropy_coefficient * mean_entropy,
        kl=mean_kl,
        entropy=mean_entropy,
        clipped_fraction=float(is_clipped.mean()),
        largest_ratio=float(ratio.max()),
        logits_gradient=gradient,
    )
