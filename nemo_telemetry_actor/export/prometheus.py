# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The Prometheus pull endpoint's page: a snapshot in text format 0.0.4 or OpenMetrics 1.0.

One family a metric across all producers and runs, each series exactly once. The page is written
here and not by `prometheus_client`: its metric families know one set of label names each and no
merging, and cost several times as much a sample. Its parsers check the page in the tests.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

import msgspec
from prometheus_client.utils import floatToGoString

from nemo_telemetry_actor.export.prometheus_families import (
    Families,
    FamilySeries,
    LeftOut,
    number_text,
)
from nemo_telemetry_actor.model.points import HistogramPoint, Snapshot

_TARGET_HELP: Final = "Resource attributes of a producer."
_NANOS: Final = 1_000_000_000


class Page(msgspec.Struct, frozen=True):
    """A rendered page, and what is missing on it."""

    body: bytes
    left_out: tuple[LeftOut, ...] = ()


def render(snapshot: Snapshot, resource_labels: Sequence[str], *, openmetrics: bool) -> Page:
    """Write a snapshot as one page.

    Points of several producers that have the same labels are one series: sums and histograms add,
    of a gauge the newest value stands. An attribute that would overwrite a resource label, or the
    bucket label `le`, gets the prefix `exported_`, as Prometheus does with its own target labels.
    A label with an empty value is left out, since Prometheus takes both for the same.

    Args:
        snapshot: Sums and histograms cumulative; must not change while this runs.
        resource_labels: Keys of the resource attributes that become labels of every series.
        openmetrics: OpenMetrics 1.0, else the text format 0.0.4.
    """
    families = Families(resource_labels)
    for resource in snapshot.resources:
        families.add(resource.attributes, resource.metrics)
    lines = _target_lines(families.targets, openmetrics)
    for _, series in sorted(families.by_name.items()):
        lines += _family_lines(series, openmetrics)
    if openmetrics:
        lines.append("# EOF")
    lines.append("")
    return Page("\n".join(lines).encode("utf-8", "replace"), families.left_out)


def _target_lines(targets: Iterable[str], openmetrics: bool) -> list[str]:
    samples = [f"target_info{{{labels}}} 1" for labels in targets]
    if not samples:
        return []
    name, family_type = ("target", "info") if openmetrics else ("target_info", "gauge")
    return [f"# HELP {name} {_TARGET_HELP}", f"# TYPE {name} {family_type}", *samples]


def _family_lines(series: FamilySeries, openmetrics: bool) -> list[str]:
    family = series.family
    name = family.name if openmetrics else family.exposed_name
    help_text = series.description.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# TYPE {name} {family.type}"]
    if openmetrics:
        help_text = help_text.replace('"', r"\"")
        if family.unit:
            lines.append(f"# UNIT {name} {family.unit}")
    lines.insert(0, f"# HELP {name} {help_text or f'OpenTelemetry metric {series.metric}.'}")
    if family.type == "histogram":
        for labels, histogram in series.histograms.items():
            bounds = _bound_texts(series.boundaries[labels])
            lines += _histogram_lines(family.name, labels, histogram, bounds, openmetrics)
            if openmetrics:
                lines += _created_lines(family.name, labels, histogram.start_time_unix_nano)
        return lines
    exposed = family.exposed_name
    for labels, number in series.numbers.items():
        lines.append(f"{exposed}{_braced(labels)} {number_text(number.value)}")
        if openmetrics and family.type == "counter":
            lines += _created_lines(family.name, labels, number.start_time_unix_nano)
    return lines


def _histogram_lines(
    name: str, labels: str, point: HistogramPoint, bounds: Sequence[str], openmetrics: bool
) -> list[str]:
    prefix = f"{name}_bucket{{{labels}," if labels else f"{name}_bucket{{"
    lines = [
        f'{prefix}le="{bound}"}} {count}'
        for bound, count in zip(bounds, accumulate(point.bucket_counts), strict=True)
    ]
    braced = _braced(labels)
    # With buckets below zero a sum can fall, so that it is no counter: both specifications leave
    # it out then, and OpenMetrics has no count without a sum (the bucket of +Inf says the same).
    sum_can_fall = bounds[0].startswith("-")
    if not (sum_can_fall and openmetrics):
        lines.append(f"{name}_count{braced} {point.count}")
    if not sum_can_fall:
        lines.append(f"{name}_sum{braced} {number_text(point.sum)}")
    return lines


def _created_lines(name: str, labels: str, start_time_unix_nano: int) -> list[str]:
    if not start_time_unix_nano:
        return []
    seconds, nanos = divmod(start_time_unix_nano, _NANOS)
    return [f"{name}_created{_braced(labels)} {seconds}.{nanos:09d}"]


def _braced(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


@lru_cache(maxsize=256)
def _bound_texts(boundaries: tuple[float, ...]) -> tuple[str, ...]:
    # The spelling that OpenMetrics calls canonical, so that both formats give one series.
    finite = (str(floatToGoString(bound)) for bound in boundaries)  # type: ignore[no-untyped-call]
    return (*finite, "+Inf")
