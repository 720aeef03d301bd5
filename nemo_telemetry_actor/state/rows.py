# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the state file holds, a Struct for each table's body.

Fields are stored by position, as on the wire: append new ones at the end, with a default. A change
that cannot keep this raises `SCHEMA_VERSION`.
"""

from typing import Any, Final

import msgspec

SCHEMA_VERSION: Final = 1


class RunBody(msgspec.Struct, frozen=True, array_like=True):
    """One run; the key is its id."""

    opened_unix_nano: int
    ended_unix_nano: int | None
    driver_id: str | None
    jobs: list[str]
    attributes: dict[str, Any]


class ProducerBody(msgspec.Struct, frozen=True, array_like=True):
    """One process of a run: what changes seldom.

    `placements` is the encoded `PlacementSet` that the client vouches for. A producer that
    `is_gone` was forgotten, and its run perhaps too; it is kept as long as points of it wait to be
    delivered, and `attributes` are then its whole resource, the run's included.
    """

    run_id: str
    client_id: str
    attributes: dict[str, Any]
    is_closed: bool
    has_lease: bool
    is_own: bool = False
    is_gone: bool = False
    has_moved: bool = False
    placements: bytes = b""


class WindowBody(msgspec.Struct, frozen=True, array_like=True):
    """Which batches of a producer were applied, and how many points they held."""

    next_sequence: int = 0
    above: list[int] = []
    accepted: int = 0


class MetricBody(msgspec.Struct, frozen=True, array_like=True):
    """One metric of a producer; of an observable also the newest set and where totals stand.

    `observed` has attributes, start time, time and value a point; `totals` attributes, start time
    and value.
    """

    producer: int
    declaration: bytes
    sequence: int = 0
    observed: list[tuple[bytes, int, int, float]] = []
    totals: list[tuple[bytes, int, float]] = []


class GaugeBody(msgspec.Struct, frozen=True, array_like=True, tag="g"):
    """The newest value of a gauge series."""

    time_unix_nano: int
    value: float


class SumBody(msgspec.Struct, frozen=True, array_like=True, tag="s"):
    """The total of a sum series since its start."""

    start_time_unix_nano: int
    total: float


class HistogramBody(msgspec.Struct, frozen=True, array_like=True, tag="h"):
    """The counts of a histogram series since its start."""

    start_time_unix_nano: int
    counts: list[int]
    count: int
    sum: float
    min: float
    max: float


SeriesBody = GaugeBody | SumBody | HistogramBody


class PointsBody(msgspec.Struct, frozen=True, array_like=True):
    """Points of one series that push exporters have not all delivered, in columns."""

    metric: int
    attributes: bytes
    start_time_unix_nano: int
    times_unix_nano: list[int]
    values: list[float]


class SeriesRow(msgspec.Struct, frozen=True):
    """One series and where it belongs."""

    metric: int
    attributes: bytes
    body: SeriesBody


class PointsRow(msgspec.Struct, frozen=True):
    """What one commit added to the point log, from a position on."""

    position: int
    count: int
    columns: list[PointsBody]


class Changes(msgspec.Struct):
    """Everything of one commit, by table; keys are the ids of the rows.

    What is forgotten goes with all that hangs on it. Cursors are positions by exporter. Points
    below `delivered` go.

    Args:
        jobs: The run that each Ray job's processes join.
        series: New ones.
        values: What became of those that have a row.
        gone_producers: Those whose series go, but whose points wait.
        head: The position after the newest point.
        time_unix_nano: The wall clock's; 0 when it is not to be noted.
        lives: Lives of the actor that have written here, this one included; 0 as above.
    """

    runs: dict[str, RunBody] = {}
    jobs: dict[str, str] = {}
    producers: dict[int, ProducerBody] = {}
    windows: dict[int, WindowBody] = {}
    metrics: dict[int, MetricBody] = {}
    series: dict[int, SeriesRow] = {}
    values: dict[int, SeriesBody] = {}
    points: list[PointsRow] = []
    cursors: dict[str, int] = {}
    forgotten_runs: list[str] = []
    forgotten_producers: list[int] = []
    gone_producers: list[int] = []
    forgotten_cursors: list[str] = []
    delivered: int = 0
    head: int = 0
    time_unix_nano: int = 0
    lives: int = 0


class Loaded(msgspec.Struct):
    """Everything that a state file holds."""

    runs: dict[str, RunBody] = {}
    jobs: dict[str, str] = {}
    producers: dict[int, ProducerBody] = {}
    windows: dict[int, WindowBody] = {}
    metrics: dict[int, MetricBody] = {}
    series: dict[int, SeriesRow] = {}
    points: list[PointsRow] = []
    cursors: dict[str, int] = {}
    head: int = 0
    time_unix_nano: int = 0
    lives: int = 0

    @property
    def first_position(self) -> int:
        """Position of the oldest point that is kept, or of the next one when none is."""
        return self.points[0].position if self.points else self.head
