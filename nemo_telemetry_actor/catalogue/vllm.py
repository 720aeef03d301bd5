# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The vLLM engines' share of a step: deltas and means that ride its `train` dict.

The counters are fed the step's delta, so that adding their points rebuilds the engines' totals.
"""

from typing import Final

from nemo_telemetry_actor.catalogue.rows import RecordedMetric, TeedMetric

TEED: Final = (
    TeedMetric(
        "vllm/prompt_tokens",
        "rl.vllm.prompt_tokens",
        "counter",
        "{token}",
        "Prompt tokens that the vLLM engines processed.",
    ),
    TeedMetric(
        "vllm/generation_tokens",
        "rl.vllm.generation_tokens",
        "counter",
        "{token}",
        "Tokens that the vLLM engines generated.",
    ),
    TeedMetric(
        "vllm/prompt_length_mean",
        "rl.vllm.prompt_length.mean",
        unit="{token}",
        description="Mean prompt length of the requests that finished in the step.",
    ),
    TeedMetric(
        "vllm/generation_length_mean",
        "rl.vllm.generation_length.mean",
        unit="{token}",
        description="Mean generation length of the requests that finished in the step.",
    ),
    TeedMetric(
        "vllm/generations_ok",
        "rl.vllm.generations.ok",
        "counter",
        "{generation}",
        "Generations that ended with a stop or at their length limit.",
    ),
    TeedMetric(
        "vllm/generations_failed",
        "rl.vllm.generations.failed",
        "counter",
        "{generation}",
        "Generations that ended for any other reason, such as an abort or an error.",
    ),
)

BATCH_DURATION_BOUNDARIES: Final = (
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0,
    3600.0,
)  # fmt: skip
"""Seconds. The specification's default boundaries would put every short batch in one bucket."""

RECORDED: Final = (
    RecordedMetric(
        "rl.vllm.batch.duration",
        "histogram",
        "s",
        "Wall-clock time of one batched generate call, seen from the driver.",
        BATCH_DURATION_BOUNDARIES,
    ),
)
