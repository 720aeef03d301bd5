# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does a recorded value cost the training thread, and what the whole process?

Each round makes 1,000 calls, so a time in microseconds is one call's in nanoseconds. The client is
drained between rounds. `client.record` is the calling thread's wall time; beside it stand the same
values set on OpenTelemetry SDK instruments. `process.cpu` is the processor time of all threads for
100,000 values, flush thread and an in-process core (ours) or collections (the SDK's) included, since
the GIL is shared. `client.overload` times every call while the buffer runs over.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_record.py`
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.micro.in_process import (
    FOUR_ATTRIBUTES,
    GROUP,
    ONE_ATTRIBUTE,
    collected,
    drained,
    measure,
    sdk_call,
    sdk_meter,
    starved_telemetry,
    telemetry_in_process,
)
from nemo_telemetry_actor import Telemetry

CALLS = 1000
CPU_VALUES = 100_000
CHUNK = 10_000
OVERLOAD_CALLS = 400_000

ATTRIBUTES: dict[str, dict[str, str] | None] = {
    "0 attributes": None,
    "1 attribute": ONE_ATTRIBUTE,
    "4 attributes": FOUR_ATTRIBUTES,
}
ONE = {"gauge": 0.5}
TEN = {f"gauge_{i}": float(i) for i in range(10)}

attribute_sets = pytest.mark.parametrize("attributes", ATTRIBUTES.values(), ids=list(ATTRIBUTES))
kinds = pytest.mark.parametrize("kind", ["gauge", "counter", "histogram"])
of_call = pytest.mark.benchmark(group="client.record", disable_gc=True)
of_process = pytest.mark.benchmark(group="process.cpu", timer=time.process_time)


@pytest.fixture(scope="module")
def telemetry() -> Iterator[Telemetry]:
    with telemetry_in_process() as client:
        yield client


def _repeat(call: Callable[[], object]) -> None:
    for _ in repeat(None, CALLS):
        call()


def _per_call(
    benchmark: BenchmarkFixture, telemetry: Telemetry, call: Callable[[], object], values: int
) -> None:
    benchmark.extra_info.update(calls=CALLS, values=CALLS * values)
    measure(benchmark, _repeat, call, setup=lambda: drained(telemetry), rounds=150, warmup_rounds=5)


@of_call
def test_empty_loop(benchmark: BenchmarkFixture, telemetry: Telemetry) -> None:
    _per_call(benchmark, telemetry, lambda: None, 1)


@of_call
@attribute_sets
@kinds
def test_record(
    benchmark: BenchmarkFixture,
    telemetry: Telemetry,
    kind: str,
    attributes: Mapping[str, Any] | None,
) -> None:
    record, values = telemetry.record, {kind: 0.5}
    _per_call(benchmark, telemetry, lambda: record(GROUP, values, attributes=attributes), 1)


@of_call
def test_record_by_keyword(benchmark: BenchmarkFixture, telemetry: Telemetry) -> None:
    record = telemetry.record
    _per_call(benchmark, telemetry, lambda: record(GROUP, gauge=0.5), 1)


@of_call
def test_record_ten(benchmark: BenchmarkFixture, telemetry: Telemetry) -> None:
    record = telemetry.record
    _per_call(benchmark, telemetry, lambda: record(GROUP, TEN), len(TEN))


@of_call
@attribute_sets
@kinds
def test_sdk(
    benchmark: BenchmarkFixture,
    telemetry: Telemetry,
    kind: str,
    attributes: Mapping[str, Any] | None,
) -> None:
    with sdk_meter() as (meter, _):
        call = sdk_call(meter, kind, "bench.instrument")
        _per_call(benchmark, telemetry, lambda: call(0.5, attributes), 1)


@of_call
def test_sdk_ten(benchmark: BenchmarkFixture, telemetry: Telemetry) -> None:
    with sdk_meter() as (meter, _):
        setters = [(sdk_call(meter, "gauge", f"bench.{key}"), key) for key in TEN]

        def set_all() -> None:
            for call, key in setters:
                call(TEN[key])

        _per_call(benchmark, telemetry, set_all, len(TEN))


def _whole_cost(
    benchmark: BenchmarkFixture,
    call: Callable[[], object],
    values_a_call: int,
    end_of_chunk: Callable[[], object],
) -> None:
    def work() -> None:
        for _ in range(CPU_VALUES // CHUNK):
            for _ in repeat(None, CHUNK // values_a_call):
                call()
            end_of_chunk()

    benchmark.extra_info.update(calls=CPU_VALUES // values_a_call, values=CPU_VALUES)
    measure(benchmark, work, rounds=3, warmup_rounds=1)


@of_process
@attribute_sets
@kinds
def test_cpu_record(
    benchmark: BenchmarkFixture,
    telemetry: Telemetry,
    kind: str,
    attributes: Mapping[str, Any] | None,
) -> None:
    record, values = telemetry.record, {kind: 0.5}
    drained(telemetry)

    _whole_cost(
        benchmark,
        lambda: record(GROUP, values, attributes=attributes),
        1,
        lambda: drained(telemetry),
    )


@of_process
def test_cpu_record_ten(benchmark: BenchmarkFixture, telemetry: Telemetry) -> None:
    record = telemetry.record
    drained(telemetry)

    _whole_cost(benchmark, lambda: record(GROUP, TEN), 10, lambda: drained(telemetry))


@of_process
@attribute_sets
@kinds
def test_cpu_sdk(
    benchmark: BenchmarkFixture, kind: str, attributes: Mapping[str, Any] | None
) -> None:
    with sdk_meter() as (meter, reader):
        call = sdk_call(meter, kind, "bench.instrument")

        _whole_cost(benchmark, lambda: call(0.5, attributes), 1, lambda: collected(reader))


def _each_call_ns(call: Callable[[], object]) -> list[int]:
    clock = time.perf_counter_ns
    durations = [0] * OVERLOAD_CALLS
    for index in range(OVERLOAD_CALLS):
        before = clock()
        call()
        durations[index] = clock() - before
    return durations


def _under_overload(benchmark: BenchmarkFixture, telemetry: Telemetry) -> None:
    """Record without a pause; the garbage collector stays on, as it is in training."""
    record = telemetry.record
    gc.collect()

    durations: list[int] = measure(benchmark, _each_call_ns, lambda: record(GROUP, ONE), rounds=1)

    benchmark.extra_info.update(
        calls=OVERLOAD_CALLS,
        values=OVERLOAD_CALLS,
        mean_ns=round(sum(durations) / len(durations)),
        p99_9_ns=sorted(durations)[int(len(durations) * 0.999)],
        max_ns=max(durations),
    )


@pytest.mark.benchmark(group="client.overload")
def test_flush_thread_that_gets_no_time(benchmark: BenchmarkFixture) -> None:
    with starved_telemetry() as telemetry:
        _under_overload(benchmark, telemetry)


@pytest.mark.benchmark(group="client.overload")
def test_flush_thread_that_works_against_a_tight_loop(
    benchmark: BenchmarkFixture, telemetry: Telemetry
) -> None:
    drained(telemetry)
    _under_overload(benchmark, telemetry)
    drained(telemetry)
