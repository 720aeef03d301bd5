# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshot → OTLP message, by way of the SDK's public data classes and its own encoder."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from nemo_telemetry_actor.errors import ExportError
from nemo_telemetry_actor.model.attributes import clean_text, encode_attributes
from nemo_telemetry_actor.model.instrument import Declaration, Scope
from nemo_telemetry_actor.model.points import (
    Attributes,
    HistogramPoint,
    MetricData,
    NumberPoint,
    ResourceData,
    Snapshot,
)

_ByDeclaration: TypeAlias = dict[Declaration, list[NumberPoint | HistogramPoint]]

_CUMULATIVE = AggregationTemporality.CUMULATIVE
_MAX_ERROR_CHARS = 300


def to_request(snapshot: Snapshot) -> ExportMetricsServiceRequest:
    """Return the OTLP message of a snapshot; the same for every protocol.

    Resources with equal attributes become one, and so do metrics with equal declarations: the
    encoder keys resources by equality and would keep the last of two alone.

    Raises:
        ExportError: A value has no OTLP form.
    """
    try:
        return encode_metrics(MetricsData(resource_metrics=_resources(snapshot.resources)))
    except Exception as error:
        # The encoder's own error prints the whole metric with all its points.
        text = repr(getattr(error, "original_exception", error))[:_MAX_ERROR_CHARS]
        raise ExportError(f"the snapshot has no OTLP form: {text}") from error


def _resources(resources: Iterable[ResourceData]) -> list[ResourceMetrics]:
    merged: dict[bytes, tuple[Attributes, _ByDeclaration]] = {}
    for resource in resources:
        key = encode_attributes(resource.attributes)
        _, by_declaration = merged.setdefault(key, (resource.attributes, {}))
        _merge(by_declaration, resource.metrics)
    return [
        ResourceMetrics(
            resource=Resource(cast("Any", attributes)),
            scope_metrics=_scopes(by_declaration),
            schema_url="",
        )
        for attributes, by_declaration in merged.values()
    ]


def _merge(by_declaration: _ByDeclaration, metrics: Iterable[MetricData]) -> None:
    for metric in metrics:
        if metric.points:
            by_declaration.setdefault(metric.declaration, []).extend(metric.points)


def _scopes(by_declaration: _ByDeclaration) -> list[ScopeMetrics]:
    by_scope: dict[Scope, list[Metric]] = {}
    for declaration, points in by_declaration.items():
        by_scope.setdefault(declaration.scope, []).append(_metric(declaration, points))
    return [
        ScopeMetrics(
            scope=InstrumentationScope(
                clean_text(scope.name), clean_text(scope.version), clean_text(scope.schema_url)
            ),
            metrics=metrics,
            schema_url=clean_text(scope.schema_url),
        )
        for scope, metrics in by_scope.items()
    ]


def _metric(declaration: Declaration, points: Sequence[NumberPoint | HistogramPoint]) -> Metric:
    return Metric(
        name=declaration.name,
        description=clean_text(declaration.description),
        unit=declaration.unit,
        data=_data(declaration, points),
    )


def _data(declaration: Declaration, points: Sequence[Any]) -> Gauge | Histogram | Sum:
    match declaration.kind:
        case "gauge" | "observable_gauge":
            return Gauge(data_points=[_number(point) for point in points])
        case "counter" | "observable_counter":
            return Sum([_number(point) for point in points], _CUMULATIVE, is_monotonic=True)
        case "up_down_counter" | "observable_up_down_counter":
            return Sum([_number(point) for point in points], _CUMULATIVE, is_monotonic=False)
        case "histogram":
            bounds = declaration.boundaries
            return Histogram([_histogram(point, bounds) for point in points], _CUMULATIVE)


def _number(point: NumberPoint) -> NumberDataPoint:
    return NumberDataPoint(
        attributes=point.attributes,
        start_time_unix_nano=point.start_time_unix_nano,
        time_unix_nano=point.time_unix_nano,
        # One type for all points of a metric, and no integer that 64 bits cannot hold.
        value=float(point.value),
    )


def _histogram(point: HistogramPoint, boundaries: tuple[float, ...]) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=point.attributes,
        start_time_unix_nano=point.start_time_unix_nano,
        time_unix_nano=point.time_unix_nano,
        count=point.count,
        sum=point.sum,
        bucket_counts=point.bucket_counts,
        explicit_bounds=boundaries,
        min=_extreme(point, point.min),
        max=_extreme(point, point.max),
    )


def _extreme(point: HistogramPoint, value: float) -> Any:
    """Return the value, or `None` (absent in OTLP) where no measurement stands behind it."""
    return value if point.count and math.isfinite(value) else None
