# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator
from pathlib import Path

import pytest

from nemo_telemetry_actor.config import PrometheusConfig
from tests.integration.prometheus.served import served, two_runs
from tests.prometheus_server import PrometheusServer, Sample

TOKEN = "s3cret"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """Return a Prometheus that has scraped two runs from a server that wants a token."""
    directory: Path = tmp_path_factory.mktemp("prometheus")
    token_file = directory / "token"
    token_file.write_text(TOKEN)
    with (
        served(two_runs(), prometheus=PrometheusConfig(), token_file=str(token_file)) as server,
        PrometheusServer(
            directory, [f"127.0.0.1:{server.port}"], token_file=token_file
        ) as prometheus,
    ):
        prometheus.wait_for("rl_steps_total")
        yield prometheus


def values(samples: list[Sample], *labels: str) -> dict[tuple[str, ...], float]:
    return {tuple(s.labels.get(name, "") for name in labels): s.value for s in samples}


def test_the_target_is_up_and_no_sample_is_refused(prometheus: PrometheusServer) -> None:
    assert [(t["health"], t["lastError"]) for t in prometheus.targets()] == [("up", "")]
    scraped = prometheus.query("scrape_samples_scraped")
    added = prometheus.query("scrape_samples_post_metric_relabeling")
    assert scraped[0].value == added[0].value > 30


def test_counters_sum_by_run_over_their_producers(prometheus: PrometheusServer) -> None:
    samples = prometheus.query("sum by (nemo_run_id) (rl_steps_total)")

    assert values(samples, "nemo_run_id") == {("r1",): 42.0, ("r2",): 7.0}


def test_each_producer_is_its_own_series(prometheus: PrometheusServer) -> None:
    samples = prometheus.query("rl_steps_total")

    assert values(samples, "nemo_run_id", "service_instance_id") == {
        ("r1", "a:1"): 10.0,
        ("r1", "b:2"): 32.0,
        ("r2", "c:3"): 7.0,
    }


def test_points_of_one_metric_keep_their_own_labels(prometheus: PrometheusServer) -> None:
    samples = prometheus.query("rl_kl_divergence")

    assert values(samples, "rl_env") == {("",): 0.5, ("math \\ code",): 0.25}


@pytest.mark.parametrize(
    ("promql", "expected"),
    [
        ("rl_rollouts_open", 3.0),
        ("rl_cache_use_ratio", 0.75),
        ("rl_valid_tokens_per_second", 1234.5),
        ("sum(rl_batch_duration_seconds_sum)", 12.0),
        ("sum(rl_batch_duration_seconds_count)", 8.0),
        ('sum(rl_batch_duration_seconds_bucket{le="0.5"})', 4.0),
        ("histogram_quantile(0.5, sum by (le) (rl_batch_duration_seconds_bucket))", 0.5),
        ('rl_reward_bucket{le="+Inf"}', 3.0),
        ('rl_reward_bucket{le="0.0"}', 1.0),
        ("min(rl_steps_created)", 1_700_000_000.0),
        ("count(target_info)", 3.0),
    ],
)
def test_promql_returns_the_number_that_was_recorded(
    prometheus: PrometheusServer, promql: str, expected: float
) -> None:
    assert [sample.value for sample in prometheus.query(promql)] == [expected]


def test_a_join_brings_in_every_other_resource_attribute(prometheus: PrometheusServer) -> None:
    samples = prometheus.query(
        "rl_steps_total * on (nemo_run_id, service_instance_id) group_left (nemo_model) target_info"
    )

    assert values(samples, "service_instance_id", "nemo_model") == {
        ("a:1", "Qwen3-8B"): 10.0,
        ("b:2", "Qwen3-8B"): 32.0,
        ("c:3", "Llama"): 7.0,
    }


def test_a_server_without_the_token_gets_nothing(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text(TOKEN)
    with (
        served(two_runs(), prometheus=PrometheusConfig(), token_file=str(token_file)) as server,
        PrometheusServer(tmp_path, [f"127.0.0.1:{server.port}"]) as prometheus,
    ):
        assert [sample.value for sample in prometheus.wait_for("up")] == [0.0]
        assert "401" in prometheus.targets()[0]["lastError"]
