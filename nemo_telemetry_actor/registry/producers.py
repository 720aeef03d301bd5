# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Who reports: runs, the processes in them, and the metrics of each."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nemo_telemetry_actor.model.attributes import (
    AttributeValue,
    BadAttributeError,
    decode_attributes,
    encode_attributes,
)
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.naming import ExpositionNames
from nemo_telemetry_actor.model.points import Attributes, NumberPoint
from nemo_telemetry_actor.registry.series import GaugeSeries, HistogramSeries, Series, SumSeries
from nemo_telemetry_actor.registry.window import SequenceWindow

_log = logging.getLogger("nemo_telemetry_actor")

RUN_ID: Final = "nemo.run.id"
INSTANCE_ID: Final = "service.instance.id"


class Run:
    """One training run, from its first client to the end of its last lease.

    Args:
        run_id: Value of `nemo.run.id`.
        opened_unix_nano: When the first client came.
    """

    def __init__(self, run_id: str, opened_unix_nano: int) -> None:
        self.run_id = run_id
        self.opened_unix_nano = opened_unix_nano
        self.attributes: Mapping[str, AttributeValue] = {}
        self.version = 0
        self.driver_id: str | None = None
        self.jobs: set[str] = set()
        self.names = ExpositionNames()
        self.warned: set[str] = set()
        self.producers: dict[str, Producer] = {}
        self.own: Producer | None = None
        self.ended_unix_nano: int | None = None
        self.ended_s = 0.0
        self.last_revision = 0

    def describe(self, attributes: Mapping[str, Any]) -> None:
        """Set the resource attributes that all processes of the run share."""
        self.attributes = _usable(attributes, f"run {self.run_id}")
        self.version += 1

    def everyone(self) -> "Iterator[Producer]":
        """Yield every producer, the service itself with what it measures for the run included."""
        yield from self.producers.values()
        if self.own is not None:
            yield self.own

    @property
    def is_open(self) -> bool:
        """Whether the run goes on."""
        return self.ended_unix_nano is None

    def end(self, now_unix_nano: int, now_s: float) -> None:
        """Close the run; values that still arrive are taken, gauges end a lease later."""
        if self.is_open:
            self.ended_unix_nano = now_unix_nano
            self.ended_s = now_s

    def reopen(self) -> None:
        """Go on: its driver was only stalled."""
        self.ended_unix_nano = None


class ProducerMetric:
    """One metric of one process: its series, or the newest set of its observable.

    Args:
        producer: The process.
        encoded: The declaration's bytes, under which the producer knows the metric.
        declaration: The same, decoded and checked.
    """

    __slots__ = (
        "_applied_sequence",
        "_newest",
        "_totals",
        "declaration",
        "encoded",
        "observed",
        "producer",
        "row",
        "series",
    )

    def __init__(self, producer: "Producer", encoded: bytes, declaration: Declaration) -> None:
        self.producer = producer
        self.encoded = encoded
        self.declaration = declaration
        self.series: dict[bytes, Series] = {}
        self.observed: tuple[NumberPoint, ...] = ()
        self._totals: dict[bytes, tuple[int, float]] = {}
        self._newest: tuple[NumberPoint, ...] = ()
        self._applied_sequence = 0
        # Its place in the state file, 0 while it has none.
        self.row = 0

    @property
    def observed_count(self) -> int:
        """Points of the newest set, committed or not."""
        return len(self._newest)

    def is_newer(self, sequence: int) -> bool:
        """Whether a set of an observable is newer than the one that is there."""
        return sequence > self._applied_sequence

    def replace(self, sequence: int, points: tuple[NumberPoint, ...]) -> None:
        """Take a newer set of an observable whole."""
        self._applied_sequence = sequence
        self._newest = points

    def start_of(self, encoded: bytes, value: float, time_unix_nano: int, is_newest: bool) -> int:
        """Return the start time of an observed total: a new one when it is new or has fallen."""
        if self.declaration.kind == "observable_gauge":
            return 0
        start, last = self._totals.get(encoded, (time_unix_nano, value))
        has_fallen = self.declaration.kind == "observable_counter" and value < last and is_newest
        return time_unix_nano if has_fallen else min(start, time_unix_nano)

    def note_totals(
        self,
        observed: Sequence[tuple[bytes, Attributes, float]],
        points: Sequence[NumberPoint],
        *,
        bound: int,
    ) -> None:
        """Remember where observed totals stand, also of what is absent now: it may come back.

        Above the bound what is absent is forgotten.
        """
        if self.declaration.kind == "observable_gauge":
            return
        if len(self._totals) > bound:
            self._totals = {}
        for (encoded, _, value), point in zip(observed, points, strict=True):
            self._totals[encoded] = (point.start_time_unix_nano, value)

    def state(self) -> tuple[int, Sequence[NumberPoint], Mapping[bytes, tuple[int, float]]]:
        """Return the newest set's sequence, the set, and where observed totals stand."""
        return self._applied_sequence, self._newest, self._totals

    def restore(
        self,
        sequence: int,
        points: tuple[NumberPoint, ...],
        totals: Mapping[bytes, tuple[int, float]],
    ) -> None:
        """Take over what `state` returned in an earlier life of the actor."""
        self._applied_sequence = sequence
        self._newest = self.observed = points
        self._totals = dict(totals)

    def commit(self, revision: int) -> None:
        """Let readers see the newest set."""
        del revision  # a set is read whole, and every point of it is in the point log
        self.observed = self._newest

    def gauges(self) -> Iterator[NumberPoint]:
        """Yield what holds at this moment: committed gauge values and the newest observed set."""
        for series in self.series.values():
            if isinstance(series, GaugeSeries) and series.committed is not None:
                yield series.committed
        yield from self.observed

    def totals(self, since_revision: int) -> Iterator[SumSeries | HistogramSeries]:
        """Yield sums and histograms that were committed after a revision."""
        for series in self.series.values():
            if not isinstance(series, GaugeSeries) and series.revision > since_revision:
                yield series


class Producer:
    """One process of a run, as long as its client lives.

    Its gauges and observables hold while its lease does; its totals stay with the run.

    Args:
        run: The run it belongs to.
        client_id: The client's own id.
        attributes: Resource attributes of the process.
        first_sequence: The lowest batch sequence that may still arrive for the first time.
    """

    def __init__(
        self, run: Run, client_id: str, attributes: Mapping[str, Any], first_sequence: int
    ) -> None:
        self.run = run
        self.client_id = client_id
        self.attributes: Mapping[str, AttributeValue] = {}
        self.window = SequenceWindow(first_sequence)
        self.metrics: dict[bytes, ProducerMetric] = {}
        self.heard_s = 0.0
        self.heard_unix_nano = 0
        self.has_lease = True
        self.is_closed = False
        # Whether its client reports to another run by now.
        self.has_moved = False
        self.is_forgotten = False
        self.accepted = 0
        # Its place in the state file, 0 while it has none.
        self.row = 0
        self._resource: tuple[int, Attributes] | None = None
        self.describe(attributes)

    def describe(self, attributes: Mapping[str, Any]) -> None:
        """Set the resource attributes of the process."""
        self.attributes = _usable(attributes, f"client {self.client_id[:8]}")
        self._resource = None

    def resource(self) -> Attributes:
        """Return the resource attributes: the run's, under the process's, under the identity.

        Of one that was forgotten, whose points may still wait: as they were then.
        """
        if self.is_forgotten and self._resource is not None:
            return self._resource[1]
        if self._resource is None or self._resource[0] != self.run.version:
            merged = {**self.run.attributes, **self.attributes}
            merged[RUN_ID] = self.run.run_id
            merged[INSTANCE_ID] = self._instance_id()
            self._resource = (self.run.version, merged)
        return self._resource[1]

    @property
    def has_totals(self) -> bool:
        """Whether it has sums or histograms, which outlive the process."""
        return any(
            not isinstance(series, GaugeSeries)
            for metric in self.metrics.values()
            for series in metric.series.values()
        )

    @property
    def series_count(self) -> int:
        """Series of all its metrics."""
        return sum(len(metric.series) + metric.observed_count for metric in self.metrics.values())

    def _instance_id(self) -> str:
        # Unique to the process: a restarted worker is another producer, with counters of its own.
        group = self.attributes.get("rl.worker_group")
        rank = self.attributes.get("nv.dl.rank")
        parts = [self.run.run_id, group, None if rank is None else f"rank{rank}"]
        return "-".join([*(str(part) for part in parts if part), self.client_id[:8]])


def _usable(attributes: Mapping[str, Any], whose: str) -> dict[str, AttributeValue]:
    """Return what OpenTelemetry can carry; one bad attribute would make every message fail."""
    usable: dict[str, AttributeValue] = {}
    for key, value in attributes.items():
        try:
            usable.update(decode_attributes(encode_attributes({key: value})))
        except BadAttributeError as error:
            _log.warning("a resource attribute of %s is left out: %s", whose, error)
    return usable
