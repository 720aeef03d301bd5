# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

from nemo_telemetry_actor.catalogue.rows import RecordedMetric, TeedMetric, registry_key
from nemo_telemetry_actor.model.instrument import MetricSpec


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("rl.reward.mean", "reward_mean"),
        ("rl.sft_v2.loader.latency.max", "sft_v2_loader_latency_max"),
        ("rl.host.memory.used", "host_memory_used"),
        ("gen_ai.client.token.usage", "gen_ai_client_token_usage"),
        ("rl.rl.x", "rl_x"),
        ("rlx.y", "rlx_y"),
    ],
)
def test_the_registry_key_is_the_name_without_rl_and_with_underscores(name: str, key: str) -> None:
    assert registry_key(name) == key


@pytest.mark.parametrize("name", ["rl.", "", "rl.2x", "rl.a-b", "rl.a/b", "rl.a b"])
def test_a_name_whose_registry_key_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no Python identifier"):
        registry_key(name)


def test_a_teed_row_is_a_gauge_without_unit_by_default() -> None:
    row = TeedMetric("reward", "rl.reward.mean")

    assert row.spec() == MetricSpec("reward_mean", "rl.reward.mean", "gauge", "", "")
    assert row.registry_key == "reward_mean"


def test_a_recorded_row_hands_its_boundaries_to_the_spec() -> None:
    row = RecordedMetric("rl.wait", "histogram", "s", "Waiting.", (1.0, 2.0))

    assert row.spec() == MetricSpec(
        "wait", "rl.wait", "histogram", "s", "Waiting.", boundaries=(1.0, 2.0)
    )
    assert row.registry_key == "wait"


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        TeedMetric("reward", "rl.reward.mean").name = "rl.other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        RecordedMetric("rl.wait").name = "rl.other"  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["observable_gauge", "timer"])
def test_a_row_of_a_kind_that_no_call_can_record_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match=kind):
        TeedMetric("a", "rl.a", kind)
    with pytest.raises(ValueError, match=kind):
        RecordedMetric("rl.a", kind)


@pytest.mark.parametrize("logger_key", ["", None, 3])
def test_a_teed_row_needs_a_logger_key(logger_key: str) -> None:
    with pytest.raises(ValueError, match="logger_key must be a non-empty string"):
        TeedMetric(logger_key, "rl.a")
