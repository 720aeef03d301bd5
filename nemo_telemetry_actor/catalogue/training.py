# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Scalars of a training step, logged under `train` or without a prefix.

The rule is the same for each: the value as logged, without attributes.
"""

from typing import Final

from nemo_telemetry_actor.catalogue.rows import TeedMetric

TEED: Final = (
    TeedMetric(
        "reward",
        "rl.reward.mean",
        description="Mean reward of the step's samples.",
    ),
    TeedMetric(
        "kl_penalty",
        "rl.kl.divergence",
        description="Divergence of the policy from the reference policy, without the coefficient.",
    ),
    TeedMetric(
        "loss",
        "rl.policy.loss",
        description="Loss that the step's policy update minimised.",
    ),
    TeedMetric(
        "critic/loss",
        "rl.value.loss",
        description="Loss of the value model's update (PPO only).",
    ),
    TeedMetric(
        "approx_entropy",
        "rl.entropy",
        description="Approximate entropy of the policy over the sampled tokens.",
    ),
    TeedMetric(
        "mean_gen_tokens_per_sample",
        "rl.response.length.mean",
        unit="{token}",
        description="Mean number of generated tokens of the step's samples.",
    ),
    TeedMetric(
        "grad_norm",
        "rl.grad_norm",
        description="Norm of the policy's gradient in the step's update.",
    ),
    TeedMetric(
        "lr",
        "rl.learning_rate",
        description="Learning rate of the step's update.",
    ),
)
