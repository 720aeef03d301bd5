# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import enum
import math
from collections import UserDict, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.catalogue.vocabulary import TeedMetric, Vocabulary, default_vocabulary
from nemo_telemetry_actor.tee.rules import Rows, TeeRules

RULES = TeeRules(default_vocabulary())
COUNTERS = [row for row in default_vocabulary().teed() if row.kind == "counter"]

# Keys of no family, to make a dict larger than the table of declared keys.
BALLAST = {f"timing/{i}_s": 1.0 for i in range(40)}


class _Prefix(enum.StrEnum):
    TRAIN = "train"


class _HostileText(str):
    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # the hostility under test


class _HostilePrefix:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")


def _rows(rules: TeeRules, metrics: Mapping[str, Any], prefix: object = "train") -> Rows:
    return [row for family in rules.families(prefix) for row in family(metrics)]


def _names(prefix: object) -> list[str]:
    return [family.name for family in RULES.families(prefix)]


@pytest.mark.parametrize("prefix", ["train", "", _Prefix.TRAIN, np.str_("train"), _HostileText("")])
def test_a_steps_prefix_has_efficiency_then_scalars(prefix: object) -> None:
    assert _names(prefix) == ["efficiency", "scalars"]


def test_the_setup_prefix_has_the_setup_family_alone() -> None:
    assert _names("timing/setup") == ["setup"]


@pytest.mark.parametrize(
    "prefix",
    [
        None,
        "validation",
        "performance",
        "refit",
        "timing/train",
        "rollout/throughput",
        "timing/rollout_recovery",
        "timing/setup/",
        "Train",
        "train ",
        b"train",
        0,
        ["train"],
        {},
        _HostilePrefix(),
        str,
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_other_prefix_has_no_family(prefix: object) -> None:
    assert RULES.families(prefix) == ()


@pytest.mark.parametrize("row", default_vocabulary().teed(), ids=lambda row: row.name)
@pytest.mark.parametrize("ballast", [{}, BALLAST], ids=["small dict", "large dict"])
def test_each_declared_key_gives_its_series_the_logged_value(
    row: TeedMetric, ballast: dict[str, float]
) -> None:
    assert _rows(RULES, ballast | {row.logger_key: 0.25}) == [({row.registry_key: 0.25}, None)]


@pytest.mark.parametrize("ballast", [{}, BALLAST], ids=["small dict", "large dict"])
def test_all_scalars_of_a_dict_are_one_row_without_attributes(ballast: dict[str, float]) -> None:
    metrics: dict[str, Any] = ballast | {
        "loss": 0.5,
        "reward": np.float32(0.25),
        "grad_norm": 3,
        "lr": Decimal("0.125"),
        "critic/loss": np.array([2.0]),
        "approx_entropy": math.nan,
        "kl_penalty": None,
        "policy_time": True,
        "total_step_time": "1.0",
        "loader_latency_max": [1.0],
        "valid_tokens_per_second": {"hist": 1},
        "mean_gen_tokens_per_sample": np.array([1.0, 2.0]),
        "vllm/prompt_tokens": 0,
    }

    ((values, attributes),) = _rows(RULES, metrics)

    assert math.isnan(values.pop("entropy"))
    assert values == {
        "policy_loss": 0.5,
        "reward_mean": 0.25,
        "grad_norm": 3.0,
        "learning_rate": 0.125,
        "value_loss": 2.0,
        "vllm_prompt_tokens": 0.0,
    }
    assert {type(value) for value in values.values()} == {float}
    assert attributes is None


@pytest.mark.parametrize("value", [math.inf, -math.inf, -1.0, 0.0])
def test_a_gauge_passes_whatever_float_was_logged(value: float) -> None:
    assert _rows(RULES, {"loss": value}) == [({"policy_loss": value}, None)]


@pytest.mark.parametrize("row", COUNTERS, ids=lambda row: row.name)
@pytest.mark.parametrize("delta", [-1.0, -1, math.nan, math.inf, -math.inf, np.float32(-2)])
def test_a_counter_is_not_given_a_delta_that_fell_or_is_not_finite(
    row: TeedMetric, delta: float
) -> None:
    assert _rows(RULES, {row.logger_key: delta, "loss": 1.0}) == [({"policy_loss": 1.0}, None)]
    assert _rows(RULES, {row.logger_key: delta}) == []


def test_the_four_vllm_totals_are_counters() -> None:
    assert [row.name for row in COUNTERS] == [
        "rl.vllm.prompt_tokens",
        "rl.vllm.generation_tokens",
        "rl.vllm.generations.ok",
        "rl.vllm.generations.failed",
    ]


def test_a_step_dict_can_hold_efficiency_and_scalars() -> None:
    metrics = {"efficiency/idle/validation_s": 2.0, "loss": 1.0}

    rows = _rows(RULES, metrics, "")

    assert [values for values, _ in rows] == [{"efficiency_seconds": 2.0}, {"policy_loss": 1.0}]


def test_durations_of_a_train_dict_are_no_setup_phases() -> None:
    assert _rows(RULES, {"generation_init_time_s": 1.0}) == []


def test_the_setup_dict_is_scanned_for_phases_only() -> None:
    metrics = {"loss": 1.0, "efficiency/idle/validation_s": 2.0, "policy_init_time_s": 3.0}

    assert _rows(RULES, metrics, "timing/setup") == [
        ({"setup_duration": 2.0}, {"rl.setup.phase": "efficiency/idle/validation"}),
        ({"setup_duration": 3.0}, {"rl.setup.phase": "policy_init"}),
    ]


def test_a_row_of_ones_own_is_teed_by_its_kind() -> None:
    vocabulary = Vocabulary()
    vocabulary.declare_teed(
        TeedMetric("retries", "rl.env.retries", "counter"),
        TeedMetric("queue", "rl.env.queue", "up_down_counter"),
        TeedMetric("wait", "rl.env.wait", "histogram"),
    )

    rows = _rows(TeeRules(vocabulary), {"retries": -1, "queue": -1, "wait": -1, "loss": 1.0})

    assert rows == [({"env_queue": -1.0, "env_wait": -1.0}, None)]


def test_rows_declared_later_are_not_seen() -> None:
    vocabulary = Vocabulary()
    rules = TeeRules(vocabulary)

    vocabulary.declare_teed(TeedMetric("loss", "rl.policy.loss"))

    assert _rows(rules, {"loss": 1.0}) == []


@pytest.mark.parametrize("make", [dict, UserDict, MappingProxyType, lambda d: defaultdict(int, d)])
@pytest.mark.parametrize("ballast", [{}, BALLAST], ids=["small dict", "large dict"])
def test_any_mapping_is_read_and_left_as_it_was(make: Any, ballast: dict[str, float]) -> None:
    metrics = make(ballast | {"loss": 1.0})

    assert _rows(RULES, metrics) == [({"policy_loss": 1.0}, None)]
    assert dict(metrics) == ballast | {"loss": 1.0}


@pytest.mark.parametrize("key", [np.str_("loss"), _Prefix.TRAIN])
def test_a_key_that_is_text_of_another_type_counts_as_its_text(key: str) -> None:
    vocabulary = Vocabulary()
    vocabulary.declare_teed(
        TeedMetric(str(key), "rl.x"), TeedMetric("b", "rl.b"), TeedMetric("c", "rl.c")
    )
    rules = TeeRules(vocabulary)

    assert _rows(rules, {key: 1.0}) == [({"x": 1.0}, None)]
    assert _rows(rules, BALLAST | {key: 1.0}) == [({"x": 1.0}, None)]


def test_a_mapping_may_have_keys_that_no_dict_takes() -> None:
    class Pairs(UserDict[Any, Any]):
        def items(self) -> Any:
            return [([], 1.0), (_HostilePrefix(), 1.0), ("loss", 2.0)]

    assert _rows(RULES, Pairs()) == [({"policy_loss": 2.0}, None)]


@pytest.mark.parametrize("metrics", [None, [], [("loss", 1.0)], "loss", 3, {}, BALLAST])
@pytest.mark.parametrize("prefix", ["train", ""])
def test_what_holds_no_declared_key_gives_no_row(metrics: Any, prefix: str) -> None:
    assert _rows(RULES, metrics, prefix) == []


@pytest.mark.parametrize("metrics", [None, [("a_s", 1.0)], "a_s", {}])
def test_what_holds_no_phase_gives_no_row(metrics: Any) -> None:
    assert _rows(RULES, metrics, "timing/setup") == []
