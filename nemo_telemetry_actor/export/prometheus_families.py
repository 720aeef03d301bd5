# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A snapshot as Prometheus families: who owns a name, which labels a point has, what merges."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from operator import add
from typing import Final, Literal, TypeAlias

import msgspec

from nemo_telemetry_actor.model.attributes import AttributeValue
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.naming import (
    RESERVED_NAMES,
    Family,
    family_of,
    identity_of,
    instant_kind,
    label_name,
)
from nemo_telemetry_actor.model.points import Attributes, HistogramPoint, MetricData, NumberPoint

LeftOutReason: TypeAlias = Literal["name_collision", "boundaries_differ"]

_BUCKET_LABEL: Final = frozenset({"le"})


class LeftOut(msgspec.Struct, frozen=True):
    """Points of one metric that are not on the page, and why.

    Args:
        metric: The OpenTelemetry name.
        reason: `name_collision`: another metric that came first has one of its Prometheus names;
            `boundaries_differ`: another producer's histogram under the same labels has other
            buckets, so the two do not add.
        points: How many data points.
    """

    metric: str
    reason: LeftOutReason
    points: int


class FamilySeries:
    """The series of one family, each under the text of its labels (sorted, escaped, no braces)."""

    __slots__ = (
        "boundaries",
        "description",
        "family",
        "histograms",
        "identity",
        "is_sum",
        "metric",
        "numbers",
    )

    def __init__(self, family: Family, declaration: Declaration) -> None:
        self.family = family
        self.identity = identity_of(declaration)
        self.metric = declaration.name
        self.description = declaration.description
        self.is_sum = instant_kind(declaration.kind) != "gauge"
        self.numbers: dict[str, NumberPoint] = {}
        self.histograms: dict[str, HistogramPoint] = {}
        self.boundaries: dict[str, tuple[float, ...]] = {}

    def add_number(self, labels: str, point: NumberPoint) -> None:
        """Add to a sum; of a gauge keep the newer value."""
        known = self.numbers.get(labels)
        if known is not None:
            if self.is_sum:
                point = _added(known, point)
            elif point.time_unix_nano < known.time_unix_nano:
                return
        self.numbers[labels] = point

    def try_add_histogram(
        self, labels: str, point: HistogramPoint, boundaries: tuple[float, ...]
    ) -> bool:
        """Add to a histogram; False when its boundaries differ from those already there."""
        known = self.histograms.get(labels)
        if known is not None:
            if self.boundaries[labels] != boundaries:
                return False
            point = _merged(known, point)
        self.histograms[labels] = point
        self.boundaries[labels] = boundaries
        return True


class Families:
    """All families of a snapshot, with each exposition name owned by at most one of them.

    Args:
        resource_labels: Keys of the resource attributes that become labels of every series.

    Attributes:
        by_name: The families by OpenMetrics name.
        targets: Label text of each producer's resource attributes, once, in order.
    """

    def __init__(self, resource_labels: Sequence[str]) -> None:
        self.by_name: dict[str, FamilySeries] = {}
        self.targets: dict[str, None] = {}
        self._resource_labels = resource_labels
        self._owners: dict[str, FamilySeries | None] = dict.fromkeys(RESERVED_NAMES)
        self._left_out: dict[tuple[str, LeftOutReason], int] = {}

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Points that belong to no series here, so far."""
        return tuple(LeftOut(*key, points) for key, points in self._left_out.items())

    def add(self, resource: Attributes, metrics: Iterable[MetricData]) -> None:
        """Take in what one producer reports."""
        target = _label_text(_labels(resource))
        if target:
            self.targets[target] = None
        chosen = {key: resource[key] for key in self._resource_labels if key in resource}
        identity = _present(_labels(chosen, reserved=_BUCKET_LABEL))
        for metric in metrics:
            self._add_metric(metric, identity)

    def _add_metric(self, metric: MetricData, identity: dict[str, str]) -> None:
        group = self._group(metric.declaration)
        if group is None:
            self._leave_out(metric.declaration, "name_collision", len(metric.points))
            return
        without_attributes = _label_text(identity)
        reserved: Container[str] = identity
        if group.family.type == "histogram":
            reserved = identity.keys() | _BUCKET_LABEL
        for point in metric.points:
            labels = without_attributes
            if point.attributes:
                labels = _label_text(_labels(point.attributes, reserved) | identity)
            if isinstance(point, NumberPoint):
                group.add_number(labels, point)
            elif not group.try_add_histogram(labels, point, metric.declaration.boundaries):
                self._leave_out(metric.declaration, "boundaries_differ", 1)

    def _group(self, declaration: Declaration) -> FamilySeries | None:
        """Return the group that takes this metric, or None when another owns one of its names."""
        family = family_of(declaration)
        group = self.by_name.get(family.name)
        if group is None:
            if any(name in self._owners for name in family.names):
                return None
            group = self.by_name[family.name] = FamilySeries(family, declaration)
            self._owners.update(dict.fromkeys(family.names, group))
        if group.identity != identity_of(declaration):
            return None
        group.description = group.description or declaration.description
        return group

    def _leave_out(self, declaration: Declaration, reason: LeftOutReason, points: int) -> None:
        key = (declaration.name, reason)
        self._left_out[key] = self._left_out.get(key, 0) + points


def _added(known: NumberPoint, point: NumberPoint) -> NumberPoint:
    return NumberPoint(
        attributes=point.attributes,
        start_time_unix_nano=min(known.start_time_unix_nano, point.start_time_unix_nano),
        time_unix_nano=max(known.time_unix_nano, point.time_unix_nano),
        value=known.value + point.value,
    )


def _merged(known: HistogramPoint, point: HistogramPoint) -> HistogramPoint:
    return HistogramPoint(
        attributes=point.attributes,
        start_time_unix_nano=min(known.start_time_unix_nano, point.start_time_unix_nano),
        time_unix_nano=max(known.time_unix_nano, point.time_unix_nano),
        count=known.count + point.count,
        sum=known.sum + point.sum,
        min=min(known.min, point.min),
        max=max(known.max, point.max),
        bucket_counts=tuple(map(add, known.bucket_counts, point.bucket_counts)),
    )


def number_text(value: float) -> str:
    """Return a sample value; integers keep their digits, infinities are spelt `+Inf`, `-Inf`."""
    if isinstance(value, int):
        return str(int(value))
    if math.isfinite(value):
        return repr(float(value))
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _labels(attributes: Attributes, reserved: Container[str] = frozenset()) -> dict[str, str]:
    """Return escaped label values by name; keys that share a name are joined by `;`."""
    labels: dict[str, str] = {}
    for key in sorted(attributes):
        name = label_name(key)
        while name in reserved:
            name = f"exported_{name}"
        text = _escaped(_value_text(attributes[key]))
        labels[name] = f"{labels[name]};{text}" if name in labels else text
    return labels


def _present(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in labels.items() if value}


def _label_text(labels: Mapping[str, str]) -> str:
    return ",".join([f'{name}="{labels[name]}"' for name in sorted(labels) if labels[name]])


def _value_text(value: AttributeValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_text(value)
    return msgspec.json.encode(value).decode()


def _escaped(text: str) -> str:
    if "\\" in text or '"' in text or "\n" in text:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text
