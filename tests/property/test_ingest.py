# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.errors import WireError
from nemo_telemetry_actor.export.encode import to_request
from nemo_telemetry_actor.export.prometheus import render
from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.ingest.checks import size_of
from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.model.instrument import (
    INSTRUMENT_KINDS,
    Declaration,
    InstrumentKind,
)
from nemo_telemetry_actor.model.points import NumberPoint, Snapshot
from nemo_telemetry_actor.registry.collect import (
    snapshot_of_now,
    snapshot_of_points,
    snapshot_of_totals,
)
from nemo_telemetry_actor.registry.pointlog import PointColumn
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.wire.messages import (
    Batch,
    GaugePoints,
    HistogramDelta,
    MetricBlock,
    ObservedSet,
    SumDelta,
    decode,
    encode,
)
from tests.batches import hello
from tests.snapshots import T0

SERIES_PER_METRIC, SERIES = 3, 6

NAMES = ("a", "a.b", "a_b", "b.seconds", "b", "target", "1x")
BAD_BYTES = (
    b"",
    b"\xc1",
    b"\x91\xa1a",
    b"\x94\xa1a\x01\xa1a\x02",
    b"\x91" * 5000,
    b"\x92\xa1a\xc0",
)


def mostly(good: st.SearchStrategy[Any], bad: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Six of seven are good, or a batch would hardly ever be accepted at all."""
    return st.integers(0, 6).flatmap(lambda die: bad if die == 6 else good)


def declarations(*kinds: InstrumentKind) -> st.SearchStrategy[Any]:
    return mostly(
        st.builds(
            lambda name, kind, unit: encode(
                Declaration(name, kind, unit, "", (1.0,) if kind == "histogram" else ())
            ),
            st.sampled_from(NAMES),
            st.sampled_from(kinds),
            st.sampled_from(["", "s"]),
        ),
        st.sampled_from(
            [*BAD_BYTES, encode(Declaration("a", "gauge", "ü"))]
            + [encode(Declaration("a", kind)) for kind in INSTRUMENT_KINDS]
        ),
    )


attributes = mostly(
    st.integers(0, 5).map(lambda value: encode_attributes({"k": value} if value else {})),
    st.sampled_from(BAD_BYTES),
)
times = mostly(st.integers(T0, T0 + 5), st.sampled_from([0, -1, 1, 2**63 - 1, 2**63, 2**64 - 1]))
numbers = mostly(
    st.integers(0, 9).map(float),
    st.sampled_from([math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324]),
)
counts = mostly(st.integers(0, 9), st.sampled_from([-1, 2**63 - 1, 2**64 - 1]))
gauges = st.lists(st.tuples(times, numbers), min_size=1, max_size=3).flatmap(
    lambda pairs: st.builds(
        GaugePoints, attributes, st.just([t for t, _ in pairs]), st.just([v for _, v in pairs])
    )
)
sums = st.builds(SumDelta, attributes, numbers, times, times)
histograms = st.builds(
    HistogramDelta,
    attributes,
    st.lists(counts, min_size=2, max_size=2),
    numbers,
    st.just(0.0),
    numbers,
    times,
    times,
)
blocks = st.one_of(
    st.builds(MetricBlock, declarations("gauge"), st.lists(gauges, max_size=4)),
    st.builds(MetricBlock, declarations("counter", "up_down_counter"), st.lists(sums, max_size=4)),
    st.builds(MetricBlock, declarations("histogram"), st.lists(histograms, max_size=4)),
    st.builds(
        MetricBlock,
        declarations("gauge", "counter", "up_down_counter", "histogram"),
        st.lists(st.one_of(gauges, sums, histograms), max_size=4),
    ),
)
sets = st.builds(
    ObservedSet,
    declarations("observable_gauge", "observable_counter"),
    st.integers(0, 4),
    times,
    st.lists(st.tuples(attributes, numbers), max_size=5, unique_by=lambda pair: pair[0]),
)
batches = st.builds(
    Batch,
    st.just(1),
    st.just("a" * 32),
    st.integers(0, 3),
    st.lists(blocks, max_size=3),
    st.lists(sets, max_size=2),
    st.just(""),
)


def _points_in(batch: Batch) -> int:
    measured = sum(size_of(points) for block in batch.metrics for points in block.points)
    return measured + sum(len(each.points) for each in batch.observed)


def _check_numbers(snapshot: Snapshot) -> None:
    """Whatever came in, what goes out is numbers that both kinds of backend can take."""
    to_request(snapshot)
    assert render(snapshot, ["nemo.run.id"], openmetrics=True).body.endswith(b"# EOF\n")
    for resource in snapshot.resources:
        for metric in resource.metrics:
            for point in metric.points:
                assert 0 <= point.start_time_unix_nano <= point.time_unix_nano < 2**63
                value = point.value if isinstance(point, NumberPoint) else point.sum
                assert math.isfinite(value)


@given(arrivals=st.lists(batches, max_size=4), keep_points=st.booleans())
def test_points_in_are_accepted_or_dropped_and_series_are_bounded(
    arrivals: list[Batch], keep_points: bool
) -> None:
    registry = Registry(lease_s=30.0, fresh_run_id=lambda: "r")
    admission = Admission(
        registry, series_per_metric=SERIES_PER_METRIC, series=SERIES, keep_points=keep_points
    )
    producer = registry.join(hello(), T0, 0.0)
    seen: set[int] = set()
    columns: list[PointColumn] = []
    entered = 0

    for each in arrivals:
        received = decode(encode(each), Batch)
        entered += 0 if each.sequence in seen else _points_in(received)
        seen.add(each.sequence)
        admission.apply(producer, received, T0)
        assert admission.accepted + admission.dropped.total() == entered
        assert registry.series_count == producer.series_count <= SERIES
        for metric in producer.metrics.values():
            assert len(metric.series) <= SERIES_PER_METRIC
        columns += registry.commit()

    _check_numbers(snapshot_of_points(columns))
    _check_numbers(snapshot_of_totals([producer], 0, 2**63 - 1))
    _check_numbers(snapshot_of_now([producer], 2**63 - 1))
    assert producer.accepted == admission.accepted
    assert admission.duplicates == len(arrivals) - len(seen)
    delivered = sum(len(column.values) for column in columns)
    assert delivered <= admission.accepted if keep_points else delivered == 0
    for job_end in (100.0, 10_000.0):
        registry.expire(T0, job_end)
    registry.forget_finished(20_000.0, registry.revision)
    assert (registry.series_count, registry.runs, registry.producers) == (0, {}, {})


@given(
    payload=st.one_of(st.binary(max_size=40), st.builds(encode, batches)), cut=st.integers(0, 40)
)
def test_bytes_that_are_no_batch_are_refused_and_nothing_else(payload: bytes, cut: int) -> None:
    try:
        decoded: Any = decode(payload[cut:], Batch)
    except WireError:
        return
    assert isinstance(decoded, Batch)


json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(attributes=st.dictionaries(st.text(max_size=5), json_like, max_size=4))
def test_no_resource_attribute_spoils_a_message(attributes: dict[str, Any]) -> None:
    registry = Registry(lease_s=30.0, fresh_run_id=lambda: "r")
    greeting = hello(opens_run=True, run_attributes=attributes, process_attributes=attributes)

    producer = registry.join(msgspec.convert(greeting, type(greeting)), T0, 0.0)

    _check_numbers(snapshot_of_now([producer], T0))
    to_request(Snapshot([]))
    assert producer.resource()["nemo.run.id"] == "r"
