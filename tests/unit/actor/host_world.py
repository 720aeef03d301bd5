# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A core with hosts: Ray, the pages and the placement groups are what a test says they are."""

from collections import Counter
from collections.abc import Awaitable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.hosts import HostReporter, HostSources
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.placement.table import Answer
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.scraper import Fetcher, HostScraper, ScrapeSettings
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from nemo_telemetry_actor.wire.messages import Ack, PlacementSet, Registration, encode
from tests.batches import batch
from tests.clients import Client
from tests.clocks import run_at_once
from tests.unit.scrape.builders import page, row

INTERVAL_S = 10.0
USED, TOTAL, COMPONENT = "rl.host.memory.used", "rl.host.memory.total", "rl.host.memory.component"

_T = TypeVar("_T")


class Voucher(Client):
    """A process that also vouches for worker groups."""

    placed = 0

    def vouch(self, *registrations: Registration) -> Ack:
        self.placed += 1
        return self.resend(self.vouching(self.placed, *registrations))

    def vouching(self, placed: int, *registrations: Registration) -> bytes:
        """The next batch, with a set of this sequence in it."""
        message = batch(self.sequence, client_id=self.client_id)
        self.sequence += 1
        placements = PlacementSet(placed, list(registrations))
        return encode(msgspec.structs.replace(message, placements=placements))


class FakeCluster:
    ray_version = "2.60.0"

    def __init__(self, *rows: Mapping[str, Any]) -> None:
        self.rows: Sequence[Mapping[str, Any]] = rows

    async def list_nodes(self) -> Sequence[Mapping[str, Any]]:
        return self.rows

    async def dashboard_url(self) -> str | None:
        return None

    async def auth_headers(self) -> Mapping[str, str]:
        return {}


class FakeFetcher:
    """Pages by address."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | FetchFailure] = {}

    async def page(self, url: str) -> bytes | FetchFailure:
        down = FetchFailure("refused", "down")
        return self.pages.get(url.removeprefix("http://").partition(":")[0], down)

    async def get(self, url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
        raise AssertionError(f"nobody has a dashboard here, but {url} was asked")


class World:
    """Hosts `alpha` (node n1) and `beta` (node n2) that hold 3 and 5 of 8 bytes.

    Args:
        components: Whether to read what the processes hold.
        fetcher: Reads pages instead of the fake.
    """

    def __init__(self, *, components: bool = False, fetcher: Fetcher | None = None) -> None:
        self.clock = FakeClock()
        self.exporter = InMemoryExporter()
        self.cluster = FakeCluster(node("n1", "alpha"), node("n2", "beta"))
        self.fetcher = FakeFetcher()
        self.fetcher.pages = {"alpha": page(3.0, 8.0), "beta": page(5.0, 8.0)}
        self.answers: dict[str, Answer] = {}
        self.asked: list[frozenset[str]] = []
        self.sources = self._sources_of(components, fetcher or self.fetcher)
        self.core = TelemetryCore(
            msgspec.convert({"hosts": {"interval_s": INTERVAL_S}}, TelemetryConfig),
            [self.exporter],
            time_ns=self.clock.time_ns,
            monotonic=self.clock.monotonic,
            incarnation="i" * 32,
            fresh_run_id=lambda: "fresh",
            hosts=self.sources,
        )

    def _sources_of(self, components: bool, fetcher: Fetcher) -> HostSources:
        scraper = HostScraper(
            self.cluster,
            fetcher,
            ScrapeSettings(interval_s=INTERVAL_S, components=components),
            now=self.clock.time_ns,
            monotonic=self.clock.monotonic,
        )
        return HostSources(scraper, self._resolve)

    async def _resolve(self, group_ids: Collection[str]) -> Mapping[str, Answer]:
        self.asked.append(frozenset(group_ids))
        return {key: self.answers[key] for key in group_ids if key in self.answers}

    @property
    def reporter(self) -> HostReporter:
        assert self.core.host_reporter is not None
        return self.core.host_reporter

    def client(self, client_id: str = "a" * 32, run_id: str = "r", **greeting: Any) -> Voucher:
        return Voucher(self.core, client_id, run_id=run_id, **greeting)

    def sweep(self) -> None:
        """Sweep, commit and export once; then an interval goes by."""
        self.wait_for(self.reporter.sweep())
        self.core.commit()
        for delivery in self.core.deliveries:
            self.wait_for(delivery.run_once())
        self.clock.advance(INTERVAL_S)

    def wait_for(self, what: Awaitable[_T]) -> _T:
        async def main() -> _T:
            return await what

        return run_at_once(self.clock, main())

    # ---- what is seen

    def pulled(self, name: str = USED, run_id: str = "r") -> list[tuple[str, str, float]]:
        """Host, label (or component) and value of every point that the pull endpoint shows."""
        return sorted(
            (row["attributes"]["host.name"], _label(row["attributes"]), row["value"])
            for row in self.core.series(run_id, [name])
        )

    def labels(self, run_id: str = "r") -> dict[str, str]:
        """Label by host, after making sure that both series have one point a host."""
        used, total = self.pulled(USED, run_id), self.pulled(TOTAL, run_id)
        assert [each[:2] for each in used] == [each[:2] for each in total]
        labels = {host: label for host, label, _ in used}
        assert len(labels) == len(used)
        return labels

    def delivered(self, name: str = USED) -> list[tuple[str, str, int]]:
        """Host, label and time of every point that the exporter got, in order."""
        return [
            (str(point.attributes["host.name"]), _label(point.attributes), point.time_unix_nano)
            for point in self.exporter.points(name)
            if isinstance(point, NumberPoint)
        ]

    def most_delivered_at_once(self) -> int:
        """How often the busiest host and time was delivered."""
        return max(Counter((host, time) for host, _, time in self.delivered()).values(), default=0)


def node(node_id: str, host: str, port: int = 8080, **changes: Any) -> Mapping[str, Any]:
    return row(
        node_id,
        NodeManagerAddress=host,
        NodeManagerHostname=host,
        MetricsExportPort=port,
        **changes,
    )


def on_nodes(prefix: str, *node_ids: str) -> Registration:
    return Registration(prefix, node_ids=list(node_ids))


def on_bundles(prefix: str, *bundles: tuple[str, int]) -> Registration:
    return Registration(prefix, bundles=list(bundles))


def _label(attributes: Mapping[str, Any]) -> str:
    return str(attributes.get("rl.worker_groups", attributes.get("rl.memory.component", "")))
