# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to write what a client sends."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.model.instrument import Declaration, InstrumentKind
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Batch,
    GaugePoints,
    Hello,
    HistogramDelta,
    MetricBlock,
    ObservedSet,
    SumDelta,
    encode,
)
from tests.snapshots import T0

BOUNDARIES = (1.0, 10.0)


def declared(name: str, kind: InstrumentKind = "gauge", unit: str = "", about: str = "") -> bytes:
    """An encoded declaration; a histogram has `BOUNDARIES`."""
    boundaries = BOUNDARIES if kind == "histogram" else ()
    return encode(Declaration(name, kind, unit, about, boundaries))


def hello(client_id: str = "a" * 32, **changes: Any) -> Hello:
    """A greeting of a worker without a job."""
    fields: dict[str, Any] = {
        "job_id": "",
        "run_id": "",
        "scheduler_id": "",
        "opens_run": False,
        "run_attributes": {},
        "process_attributes": {},
        "first_sequence": 0,
    }
    return Hello(WIRE_VERSION, client_id, **(fields | changes))


def gauge_points(
    values: Sequence[float], attributes: Mapping[str, Any] | None = None, first_s: int = 0
) -> GaugePoints:
    """One value a second."""
    times = [T0 + (first_s + i) * 10**9 for i in range(len(values))]
    return GaugePoints(encode_attributes(attributes or {}), times, list(values))


def sum_delta(delta: float, attributes: Mapping[str, Any] | None = None, at_s: int = 0) -> SumDelta:
    """What was added in one second."""
    time = T0 + at_s * 10**9
    return SumDelta(encode_attributes(attributes or {}), delta, time, time + 10**9)


def histogram_delta(
    counts: Sequence[int], total: float, low: float, high: float, at_s: int = 0
) -> HistogramDelta:
    """What was recorded in one second, without attributes."""
    time = T0 + at_s * 10**9
    return HistogramDelta(encode_attributes({}), list(counts), total, low, high, time, time + 10**9)


def observed(
    declaration: bytes, sequence: int, values: Mapping[str, float], at_s: int = 0
) -> ObservedSet:
    """One collection, with an attribute `k` each."""
    points = [(encode_attributes({"k": key}), value) for key, value in values.items()]
    return ObservedSet(declaration, sequence, T0 + at_s * 10**9, points)


def batch(
    sequence: int,
    *content: MetricBlock | ObservedSet,
    client_id: str = "a" * 32,
    closing: Literal["", "client", "run"] = "",
) -> Batch:
    """A batch of blocks and sets."""
    metrics = [each for each in content if isinstance(each, MetricBlock)]
    sets = [each for each in content if isinstance(each, ObservedSet)]
    return Batch(WIRE_VERSION, client_id, sequence, metrics, sets, closing)
