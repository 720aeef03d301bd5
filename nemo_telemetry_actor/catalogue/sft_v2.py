# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Scalars of the second supervised fine-tuning loop, logged by its controller without a prefix.

Its dict carries `loss`, `grad_norm` and `lr` as well, which are `catalogue.training`'s.
"""

from typing import Final

from nemo_telemetry_actor.catalogue.rows import TeedMetric

TEED: Final = (
    TeedMetric(
        "loader_latency_max",
        "rl.sft_v2.loader.latency.max",
        unit="s",
        description="Load time of the step's slowest data loader rank.",
    ),
    TeedMetric(
        "policy_time",
        "rl.sft_v2.policy.duration",
        unit="s",
        description="Time of the policy's train step, from begin to finish.",
    ),
    TeedMetric(
        "total_step_time",
        "rl.sft_v2.step.duration",
        unit="s",
        description="Time of the whole step, loading included.",
    ),
    TeedMetric(
        "valid_tokens_per_second",
        "rl.sft_v2.valid_tokens_per_second",
        unit="{token}/s",
        description="Tokens that count in the loss, a second of the step.",
    ),
)
