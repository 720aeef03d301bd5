# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Aggregated values, and the snapshot that one collection hands to an exporter."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from nemo_telemetry_actor.model.attributes import AttributeValue
from nemo_telemetry_actor.model.instrument import Declaration

Attributes: TypeAlias = Mapping[str, AttributeValue]


class NumberPoint(msgspec.Struct, frozen=True):
    """One value of a gauge (then `start_time_unix_nano` is 0) or one total of a sum."""

    attributes: Attributes
    start_time_unix_nano: int
    time_unix_nano: int
    value: float


class HistogramPoint(msgspec.Struct, frozen=True):
    """One cumulative histogram; `bucket_counts` has one entry more than its boundaries."""

    attributes: Attributes
    start_time_unix_nano: int
    time_unix_nano: int
    count: int
    sum: float
    min: float
    max: float
    bucket_counts: tuple[int, ...]


class MetricData(msgspec.Struct, frozen=True):
    """The points of one metric of one producer.

    A gauge may hold several points of one attribute set, each with its own time, in order of time.
    """

    declaration: Declaration
    points: Sequence[NumberPoint] | Sequence[HistogramPoint]


class ResourceData(msgspec.Struct, frozen=True):
    """Everything of one producer (a process of a run), under its resource attributes."""

    attributes: Attributes
    metrics: Sequence[MetricData]


class Snapshot(msgspec.Struct, frozen=True):
    """What one collection hands out; sums and histograms are cumulative."""

    resources: Sequence[ResourceData]

    @property
    def point_count(self) -> int:
        """Data points in all."""
        return sum(len(metric.points) for resource in self.resources for metric in resource.metrics)
