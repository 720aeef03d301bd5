# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The core: admission, registry, deliveries and the pages' source, composed. A plain class.

Everything here runs on one event loop, and nothing here knows Ray. The order of shutdown is in
`drain`.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from nemo_telemetry_actor.actor.about import resource_of_itself
from nemo_telemetry_actor.actor.account import (
    client_row,
    durability_row,
    exporter_row,
    ingest_row,
    process_rows,
    run_row,
)
from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.actor.hosts import HostReporter, HostSources
from nemo_telemetry_actor.actor.reopen import Reopening
from nemo_telemetry_actor.actor.source import CommittedSource
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.errors import ActorUnavailableError, WireError
from nemo_telemetry_actor.export.delivery import Delivery
from nemo_telemetry_actor.export.exporter import PushExporter
from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.model.points import ResourceData, Snapshot
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.registry.collect import snapshot_of_now
from nemo_telemetry_actor.registry.pointlog import PointLog
from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.state.rows import Loaded
from nemo_telemetry_actor.wire.messages import (
    WIRE_VERSION,
    Ack,
    Batch,
    Hello,
    PlacementSet,
    Welcome,
    decode,
    encode,
)

_SHUTDOWN_S: Final = 1.0  # releasing sockets and files takes no time, or it never ends


class TelemetryCore:
    """All the rules of the actor, without Ray. Owned by one event loop.

    Args:
        config: The configuration in force.
        exporters: Push exporters, each with a delivery of its own.
        time_ns: Wall clock, Unix nanoseconds.
        monotonic: Clock in seconds.
        incarnation: Identity of this life of the core.
        fresh_run_id: Makes a run id when nothing names one.
        hosts: What host memory is made of; None leaves it out.
        durability: The state file to go on from and to write; None keeps everything in memory.
    """

    def __init__(  # noqa: PLR0913 — what the shell hands in, so that nothing here knows Ray
        self,
        config: TelemetryConfig,
        exporters: Sequence[PushExporter],
        *,
        time_ns: Callable[[], int],
        monotonic: Callable[[], float],
        incarnation: str,
        fresh_run_id: Callable[[], str],
        hosts: HostSources | None = None,
        durability: Durability | None = None,
    ) -> None:
        self.config = config
        self.incarnation = incarnation
        self.problems: list[str] = []
        self.http_url: str | None = None
        self.run_ended = asyncio.Event()
        self._time_ns = time_ns
        self._monotonic = monotonic
        self._started_unix_nano = time_ns()
        self._undecodable = 0
        self._registry = Registry(lease_s=config.limits.lease_s, fresh_run_id=fresh_run_id)
        self._admission = Admission(
            self._registry,
            series_per_metric=config.limits.series_per_metric,
            series=config.limits.series,
            keep_points=bool(exporters),
        )
        self._placements = PlacementMap()
        self.host_reporter: HostReporter | None = None
        if hosts is not None:
            self.host_reporter = HostReporter(
                self._registry, self._placements, hosts, keep_points=bool(exporters)
            )
        self._durability = durability or Durability(
            None, monotonic=monotonic, time_unix_nano=self._started_unix_nano
        )
        loaded = self._durability.loaded
        self._log = PointLog(
            config.limits.backlog_points, loaded.first_position, config.limits.backlog_bytes
        )
        self._reopen(loaded)
        self._source = CommittedSource(self._registry, self._log, time_ns, loaded.time_unix_nano)
        self.deliveries = [
            Delivery(
                exporter,
                self._source,
                max_points=exporter.max_points,
                time_ns=time_ns,
                monotonic=monotonic,
                position=loaded.cursors.get(exporter.name),
                note_position=self._durability.write_cursor,
            )
            for exporter in exporters
        ]
        for each in self.deliveries:
            # Before its first success already: what waits for it must outlive a kill.
            if each.exporter.name not in loaded.cursors:
                self._durability.write_cursor(each.exporter.name, each.position)
        self._is_ending = False

    # ---- what clients call

    def welcome(self, hello: bytes) -> bytes:
        """Let a client in and tell it how to behave.

        Raises:
            WireError: The greeting cannot be read.
            ActorUnavailableError: The actor is about to end.
        """
        if self._is_ending:
            raise ActorUnavailableError("the telemetry actor delivers its last values and ends")
        greeting = decode(hello, Hello)
        before = self._registry.producers.get(greeting.client_id)
        producer = self._registry.join(greeting, self._time_ns(), self._monotonic())
        if before is not None and before.run is not producer.run:
            self._placements.drop_client(greeting.client_id)
        if self.host_reporter is not None and producer.run.own is None:
            self.host_reporter.report_known(producer.run)
        client, limits = self.config.client, self.config.limits
        return encode(
            Welcome(
                WIRE_VERSION,
                producer.run.run_id,
                self.incarnation,
                client.flush_interval_s,
                client.observe_interval_s,
                client.buffer_points,
                limits.series_per_metric,
                limits.lease_s,
            )
        )

    def ingest(self, payload: bytes) -> bytes:
        """Apply a batch and return its answer, which may be given after the next `commit` only."""
        interval_s = self.config.client.flush_interval_s
        try:
            batch = decode(payload, Batch)
        except WireError as error:
            self._undecodable += 1
            return encode(Ack("refused", interval_s, str(error)))
        producer = self._registry.known(batch.client_id)
        # What would not be exported any more is not taken: it waits for the next actor.
        is_late = self._is_ending and bool(batch.metrics or batch.observed)
        if producer is None or is_late:
            return encode(Ack("unknown_client", interval_s))
        now_unix_nano, now_s = self._time_ns(), self._monotonic()
        self._registry.renew(producer, now_unix_nano, now_s)
        self._admission.apply(producer, batch, now_unix_nano)
        # A batch may be overtaken by the goodbye of its client.
        if batch.placements is not None and not producer.is_closed:
            self._placements.replace(producer.run.run_id, producer.client_id, batch.placements)
        if batch.closing:
            producer.is_closed = True
            self._placements.drop_client(producer.client_id)
        # Another driver may have taken the run over meanwhile; it goes on with that one.
        if batch.closing == "run" and producer.run.driver_id == producer.client_id:
            self._registry.end_run(producer.run, now_unix_nano, now_s)
            self.run_ended.set()
        return encode(Ack("ok", interval_s))

    def commit(self) -> None:
        """Store what was applied and let readers see it: from here on it may be acknowledged."""
        if self._registry.has_uncommitted:
            applied = self._registry.take()
            self._durability.write(applied, self._log.head, self._delivered())
            self._log.append(self._registry.publish(applied))

    # ---- what time brings

    def tick(self) -> None:
        """End leases and runs that are over, and let go of what everybody has read."""
        now_unix_nano, now_s = self._time_ns(), self._monotonic()
        if self._registry.expire(now_unix_nano, now_s):
            self.run_ended.set()
        for client_id in self._placements.clients():
            if self._registry.known(client_id) is None:
                self._placements.drop_client(client_id)
        self.commit()
        exported = min(
            (each.delivered_revision for each in self.deliveries), default=self._registry.revision
        )
        for run_id in self._registry.forget_finished(now_s, exported):
            self._placements.drop_run(run_id)
        self._log.forget_below(self._delivered())
        self._log.forget_older(now_unix_nano - int(self.config.limits.backlog_age_s * 1e9))
        cursors = {each.exporter.name: each.position for each in self.deliveries}
        self._durability.tick(self._registry, self._log, cursors)

    async def drain(self, timeout_s: float) -> dict[str, Any]:
        """Bring the last values to every exporter and release them; all within the time.

        In this order: take nothing more, commit, deliver (all exporters at once), shut the
        exporters down. What clients send from then on stays theirs, for the next actor. An exporter
        that cannot be tried again within the time is given up at once.

        Returns:
            In builtins: `delivered`, whether everything was; `exporters`, the state of each with
            a `delivered` of its own; `clients`, how many still reported.
        """
        self._is_ending = True
        self.commit()
        until_s = self._monotonic() + timeout_s
        tasks = [asyncio.create_task(self._finish(each, until_s)) for each in self.deliveries]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=timeout_s)
            for task in late:
                task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        shutdowns = [asyncio.create_task(each.exporter.shutdown()) for each in self.deliveries]
        if shutdowns:
            _, late_shutdowns = await asyncio.wait(shutdowns, timeout=_SHUTDOWN_S)
            for shutdown in late_shutdowns:
                shutdown.cancel()
            await asyncio.gather(*shutdowns, return_exceptions=True)
        exporters = [
            {**msgspec.to_builtins(each.state()), "delivered": result is True}
            for each, result in zip(self.deliveries, results, strict=True)
        ]
        await self._durability.close(remove=all(each["delivered"] for each in exporters))
        return {
            "delivered": all(each["delivered"] for each in exporters),
            "exporters": exporters,
            "clients": sum(
                each.has_lease and not each.is_closed for each in self._registry.producers.values()
            ),
        }

    def _delivered(self) -> int:
        """Return the position below which every push exporter has delivered."""
        read_by_all = min((each.position for each in self.deliveries), default=self._log.head)
        return max(read_by_all, self._log.tail)

    def _reopen(self, loaded: Loaded) -> None:
        self._durability.use(self._placements_of)
        now_unix_nano, now_s = self._time_ns(), self._monotonic()
        reopening = Reopening(loaded, self._registry, self._placements, self._log)
        reopening.run(now_unix_nano, now_s)

    def _placements_of(self, producer: Producer) -> PlacementSet | None:
        return self._placements.vouched_by(producer.run.run_id, producer.client_id)

    async def _finish(self, delivery: Delivery, until_s: float) -> bool:
        is_delivered = await delivery.run_once(hurry=True)
        while not is_delivered and self._monotonic() + delivery.retry_in_s < until_s:
            await asyncio.sleep(delivery.retry_in_s)
            is_delivered = await delivery.run_once()
        return is_delivered

    # ---- what pages and commands read

    def report_itself(self) -> None:
        """Add what the service measures of itself to what is exported and shown."""
        self._source.about_itself = self._about_itself

    def _about_itself(self, time_unix_nano: int) -> ResourceData:
        return resource_of_itself(self.state(), self.config.service_name, time_unix_nano)

    def pull_snapshot(self) -> Snapshot:
        """Return what holds now, for the pull endpoint."""
        now_unix_nano = self._time_ns()
        shown = snapshot_of_now(self._registry.shown_producers(self._monotonic()), now_unix_nano)
        if self._source.about_itself is None:
            return shown
        return Snapshot([*shown.resources, self._source.about_itself(now_unix_nano)])

    def health(self) -> str | None:
        """Return why the actor cannot serve, or None."""
        return None

    def state(self) -> dict[str, Any]:
        """Return the whole state in builtins, without any secret."""
        return {
            **process_rows(),
            "incarnation": self.incarnation,
            "started_unix_nano": self._started_unix_nano,
            "time_unix_nano": self._time_ns(),
            "http_url": self.http_url,
            "problems": [*self.problems, *self._durability.problems],
            "runs": [run_row(run) for run in self._registry.runs.values()],
            "clients": [client_row(each) for each in self._registry.producers.values()],
            "ingest": ingest_row(self._admission, self._registry, self._undecodable),
            "exporters": [exporter_row(each) for each in self.deliveries],
            "durability": durability_row(self._durability),
            "hosts": None if self.host_reporter is None else self.host_reporter.state(),
        }

    def hosts(self) -> list[dict[str, Any]]:
        """Return every host of the cluster as it is known now; empty while that is off."""
        reporter = self.host_reporter
        return [] if reporter is None else reporter.hosts(self._time_ns())

    def series(
        self, run_id: str | None = None, names: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the newest committed value of every series: of one run or all, and by name."""
        rows: list[dict[str, Any]] = []
        for resource in self.pull_snapshot().resources:
            if run_id is not None and resource.attributes.get("nemo.run.id") != run_id:
                continue
            for metric in resource.metrics:
                if names is not None and metric.declaration.name not in names:
                    continue
                rows.extend(
                    {
                        "name": metric.declaration.name,
                        "kind": metric.declaration.kind,
                        "unit": metric.declaration.unit,
                        "run_id": resource.attributes.get("nemo.run.id"),
                        "worker_group": resource.attributes.get("rl.worker_group"),
                        "rank": resource.attributes.get("nv.dl.rank"),
                        **msgspec.to_builtins(point),
                    }
                    for point in metric.points
                )
        return rows
