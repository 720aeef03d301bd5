# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""One cycle of reading all hosts, composed: nodes → way → sweep → memory. No timer, no socket."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from nemo_telemetry_actor.scrape.dashboard import SummaryReader, summary_url
from nemo_telemetry_actor.scrape.failures import FailureKind, FetchFailure
from nemo_telemetry_actor.scrape.memory import HostMemory, HostSample, HostTurn, MemorySource
from nemo_telemetry_actor.scrape.nodes import HostTarget, hosts_of
from nemo_telemetry_actor.scrape.reading import HostReading, Sweep
from nemo_telemetry_actor.scrape.slow_call import SlowCall
from nemo_telemetry_actor.scrape.sweep import sweep
from nemo_telemetry_actor.scrape.way import Via, Way, choose, fallen_back

_log = logging.getLogger(__name__)

# With these there is no dashboard for us; with others there is one, and it has trouble.
_ABSENT: Final[frozenset[FailureKind]] = frozenset(
    {"bad_address", "refused", "unreachable", "unauthorized", "foreign"}
)
# A dashboard that is busy for a moment is no reason to take gauges from other readers.
_TROUBLES_BEFORE_FALL_BACK: Final = 3
_MANY: Final = 10


class ScrapeSettings(msgspec.Struct, frozen=True):
    """How to read the hosts.

    Args:
        interval_s: Seconds between two cycles; the caller's timer keeps it.
        timeout_s: Seconds for one request; a host with several raylets has twice that.
        source: See `HostMemory`.
        via: See `way.choose`.
        components: Whether to read what the processes hold.
        concurrency: Hosts that are read at one time, at most.
    """

    interval_s: float = 10.0
    timeout_s: float = 5.0
    source: MemorySource = "node"
    via: Via = "auto"
    components: bool = False
    concurrency: int = 128


class Cluster(Protocol):
    """What the scraper asks of Ray; `ray_nodes.RayCluster` is the real one."""

    @property
    def ray_version(self) -> str:
        """Ray's version."""
        ...

    async def list_nodes(self) -> Sequence[Mapping[str, Any]]:
        """Return the rows of `ray.nodes()`."""
        ...

    async def dashboard_url(self) -> str | None:
        """Return the dashboard's address, or None when there is none."""
        ...

    async def auth_headers(self) -> Mapping[str, str]:
        """Return the headers that the dashboard wants."""
        ...


class Fetcher(Protocol):
    """What the scraper asks of HTTP; `fetch.PageFetcher` is the real one."""

    async def page(self, url: str) -> bytes | FetchFailure:
        """Fetch a page of metrics."""
        ...

    async def get(self, url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
        """Fetch any body."""
        ...


class HostScraper:
    """Knows the memory of every host as of the last cycle. One task runs it; anybody may read.

    Nothing here raises: what goes wrong is in `problems`, in the samples and in the counts, and
    each change is logged once.
    """

    def __init__(
        self,
        cluster: Cluster,
        fetcher: Fetcher,
        settings: ScrapeSettings | None = None,
        *,
        now: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._fetcher = fetcher
        self._settings = settings or ScrapeSettings()
        self._now = now
        self._memory = HostMemory(
            interval_s=self._settings.interval_s, source=self._settings.source
        )
        self._summaries = SummaryReader(monotonic=monotonic, now=now)
        self._chosen = choose(self._settings.via, cluster.ray_version)
        self._way = self._chosen
        self._troubles = 0
        self._targets: tuple[HostTarget, ...] = ()
        self._nodes = SlowCall(self._list_nodes)
        self._dashboard = SlowCall(self._find_dashboard)
        self._problems: dict[str, str] = {}
        self.cycles = 0

    @property
    def samples(self) -> tuple[HostSample, ...]:
        """The hosts that have a point now."""
        return self._memory.samples

    @property
    def hosts(self) -> tuple[HostSample, ...]:
        """Every host, those without a point too."""
        return self._memory.hosts

    @property
    def way(self) -> Way:
        """Where the last cycle's values came from, and why."""
        return self._way

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong now, beyond single hosts; for people."""
        return tuple(self._problems.values())

    @property
    def totals(self) -> Mapping[str, int]:
        """Counts since the start: see `HostMemory.totals`."""
        return self._memory.totals

    async def run_once(self) -> None:
        """Read every host once.

        Takes at most five timeouts while fewer hosts hang than are read at one time: one for the
        list of nodes, two for the dashboard, two for the hosts.
        """
        try:
            await self._refresh_targets()
            swept = await self._sweep()
            self._note("internal", "")
        except Exception as error:  # noqa: BLE001 — the next cycle must come
            text = f"a cycle failed in an unforeseen way: {error!r}"
            self._note("internal", text)
            swept = _all_failed(self._targets, FetchFailure("internal", text), self._now())
        self.cycles += 1
        _log_turns(self._memory.apply(swept, self._now()))

    def close(self) -> None:
        """Wait for no answer of Ray any more."""
        self._nodes.close()
        self._dashboard.close()

    async def _refresh_targets(self) -> None:
        """Ask Ray for the nodes; the nodes of before stand while it has no answer."""
        try:
            rows = await self._nodes.answer(self._settings.timeout_s)
        except Exception as error:  # noqa: BLE001 — Ray's errors without a GCS are of many kinds
            self._note("nodes", f"Ray does not say which nodes there are ({error!r})")
            return
        self._targets = hosts_of(rows)
        self._note("nodes", "")

    async def _sweep(self) -> Sweep:
        if self._chosen.source == "raylet":
            return await self._read_pages()
        swept = await self._ask_dashboard()
        if isinstance(swept, Sweep):
            self._troubles = 0
            self._take(self._chosen)
            return swept
        self._troubles += 1
        gives_up = swept.kind in _ABSENT or self._troubles >= _TROUBLES_BEFORE_FALL_BACK
        if self._chosen.may_fall_back and (gives_up or self._way.source == "raylet"):
            self._take(fallen_back(self._chosen, swept.message))
            return await self._read_pages()
        return _all_failed(self._targets, swept, self._now())

    async def _ask_dashboard(self) -> Sweep | FetchFailure:
        try:
            url, headers = await self._dashboard.answer(self._settings.timeout_s)
        except Exception as error:  # noqa: BLE001 — Ray's errors without a GCS are of many kinds
            return FetchFailure("timeout", f"Ray does not say where the dashboard is ({error!r})")
        if not url:
            return FetchFailure("unreachable", "Ray runs without one")
        body = await self._fetcher.get(summary_url(url), headers)
        return body if isinstance(body, FetchFailure) else self._summaries.read(self._targets, body)

    async def _list_nodes(self) -> Sequence[Mapping[str, Any]]:
        return await self._cluster.list_nodes()

    async def _find_dashboard(self) -> tuple[str | None, Mapping[str, str]]:
        url = await self._cluster.dashboard_url()
        return url, await self._cluster.auth_headers() if url else {}

    async def _read_pages(self) -> Sweep:
        return await sweep(
            self._targets,
            self._fetcher.page,
            concurrency=self._settings.concurrency,
            now=self._now,
            host_timeout_s=2 * self._settings.timeout_s,
            components=self._settings.components,
        )

    def _take(self, way: Way) -> None:
        if way.source != self._way.source:
            _log.warning("host memory now comes from the %s: %s", way.source, way.reason)
        self._way = way
        is_partial = self._settings.components and way.source == "dashboard"
        text = "the dashboard does not know what the processes hold: no rl.host.memory.component"
        self._note("components", text if is_partial else "")

    def _note(self, topic: str, problem: str) -> None:
        """Remember a problem, or that there is none any more; log the changes."""
        known = topic in self._problems
        if not problem:
            self._problems.pop(topic, None)
            if known:
                _log.info("the scraper's trouble with %s is over", topic)
            return
        self._problems[topic] = problem
        if not known:
            _log.warning("%s", problem)


def _log_turns(turns: Sequence[HostTurn]) -> None:
    """Write a line a host; one line for all that went at once when they are many."""
    went = [turn for turn in turns if not turn.is_up]
    if len(went) > _MANY:
        names = ", ".join(turn.host_name for turn in went)
        _log.warning("no memory of %d hosts: %s; first: %s", len(went), names, went[0].message)
        went = []
    for turn in went:
        _log.warning("%s", turn.message)
    for turn in turns:
        if turn.is_up:
            _log.info("%s", turn.message)


def _all_failed(hosts: Sequence[HostTarget], failure: FetchFailure, time_unix_nano: int) -> Sweep:
    return Sweep(
        tuple(HostReading(host, "failed", time_unix_nano, failures=(failure,)) for host in hosts)
    )
