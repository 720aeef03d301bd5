# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""All that the actor knows of runs and their series, and what of it is committed.

Applying a batch changes what is *applied*; `commit` lets readers see it. Everything that leaves the
actor is read from the committed side, so that an acknowledgement and an export never disagree.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import Attributes, NumberPoint
from nemo_telemetry_actor.registry.pointlog import PointColumn
from nemo_telemetry_actor.registry.producers import Producer, ProducerMetric, Run
from nemo_telemetry_actor.registry.series import Series
from nemo_telemetry_actor.wire.messages import Hello, encode

ENDED_RUN_KEPT_S: Final = 3600.0
"""How long the totals of an ended run wait for a push exporter that is down."""

OWN_ID: Final = "telemetry"
"""Stands for a client id in the identity of what the service itself measures."""

LOST_CLIENT_KEPT_S: Final = 3600.0
"""How long a client without totals that fell silent is remembered, should it only be stalled."""


class Applied:
    """What has been applied and is not committed yet."""

    def __init__(self) -> None:
        self.items: dict[Series | ProducerMetric, ProducerMetric] = {}
        self.points: list[PointColumn] = []
        self.runs: dict[Run, None] = {}
        self.jobs: dict[str, str] = {}
        self.producers: dict[Producer, None] = {}
        self.forgotten_runs: list[str] = []
        self.forgotten_producers: list[Producer] = []

    @property
    def is_something(self) -> bool:
        """Whether there is anything here."""
        return any(
            (
                self.items,
                self.points,
                self.runs,
                self.jobs,
                self.producers,
                self.forgotten_runs,
                self.forgotten_producers,
            )
        )

    def forget(self, producer: Producer) -> None:
        """Drop what is known of a producer: what was not stored need not be."""
        self.producers.pop(producer, None)
        self.items = {
            item: metric for item, metric in self.items.items() if metric.producer is not producer
        }
        producer.resource()
        producer.is_forgotten = True
        self.forgotten_producers.append(producer)


class Registry:
    """Runs, producers and series. Owned by the actor's event loop; not safe for several threads.

    Args:
        lease_s: How long what a silent client vouched for still holds.
        fresh_run_id: Makes a run id when nothing names one.
    """

    def __init__(self, *, lease_s: float, fresh_run_id: Callable[[], str]) -> None:
        self._lease_s = lease_s
        self._fresh_run_id = fresh_run_id
        self.runs: dict[str, Run] = {}
        self.producers: dict[str, Producer] = {}
        self.series_count = 0
        self.revision = 0
        self._run_of_job: dict[str, str] = {}
        self._applied = Applied()

    # ---- membership

    def join(self, hello: Hello, now_unix_nano: int, now_s: float) -> Producer:
        """Let a client in, or back in; open its run when it is the first of it."""
        run = self._run_for(hello, now_unix_nano)
        if hello.opens_run:
            run.driver_id = hello.client_id
            run.describe(hello.run_attributes)
            run.reopen()
        if hello.job_id:
            if hello.opens_run or hello.job_id not in self._run_of_job:
                self._run_of_job[hello.job_id] = run.run_id
                self._applied.jobs[hello.job_id] = run.run_id
            run.jobs.add(hello.job_id)
        producer = self._producer_in(run, hello)
        self.renew(producer, now_unix_nano, now_s)
        if run.driver_id is None:
            run.reopen()
        self.touch(producer)
        self.touch_run(run)
        return producer

    def known(self, client_id: str) -> Producer | None:
        """Return the producer of a client whose lease holds, else None."""
        producer = self.producers.get(client_id)
        return producer if producer is not None and producer.has_lease else None

    def renew(self, producer: Producer, now_unix_nano: int, now_s: float) -> None:
        """Note that a client was heard."""
        producer.heard_unix_nano = now_unix_nano
        producer.heard_s = now_s
        producer.has_lease = True

    def expire(self, now_unix_nano: int, now_s: float) -> list[Run]:
        """End leases that have run out; return the runs that ended with them."""
        ended = []
        for producer in list(self.producers.values()):
            silent_s = now_s - producer.heard_s
            if silent_s <= self._lease_s:
                continue
            if producer.has_lease:
                producer.has_lease = False
                self.touch(producer)
            is_gone = producer.is_closed or silent_s > self._lease_s + LOST_CLIENT_KEPT_S
            if is_gone and not producer.has_totals:
                self._forget(producer)
        for run in self.runs.values():
            if run.is_open and not self._is_vouched_for(run):
                self.end_run(run, now_unix_nano, now_s)
                ended.append(run)
        return ended

    def forget_finished(self, now_s: float, exported_revision: int) -> list[str]:
        """Drop runs that ended a lease ago and whose totals every push exporter has sent.

        Returns:
            The ids of the runs that were dropped.
        """
        forgotten = []
        for run in list(self.runs.values()):
            ended_for_s = 0.0 if run.is_open else now_s - run.ended_s
            delivered = run.last_revision <= exported_revision
            if ended_for_s > (self._lease_s if delivered else ENDED_RUN_KEPT_S) and not any(
                producer.has_lease for producer in run.producers.values()
            ):
                for producer in list(run.producers.values()):
                    self._forget(producer)
                if run.own is not None:
                    self.series_count -= run.own.series_count
                    self._applied.forget(run.own)
                del self.runs[run.run_id]
                self._applied.runs.pop(run, None)
                self._applied.forgotten_runs.append(run.run_id)
                forgotten.append(run.run_id)
                for job in run.jobs:
                    if self._run_of_job.get(job) == run.run_id:
                        del self._run_of_job[job]
                        self._applied.jobs.pop(job, None)
        return forgotten

    def end_run(self, run: Run, now_unix_nano: int, now_s: float) -> None:
        """Close a run."""
        run.end(now_unix_nano, now_s)
        self.touch_run(run)

    def touch_run(self, run: Run) -> None:
        """Note that something of a run itself has changed."""
        self._applied.runs[run] = None

    def is_shown(self, run: Run, now_s: float) -> bool:
        """Whether the pull endpoint still shows a run: a scraper should see its last values."""
        return run.is_open or now_s - run.ended_s <= self._lease_s

    # ---- series

    def add_series(self, metric: ProducerMetric, encoded: bytes, series: Series) -> None:
        """Add a new series to a metric."""
        series.encoded = encoded
        metric.series[encoded] = series
        self.series_count += 1

    def replace_observed(
        self, metric: ProducerMetric, sequence: int, points: tuple[NumberPoint, ...]
    ) -> None:
        """Take a newer set of an observable whole."""
        self.series_count += len(points) - metric.observed_count
        metric.replace(sequence, points)
        self.changed(metric, metric)

    def own_metric(self, run: Run, declaration: Declaration) -> ProducerMetric | None:
        """Return a metric that the service itself measures for a run.

        None when a client of the run has declared another metric of that name.
        """
        if run.own is None:
            run.own = Producer(run, OWN_ID, {}, 0)
        encoded = encode(declaration)
        metric = run.own.metrics.get(encoded)
        if metric is None:
            try:
                run.names.claim(declaration)
            except ValueError:
                return None
            metric = run.own.metrics[encoded] = ProducerMetric(run.own, encoded, declaration)
        return metric

    def changed(self, item: Series | ProducerMetric, metric: ProducerMetric) -> None:
        """Note that something of a metric was applied, so that the next commit shows it."""
        self._applied.items[item] = metric
        self._applied.runs[metric.producer.run] = None

    def touch(self, producer: Producer) -> None:
        """Note that something of a process itself has changed."""
        self._applied.producers[producer] = None

    def add_points(
        self,
        metric: ProducerMetric,
        attributes: Attributes,
        times_unix_nano: list[int],
        values: list[float],
        start_time_unix_nano: int = 0,
        encoded: bytes = b"",
    ) -> None:
        """Add points that each push exporter is to deliver once."""
        self._applied.points.append(
            PointColumn(metric, attributes, start_time_unix_nano, times_unix_nano, values, encoded)
        )

    # ---- commit

    def take(self) -> Applied:
        """Return what was applied since the last call; it is to be published, or lost."""
        applied, self._applied = self._applied, Applied()
        return applied

    def publish(self, applied: Applied) -> Sequence[PointColumn]:
        """Let readers see what was applied; return the new points for the log."""
        self.revision += 1
        for item in applied.items:
            item.commit(self.revision)
        for run in applied.runs:
            run.last_revision = self.revision
        return applied.points

    def commit(self) -> Sequence[PointColumn]:
        """Let readers see everything applied so far; return the new points for the log."""
        return self.publish(self.take())

    @property
    def has_uncommitted(self) -> bool:
        """Whether a commit would show or store anything new."""
        return self._applied.is_something

    def shown_producers(self, now_s: float) -> Iterator[Producer]:
        """Yield the producers of every run that is shown."""
        for run in self.runs.values():
            if self.is_shown(run, now_s):
                yield from run.everyone()

    # ---- reopen

    @property
    def run_of_job(self) -> Mapping[str, str]:
        """The run that the processes of each Ray job join."""
        return self._run_of_job

    def adopt_run(self, run: Run) -> None:
        """Take over a run of an earlier life of the actor, whose totals may wait to be sent."""
        self.revision = 1
        self.runs[run.run_id] = run
        run.last_revision = self.revision

    def adopt_jobs(self, run_of_job: Mapping[str, str]) -> None:
        """Take over which run the processes of each Ray job join."""
        self._run_of_job.update(run_of_job)

    def adopt_producer(
        self, producer: Producer, now_unix_nano: int, now_s: float, *, is_own: bool
    ) -> None:
        """Take over a process of an earlier life of the actor; its lease begins anew."""
        run = producer.run
        if is_own:
            run.own = producer
            return
        run.producers[producer.client_id] = producer
        if not producer.has_moved:
            self.producers[producer.client_id] = producer
        self.renew(producer, now_unix_nano, now_s)

    # ---- inside

    def _run_for(self, hello: Hello, now_unix_nano: int) -> Run:
        run_id = (
            hello.run_id
            or self._open_run_of_job(hello)
            or hello.scheduler_id
            or self._fresh_run_id()
        )
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = Run(run_id, now_unix_nano)
        return run

    def _open_run_of_job(self, hello: Hello) -> str:
        run_id = self._run_of_job.get(hello.job_id, "")
        run = self.runs.get(run_id)
        # A driver that starts again after its run has ended opens another one.
        return "" if hello.opens_run and run is not None and not run.is_open else run_id

    def _producer_in(self, run: Run, hello: Hello) -> Producer:
        before = self.producers.get(hello.client_id)
        producer = run.producers.get(hello.client_id)
        if producer is None:
            producer = Producer(
                run, hello.client_id, hello.process_attributes, hello.first_sequence
            )
            run.producers[hello.client_id] = producer
        else:
            producer.describe(hello.process_attributes)
        if before is not None and before is not producer:
            # It moves here from another run. What was applied there stays there, and a batch that
            # it sends again, since it missed the answer, still counts once.
            producer.window = before.window
            before.has_lease = False
            before.is_closed = before.has_moved = True
            self.touch(before)
            if not before.has_totals:
                self._forget(before)
        producer.is_closed = producer.has_moved = False
        producer.window.forget_below(hello.first_sequence)
        self.producers[hello.client_id] = producer
        return producer

    @staticmethod
    def _is_vouched_for(run: Run) -> bool:
        if run.driver_id is not None:
            driver = run.producers.get(run.driver_id)
            return driver is not None and driver.has_lease
        return any(producer.has_lease for producer in run.producers.values())

    def _forget(self, producer: Producer) -> None:
        self.series_count -= producer.series_count
        self._applied.forget(producer)
        del producer.run.producers[producer.client_id]
        # A client that moved to another run lives on there.
        if self.producers.get(producer.client_id) is producer:
            del self.producers[producer.client_id]
