# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Cutting a snapshot into messages of a bounded number of points."""

from collections.abc import Iterator

from nemo_telemetry_actor.model.points import MetricData, ResourceData, Snapshot


def split(snapshot: Snapshot, max_points: int) -> Iterator[Snapshot]:
    """Yield snapshots of at most `max_points` (one or more) points that hold the same points.

    Nothing is yielded for a snapshot without points.
    """
    resources: list[ResourceData] = []
    room = max_points
    for resource in snapshot.resources:
        metrics: list[MetricData] = []
        for metric in resource.metrics:
            at = 0
            while at < len(metric.points):
                part = min(room, len(metric.points) - at)
                metrics.append(MetricData(metric.declaration, metric.points[at : at + part]))
                at += part
                room -= part
                if room == 0:
                    resources.append(ResourceData(resource.attributes, metrics))
                    yield Snapshot(resources)
                    resources, metrics, room = [], [], max_points
        if metrics:
            resources.append(ResourceData(resource.attributes, metrics))
    if resources:
        yield Snapshot(resources)
