# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does `tee` cost the training thread a step, against the same values set on SDK instruments?

The step dict has 60 keys. As NeMo-RL's, 18 of them are the catalogue's and the rest is passed over;
with 40 and with 60 declared it is what an owner of many series sees. `client.tee` is the whole call
on the calling thread, 100 calls a round, the client drained in between; the SDK's instruments are
ready and set in a plain loop. `tee.rules` is the part that turns a dict into rows. `process.cpu.tee`
is the processor time of all threads for 2,000 steps, flush thread and in-process core (ours) or
collections (the SDK's) included.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_tee.py`
"""

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.micro.in_process import (
    collected,
    drained,
    measure,
    sdk_call,
    sdk_meter,
    telemetry_in_process,
)
from nemo_telemetry_actor.catalogue.efficiency import CATEGORIES
from nemo_telemetry_actor.catalogue.vocabulary import TeedMetric, Vocabulary, default_vocabulary
from nemo_telemetry_actor.tee.hook import install_logger_tee
from nemo_telemetry_actor.tee.rules import TeeRules

KEYS = 60
CALLS = 100
CPU_STEPS = 2000
STEPS_A_FLUSH = 100


def _vocabulary(declared: int) -> Vocabulary:
    """Return the catalogue's rows, and as many of a user as make `declared` in all."""
    vocabulary = default_vocabulary()
    missing = declared - len(vocabulary.teed())
    vocabulary.declare_teed(*(TeedMetric(f"mine/{i}", f"rl.mine.m{i}") for i in range(missing)))
    return vocabulary


def _step(vocabulary: Vocabulary) -> dict[str, float]:
    """Return a step dict of 60 floats that holds every declared key."""
    declared = {row.logger_key: float(i) for i, row in enumerate(vocabulary.teed())}
    return declared | {f"other/{i}": float(i) for i in range(KEYS - len(declared))}


VOCABULARY = _vocabulary(40)
RULES = TeeRules(VOCABULARY)
STEP = _step(VOCABULARY)
EFFICIENCY = {f"efficiency/{category}_s": 1.0 for category in CATEGORIES} | {
    "efficiency/efficiency_pct": 75.0,
    "efficiency/efficiency_pct_is_per_step": 1.0,
}

of_rules = pytest.mark.benchmark(group="tee.rules", disable_gc=True, min_rounds=200)
of_call = pytest.mark.benchmark(group="client.tee", disable_gc=True)
of_process = pytest.mark.benchmark(group="process.cpu.tee", timer=time.process_time)
declared_keys = pytest.mark.parametrize("declared", [18, 60], ids=["18 declared", "60 declared"])


def _tee(metrics: Mapping[str, Any], prefix: str) -> int:
    count = 0
    for family in RULES.families(prefix):
        for values, _ in family(metrics):
            count += len(values)
    return count


@of_rules
def test_step_dict_of_60_floats(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_tee, STEP, "train") == 40


@of_rules
def test_step_dict_of_60_numpy_float32(benchmark: BenchmarkFixture) -> None:
    metrics = {key: np.float32(value) for key, value in STEP.items()}

    assert benchmark(_tee, metrics, "train") == 40


@of_rules
def test_step_dict_of_5_floats(benchmark: BenchmarkFixture) -> None:
    metrics = dict(list(STEP.items())[:5])

    assert benchmark(_tee, metrics, "train") == 5


@of_rules
def test_efficiency_dict(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_tee, EFFICIENCY, "") == 9


@of_rules
def test_prefix_without_family(benchmark: BenchmarkFixture) -> None:
    assert benchmark(_tee, STEP, "validation") == 0


@of_rules
def test_hook_alone(benchmark: BenchmarkFixture) -> None:
    class Logger:
        def log_metrics(self, metrics: Any, step: int, prefix: str = "") -> None:
            pass

    install_logger_tee(Logger, lambda _metrics, _prefix: None)

    benchmark(Logger().log_metrics, STEP, 1, "train")


def _repeat(call: Callable[[], object]) -> None:
    for _ in repeat(None, CALLS):
        call()


def _per_call(
    benchmark: BenchmarkFixture, call: Callable[[], object], values: int, setup: Callable[[], None]
) -> None:
    benchmark.extra_info.update(calls=CALLS, values=CALLS * values)
    measure(benchmark, _repeat, call, setup=setup, rounds=150, warmup_rounds=5)


def _teed(benchmark: BenchmarkFixture, declared: int, convert: Callable[[float], Any]) -> None:
    vocabulary = _vocabulary(declared)
    step = {key: convert(value) for key, value in _step(vocabulary).items()}
    with telemetry_in_process(vocabulary) as telemetry:
        tee = telemetry.tee
        _per_call(benchmark, lambda: tee(step, "train"), declared, lambda: drained(telemetry))


@of_call
@declared_keys
def test_tee_of_floats(benchmark: BenchmarkFixture, declared: int) -> None:
    _teed(benchmark, declared, float)


@of_call
@declared_keys
def test_tee_of_numpy_float32(benchmark: BenchmarkFixture, declared: int) -> None:
    _teed(benchmark, declared, np.float32)


@pytest.fixture
def sdk(declared: int) -> Iterator[tuple[Callable[[], None], InMemoryMetricReader]]:
    """What sets a step's declared values on ready instruments, and the reader that collects."""
    step = _step(_vocabulary(declared))
    with sdk_meter() as (meter, reader):
        calls = [
            (sdk_call(meter, row.kind, row.name), row.logger_key)
            for row in _vocabulary(declared).teed()
        ]

        def set_all() -> None:
            for call, logger_key in calls:
                call(step[logger_key])

        set_all()  # a collection needs something to collect
        yield set_all, reader


@of_call
@declared_keys
def test_sdk_instruments(
    benchmark: BenchmarkFixture,
    declared: int,
    sdk: tuple[Callable[[], None], InMemoryMetricReader],
) -> None:
    _per_call(benchmark, sdk[0], declared, lambda: collected(sdk[1]))


def _whole_cost(
    benchmark: BenchmarkFixture, call: Callable[[], object], values: int, end: Callable[[], object]
) -> None:
    def work() -> None:
        for _ in range(CPU_STEPS // STEPS_A_FLUSH):
            for _ in repeat(None, STEPS_A_FLUSH):
                call()
            end()

    benchmark.extra_info.update(calls=CPU_STEPS, values=CPU_STEPS * values)
    measure(benchmark, work, rounds=5, warmup_rounds=1)


@of_process
@declared_keys
def test_cpu_tee(benchmark: BenchmarkFixture, declared: int) -> None:
    vocabulary = _vocabulary(declared)
    step = _step(vocabulary)
    with telemetry_in_process(vocabulary) as telemetry:
        tee = telemetry.tee
        _whole_cost(benchmark, lambda: tee(step, "train"), declared, lambda: drained(telemetry))


@of_process
@declared_keys
def test_cpu_sdk_instruments(
    benchmark: BenchmarkFixture,
    declared: int,
    sdk: tuple[Callable[[], None], InMemoryMetricReader],
) -> None:
    _whole_cost(benchmark, sdk[0], declared, lambda: collected(sdk[1]))
