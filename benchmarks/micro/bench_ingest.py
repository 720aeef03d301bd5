# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does a batch cost the actor's event loop, and how much of it is more than decoding?

A batch of 10 gauge series with 5 points each, of 10 counters, of 10 histograms with 15 boundaries,
and one of 1,000 gauge series; each decoded only, and decoded and applied. The series exist already,
as they do in all batches of a client but its first. A commit follows every 20 batches, as on an
actor that takes 400 batches a second.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_ingest.py`
"""

import itertools
from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.model.instrument import DEFAULT_BOUNDARIES, Declaration, InstrumentKind
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.wire.messages import (
    Batch,
    GaugePoints,
    Hello,
    HistogramDelta,
    MetricBlock,
    SumDelta,
    decode,
    encode,
)

T0 = 1_790_000_000_000_000_000
CLIENT = "a" * 32
NONE = encode_attributes({})


def _declared(kind: InstrumentKind, index: int) -> bytes:
    boundaries = DEFAULT_BOUNDARIES if kind == "histogram" else ()
    return encode(Declaration(f"rl.{kind}.m{index}", kind, "s", "What it is.", boundaries))


def _gauges(series: int, points: int) -> bytes:
    blocks = [
        MetricBlock(
            _declared("gauge", i),
            [GaugePoints(NONE, [T0 + j for j in range(points)], [j * 0.1 for j in range(points)])],
        )
        for i in range(series)
    ]
    return encode(Batch(1, CLIENT, 0, blocks))


def _counters(series: int) -> bytes:
    blocks = [
        MetricBlock(_declared("counter", i), [SumDelta(NONE, 1.0, T0, T0 + 1)])
        for i in range(series)
    ]
    return encode(Batch(1, CLIENT, 0, blocks))


def _histograms(series: int) -> bytes:
    counts = [1] * (len(DEFAULT_BOUNDARIES) + 1)
    blocks = [
        MetricBlock(
            _declared("histogram", i),
            [HistogramDelta(NONE, counts, 100.0, 1.0, 9000.0, T0, T0 + 1)],
        )
        for i in range(series)
    ]
    return encode(Batch(1, CLIENT, 0, blocks))


BATCHES = {
    "10 gauges x 5 points": _gauges(10, 5),
    "1000 gauges x 1 point": _gauges(1000, 1),
    "10 counters": _counters(10),
    "10 histograms": _histograms(10),
}

pytestmark = [
    pytest.mark.benchmark(group="ingest.batch", disable_gc=True, min_rounds=200),
    pytest.mark.parametrize("content", BATCHES),
]


def _applier(payload: bytes) -> Callable[[], None]:
    registry = Registry(lease_s=30.0, fresh_run_id=lambda: "r")
    admission = Admission(registry, series_per_metric=2000, series=10**6, keep_points=True)
    producer = registry.join(Hello(1, CLIENT, "", "r", "", False, {}, {}), T0, 0.0)
    sequences = itertools.count()

    def apply() -> None:
        batch = decode(payload, Batch)
        sequence = next(sequences)
        # The payload's own sequence was applied before.
        admission.apply(
            producer, Batch(batch.version, CLIENT, sequence, batch.metrics, batch.observed), T0
        )
        if sequence % 20 == 19:
            registry.commit()

    return apply


def test_decode(benchmark: BenchmarkFixture, content: str) -> None:
    benchmark(decode, BATCHES[content], Batch)


def test_decode_and_apply(benchmark: BenchmarkFixture, content: str) -> None:
    benchmark(_applier(BATCHES[content]))
