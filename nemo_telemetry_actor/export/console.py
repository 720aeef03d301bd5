# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One readable line a data point, for people who watch a run."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TextIO

from nemo_telemetry_actor.errors import ExportError, RetryableExportError
from nemo_telemetry_actor.export.exporter import DEFAULT_MAX_POINTS, ExportResult
from nemo_telemetry_actor.model.points import (
    Attributes,
    HistogramPoint,
    MetricData,
    NumberPoint,
    Snapshot,
)

_RUN_ID = "nemo.run.id"


class ConsoleExporter:
    """Writes one line a data point to a stream, on a thread: a full pipe must not hold the loop."""

    def __init__(self, stream: TextIO, *, name: str = "console") -> None:
        self._stream = stream
        self._name = name

    @property
    def name(self) -> str:
        """What people call it."""
        return self._name

    @property
    def max_points(self) -> int:
        """See `PushExporter`."""
        return DEFAULT_MAX_POINTS

    async def export(self, snapshot: Snapshot) -> ExportResult:
        """Write the lines of one snapshot and flush.

        Raises:
            RetryableExportError: The stream cannot be written now.
            ExportError: The stream is closed.
        """
        await asyncio.to_thread(self._write, snapshot)
        return ExportResult()

    async def shutdown(self) -> None:
        """Do nothing: the stream belongs to the caller."""

    def _write(self, snapshot: Snapshot) -> None:
        try:
            self._stream.writelines(f"{line}\n" for line in lines_of(snapshot))
            self._stream.flush()
        except OSError as error:
            raise RetryableExportError(f"{self._name}: {error}") from error
        except ValueError as error:
            raise ExportError(f"{self._name}: {error}") from error


def lines_of(snapshot: Snapshot) -> Iterator[str]:
    """Yield a line a point: time, run, name, attributes, value, unit; printable ASCII only."""
    for resource in snapshot.resources:
        run = _plain(str(resource.attributes.get(_RUN_ID, "-")))
        for metric in resource.metrics:
            for point in metric.points:
                yield f"{_time(point.time_unix_nano)} {run} {_point(metric, point)}"


def _point(metric: MetricData, point: NumberPoint | HistogramPoint) -> str:
    if isinstance(point, NumberPoint):
        value = f"{point.value:.15g}"
    elif point.count:
        mean = point.sum / point.count
        value = f"count={point.count} mean={mean:.6g} min={point.min:.6g} max={point.max:.6g}"
    else:
        value = "count=0"
    declaration = metric.declaration
    line = f"{_plain(declaration.name)}{_attributes(point.attributes)} {value}"
    return f"{line} {_plain(declaration.unit)}" if declaration.unit else line


def _attributes(attributes: Attributes) -> str:
    if not attributes:
        return ""
    pairs = (f"{_plain(key)}={json.dumps(value)}" for key, value in attributes.items())
    return "{" + ",".join(pairs) + "}"


def _plain(text: str) -> str:
    # What a terminal would act on is shown as an escape.
    return text if text.isascii() and text.isprintable() else json.dumps(text)[1:-1]


def _time(time_unix_nano: int) -> str:
    seconds, nano = divmod(time_unix_nano, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nano // 10**6:03d}Z"
