# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What a batch may hold: rules over one declaration and one block of points each."""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from nemo_telemetry_actor.errors import DropReason, WireError
from nemo_telemetry_actor.model.instrument import (
    Declaration,
    check_name,
    check_unit,
    checked_boundaries,
    is_observable,
)
from nemo_telemetry_actor.wire.messages import (
    GaugePoints,
    HistogramDelta,
    ObservedSet,
    SumDelta,
    decode,
)

Points = GaugePoints | SumDelta | HistogramDelta

_MAX_TIME: Final = 2**63 - 1
_MAX_COUNT: Final = 2**63 - 1


class Refusal(Exception):  # noqa: N818  # it never leaves this package
    """Part of a batch cannot be taken."""

    def __init__(self, reason: DropReason, why: str) -> None:
        super().__init__(why)
        self.reason: DropReason = reason


def size_of(points: Points) -> int:
    """Return how many points a block counts for."""
    return len(points.values) if isinstance(points, GaugePoints) else 1


def checked_declaration(encoded: bytes) -> Declaration:
    """Return the declaration of these bytes.

    Raises:
        Refusal: They are none, or it breaks a rule of OpenTelemetry.
    """
    try:
        declaration = decode(encoded, Declaration)
        check_name(declaration.name)
        check_unit(declaration.name, declaration.unit)
        bounds = checked_boundaries(declaration.name, declaration.boundaries)
    except (WireError, ValueError) as error:
        raise Refusal("undeclared", str(error)) from error
    return msgspec.structs.replace(declaration, boundaries=bounds)


def check_gauge(declaration: Declaration, points: GaugePoints) -> None:
    """Refuse points that are not of this gauge, or not numbers at times."""
    if declaration.kind != "gauge" or len(points.values) != len(points.times_unix_nano):
        raise Refusal("bad_value", f"{declaration.name}: gauge points do not fit its declaration")
    _check_times(declaration, points.times_unix_nano)
    if not all(map(math.isfinite, points.values)):
        raise Refusal("bad_value", f"{declaration.name}: a value is not finite")


def check_sum(declaration: Declaration, points: SumDelta) -> None:
    """Refuse a delta that is not of this counter, or cannot be added to it."""
    if declaration.kind not in {"counter", "up_down_counter"}:
        raise Refusal("bad_value", f"{declaration.name}: a sum does not fit its declaration")
    _check_times(declaration, (points.first_unix_nano, points.last_unix_nano))
    if not math.isfinite(points.delta) or (points.delta < 0 and declaration.kind == "counter"):
        # Without the number: the text tells whether this was said before.
        what = "not finite" if declaration.kind == "up_down_counter" else "negative or not finite"
        raise Refusal("bad_value", f"{declaration.name}: what is to be added is {what}")


def check_histogram(declaration: Declaration, points: HistogramDelta) -> None:
    """Refuse counts that are not of this histogram, or contradict each other."""
    if declaration.kind != "histogram" or len(points.counts) != len(declaration.boundaries) + 1:
        raise Refusal("bad_value", f"{declaration.name}: buckets do not fit its declaration")
    _check_times(declaration, (points.first_unix_nano, points.last_unix_nano))
    is_counted = min(points.counts) >= 0 and 0 < sum(points.counts) <= _MAX_COUNT
    is_finite = all(map(math.isfinite, (points.sum, points.min, points.max)))
    if not (is_counted and is_finite and points.min <= points.max):
        raise Refusal("bad_value", f"{declaration.name}: its counts, sum or extremes are not valid")


def check_observed(declaration: Declaration, observed: ObservedSet) -> None:
    """Refuse a set that is not of this observable, or holds what is no number or comes twice."""
    if not is_observable(declaration.kind):
        raise Refusal("undeclared", f"{declaration.name} is no observable")
    _check_times(declaration, (observed.time_unix_nano,))
    if not all(math.isfinite(value) for _, value in observed.points):
        raise Refusal("bad_value", f"{declaration.name}: an observed value is not finite")
    if len({attributes for attributes, _ in observed.points}) < len(observed.points):
        raise Refusal("bad_value", f"{declaration.name}: an attribute set is observed twice")


def _check_times(declaration: Declaration, times: Sequence[int]) -> None:
    if not times or min(times) <= 0 or max(times) > _MAX_TIME:
        raise Refusal(
            "bad_value",
            f"{declaration.name}: a time is not between 1970 and 2262 (Unix nanoseconds)",
        )
