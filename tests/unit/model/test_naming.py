# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import re

import pytest

from nemo_telemetry_actor.model.instrument import Declaration, InstrumentKind, Scope
from nemo_telemetry_actor.model.naming import (
    ExpositionNames,
    check_unique,
    family_names,
    family_of,
    label_name,
    metric_name,
)


@pytest.mark.parametrize(
    ("name", "kind", "unit", "expected"),
    [
        ("rl.reward.mean", "gauge", "", "rl_reward_mean"),
        ("rl.setup.duration", "gauge", "s", "rl_setup_duration_seconds"),
        ("rl.efficiency.seconds", "gauge", "s", "rl_efficiency_seconds"),
        ("rl.efficiency.pct", "gauge", "%", "rl_efficiency_pct_percent"),
        ("rl.response.length.mean", "gauge", "{token}", "rl_response_length_mean"),
        ("rl.host.memory", "observable_gauge", "By", "rl_host_memory_bytes"),
        ("rl.share", "gauge", "1", "rl_share_ratio"),
        ("rl.share.ratio", "observable_gauge", "1", "rl_share_ratio"),
        ("rl.steps", "counter", "1", "rl_steps_total"),
        ("rl.open", "up_down_counter", "1", "rl_open"),
        ("rl.sizes", "histogram", "1", "rl_sizes"),
        ("rl.vllm.prompt_tokens", "counter", "{token}", "rl_vllm_prompt_tokens_total"),
        ("rl.read.total", "counter", "By", "rl_read_bytes_total"),
        ("rl.read.bytes.total", "observable_counter", "By", "rl_read_bytes_total"),
        ("rl.sft.valid_tokens_per_second", "gauge", "{token}/s", "rl_sft_valid_tokens_per_second"),
        ("rl.speed", "gauge", "{token}/s", "rl_speed_per_second"),
        ("rl.disk", "gauge", "By/s", "rl_disk_bytes_per_second"),
        ("rl.step", "gauge", "s/{step}", "rl_step_seconds"),
        ("rl.rate", "gauge", "1/min", "rl_rate_per_minute"),
        ("rl.a", "gauge", "{token}s{x}", "rl_a_seconds"),
        ("rl.b", "gauge", "foo^2.bar", "rl_b_foo_2_bar"),
        ("seconds", "gauge", "s", "seconds"),
        ("a.-/_b_", "gauge", "s", "a_b_seconds"),
        ("7up", "gauge", "", "_7up"),
    ],
)
def test_names_follow_the_compatibility_specification(
    name: str, kind: InstrumentKind, unit: str, expected: str
) -> None:
    assert metric_name(Declaration(name, kind, unit)) == expected


def test_a_counter_occupies_its_names_in_both_formats() -> None:
    assert family_names(Declaration("rl.n", "counter")) == ("rl_n", "rl_n_total", "rl_n_created")


def test_a_histogram_occupies_the_names_of_its_parts() -> None:
    assert family_names(Declaration("rl.h", "histogram", "s")) == (
        "rl_h_seconds",
        "rl_h_seconds_bucket",
        "rl_h_seconds_sum",
        "rl_h_seconds_count",
        "rl_h_seconds_created",
    )


def test_a_gauge_occupies_one_name() -> None:
    assert family_names(Declaration("rl.g", "gauge")) == ("rl_g",)


def test_the_unit_of_a_family_is_always_a_suffix_of_its_name() -> None:
    assert family_of(Declaration("rl.disk", "gauge", "By/s")).unit == "bytes_per_second"
    assert family_of(Declaration("seconds", "gauge", "s")).unit == ""


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("nemo.run.id", "nemo_run_id"),
        ("a..b", "a_b"),
        ("__name__", "_name_"),
        ("1st", "_1st"),
        ("größe", "gr_e"),
    ],
)
def test_label_names_are_what_prometheus_allows(key: str, expected: str) -> None:
    assert label_name(key) == expected


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        (Declaration("rl.a.b", "gauge"), Declaration("rl.a_b", "gauge"), "rl_a_b"),
        (Declaration("rl.n", "counter"), Declaration("rl.n.total", "gauge"), "rl_n_total"),
        (Declaration("rl.n", "counter"), Declaration("rl.n", "gauge"), "rl_n"),
        (Declaration("rl.h", "histogram"), Declaration("rl.h.count", "gauge"), "rl_h_count"),
        (Declaration("rl.h", "histogram"), Declaration("rl.h.sum", "gauge"), "rl_h_sum"),
        (Declaration("rl.t", "gauge", "s"), Declaration("rl.t.seconds", "gauge"), "rl_t_seconds"),
        (Declaration("rl.q", "gauge"), Declaration("rl.q", "up_down_counter"), "rl_q"),
    ],
)
def test_two_metrics_with_one_name_are_refused_and_both_are_named(
    first: Declaration, second: Declaration, shared: str
) -> None:
    for pair in ([first, second], [second, first]):
        with pytest.raises(ValueError, match=re.escape(shared)) as refusal:
            check_unique(pair)

        assert repr(first.name) in str(refusal.value)
        assert repr(second.name) in str(refusal.value)


def test_the_names_of_the_endpoint_itself_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'target\.info' .* rename it"):
        check_unique([Declaration("target.info", "gauge")])


def test_declaring_one_metric_again_is_no_collision() -> None:
    check_unique(
        [
            Declaration("rl.a", "gauge", "{token}", "one"),
            Declaration("rl.a", "observable_gauge", "", "another", scope=Scope("other")),
            Declaration("rl.h", "histogram", boundaries=(1.0,)),
            Declaration("rl.h", "histogram", boundaries=(2.0,)),
        ]
    )


def test_a_refused_metric_occupies_nothing() -> None:
    names = ExpositionNames()
    names.claim(Declaration("rl.h.sum", "gauge"))
    with pytest.raises(ValueError, match="rl_h_sum"):
        names.claim(Declaration("rl.h", "histogram"))

    names.claim(Declaration("rl.h.count", "gauge"))
