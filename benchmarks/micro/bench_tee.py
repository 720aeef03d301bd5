# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What do the tee's rules cost the training thread a step, and what would SDK gauges cost there?

The step dict has 60 keys, of which 40 are declared: the package's 18 and 22 of a user. The rules
turn it into rows; recording the rows is `bench_record.py`'s. The same 40 numbers are set on gauges
and counters of the OpenTelemetry SDK beside it, in a plain loop over ready instruments.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_tee.py`
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pytest_benchmark.fixture import BenchmarkFixture

from nemo_telemetry_actor.catalogue.efficiency import CATEGORIES
from nemo_telemetry_actor.catalogue.vocabulary import TeedMetric, Vocabulary, default_vocabulary
from nemo_telemetry_actor.tee.hook import install_logger_tee
from nemo_telemetry_actor.tee.rules import TeeRules


def _vocabulary() -> Vocabulary:
    vocabulary = default_vocabulary()
    vocabulary.declare_teed(*(TeedMetric(f"mine/{i}", f"rl.mine.m{i}") for i in range(22)))
    return vocabulary


VOCABULARY = _vocabulary()
RULES = TeeRules(VOCABULARY)
DECLARED = {row.logger_key: float(i) for i, row in enumerate(VOCABULARY.teed())}
STEP = DECLARED | {f"other/{i}": float(i) for i in range(20)}
EFFICIENCY = {f"efficiency/{category}_s": 1.0 for category in CATEGORIES} | {
    "efficiency/efficiency_pct": 75.0,
    "efficiency/efficiency_pct_is_per_step": 1.0,
}

pytestmark = pytest.mark.benchmark(group="tee.rules", disable_gc=True, min_rounds=200)


def _tee(metrics: Mapping[str, Any], prefix: str) -> int:
    count = 0
    for family in RULES.families(prefix):
        for values, _ in family(metrics):
            count += len(values)
    return count


def test_step_dict_of_60_floats(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_tee, STEP, "train") == 40


def test_step_dict_of_60_numpy_float32(benchmark: BenchmarkFixture) -> None:
    metrics = {key: np.float32(value) for key, value in STEP.items()}

    assert benchmark(_tee, metrics, "train") == 40


def test_step_dict_of_5_floats(benchmark: BenchmarkFixture) -> None:
    metrics = dict(list(STEP.items())[:5])

    assert benchmark(_tee, metrics, "train") == 5


def test_efficiency_dict(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_tee, EFFICIENCY, "") == 9


def test_prefix_without_family(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_tee, STEP, "validation") == 0


def test_hook_alone(benchmark: BenchmarkFixture) -> None:
    class Logger:
        def log_metrics(self, metrics: Any, step: int, prefix: str = "") -> None:
            pass

    install_logger_tee(Logger, lambda _metrics, _prefix: None)

    benchmark(Logger().log_metrics, STEP, 1, "train")


def test_sdk_instruments_set_to_the_same_40_values(benchmark: BenchmarkFixture) -> None:
    provider = MeterProvider([InMemoryMetricReader()])
    meter = provider.get_meter("bench")
    instruments: list[tuple[Callable[[float], None], str]] = []
    for row in VOCABULARY.teed():
        if row.kind == "counter":
            instruments.append((meter.create_counter(row.name, row.unit).add, row.logger_key))
        else:
            instruments.append((meter.create_gauge(row.name, row.unit).set, row.logger_key))

    def set_all(metrics: Mapping[str, float]) -> None:
        for record, logger_key in instruments:
            record(metrics[logger_key])

    benchmark(set_all, STEP)
    provider.shutdown()
