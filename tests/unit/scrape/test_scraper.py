# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.scraper import HostScraper, ScrapeSettings
from nemo_telemetry_actor.testing import FakeClock
from tests.clocks import run_at_once
from tests.unit.scrape.builders import page, row

_DOWN = FetchFailure("refused", "down")
_BUSY = FetchFailure("timeout", "busy")


class FakeCluster:
    """A Ray with the rows and the dashboard of a test; `hangs_s` is how long it thinks."""

    def __init__(self, version: str = "2.60.0") -> None:
        self.ray_version = version
        self.rows: Sequence[Mapping[str, Any]] | Exception = [row()]
        self.dashboard: str | Exception | None = "127.0.0.1:8265"
        self.hangs_s = 0.0
        self.listed = 0

    async def list_nodes(self) -> Sequence[Mapping[str, Any]]:
        self.listed += 1
        await asyncio.sleep(self.hangs_s)
        if isinstance(self.rows, Exception):
            raise self.rows
        return self.rows

    async def dashboard_url(self) -> str | None:
        if isinstance(self.dashboard, Exception):
            raise self.dashboard
        return self.dashboard

    async def auth_headers(self) -> Mapping[str, str]:
        return {"Authorization": "Bearer t"}


class FakeFetcher:
    """Pages by address, and one summary for everybody."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | FetchFailure] = {"10.0.0.1": page(3.0, 8.0)}
        self.summary: bytes | FetchFailure = summary(n1=3)
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    async def page(self, url: str) -> bytes | FetchFailure:
        self.asked.append((url, {}))
        return self.pages.get(url.removeprefix("http://").partition(":")[0], _DOWN)

    async def get(self, url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
        self.asked.append((url, headers))
        return self.summary


class Bench:
    """A scraper with everything around it in a test's hands."""

    def __init__(self, version: str = "2.60.0", settings: ScrapeSettings | None = None) -> None:
        self.cluster = FakeCluster(version)
        self.fetcher = FakeFetcher()
        self.clock = FakeClock()
        self.scraper = HostScraper(
            self.cluster,
            self.fetcher,
            settings,
            now=self.clock.time_ns,
            monotonic=self.clock.monotonic,
        )

    def run(self, cycles: int = 1) -> None:
        run_at_once(self.clock, self._run(cycles))

    async def _run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.scraper.run_once()
            self.clock.advance(10.0)

    @property
    def used(self) -> dict[str, float | None]:
        return {sample.host_name: sample.used for sample in self.scraper.samples}

    @property
    def urls(self) -> list[str]:
        return [url for url, _ in self.fetcher.asked]


def summary(**used: int) -> bytes:
    nodes = [
        {"now": i, "mem": [8, 0, 0, value], "raylet": {"nodeId": node_id}}
        for i, (node_id, value) in enumerate(used.items())
    ]
    return json.dumps({"result": True, "msg": "", "data": {"summary": nodes}}).encode()


def test_a_cycle_reads_every_host() -> None:
    bench = Bench()
    bench.cluster.rows = [row(), row("n2", NodeManagerAddress="b", NodeManagerHostname="beta")]
    bench.fetcher.pages["b"] = page(5.0, 8.0)

    bench.run()

    assert bench.used == {"alpha": 3.0, "beta": 5.0}
    assert (bench.scraper.cycles, bench.scraper.problems) == (1, ())


def test_nodes_that_come_and_go_are_followed() -> None:
    bench = Bench()
    bench.run()
    bench.cluster.rows = [row("n2", NodeManagerAddress="b", NodeManagerHostname="beta")]
    bench.fetcher.pages["b"] = page(5.0, 8.0)

    bench.run()

    assert bench.used == {"beta": 5.0}


def test_the_nodes_of_before_stand_while_ray_cannot_say(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.run()
    bench.cluster.rows = ConnectionError("no GCS")

    bench.run(2)

    assert bench.used == {"alpha": 3.0}
    assert bench.scraper.problems == (
        "Ray does not say which nodes there are (ConnectionError('no GCS'))",
    )
    assert len(caplog.records) == 1


def test_a_ray_that_hangs_holds_no_cycle_and_is_asked_once() -> None:
    bench = Bench()
    bench.run()
    bench.cluster.hangs_s = 7.0

    async def two_cycles() -> None:
        await bench.scraper.run_once()
        assert bench.scraper.problems
        await bench.scraper.run_once()

    run_at_once(bench.clock, two_cycles())

    assert bench.cluster.listed == 2
    assert (bench.used, bench.scraper.problems) == ({"alpha": 3.0}, ())


def test_an_unforeseen_error_is_a_gap_and_a_problem_until_it_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    bench = Bench()
    bench.run()
    good, bench.cluster.rows = bench.cluster.rows, [7]  # type: ignore[list-item]

    bench.run()
    problems, samples = bench.scraper.problems, bench.scraper.samples
    bench.cluster.rows = good
    bench.run()

    assert (len(problems), samples) == (1, ())
    assert "unforeseen" in problems[0]
    assert (bench.scraper.problems, bench.used) == ((), {"alpha": 3.0})
    assert "the scraper's trouble with internal is over" in caplog.text


def test_a_ray_that_hangs_is_let_go_at_the_end() -> None:
    bench = Bench()
    bench.cluster.hangs_s = 1e9

    async def cycle() -> None:
        await bench.scraper.run_once()
        bench.scraper.close()

    run_at_once(bench.clock, cycle())

    assert bench.scraper.hosts == ()


def test_where_reading_a_page_takes_its_gauges_the_dashboard_is_asked_with_its_token() -> None:
    bench = Bench("2.54.1")

    bench.run()

    assert bench.used == {"alpha": 3.0}
    assert bench.fetcher.asked == [
        ("http://127.0.0.1:8265/nodes?view=summary", {"Authorization": "Bearer t"})
    ]
    assert bench.scraper.way.source == "dashboard"


@pytest.mark.parametrize("via", ["raylet", "dashboard"])
def test_both_ways_yield_the_same_samples(via: Any) -> None:
    bench = Bench("2.60.0", ScrapeSettings(via=via))

    bench.run()

    (sample,) = bench.scraper.samples
    assert (sample.host_name, sample.node_ids, sample.used, sample.total, sample.source) == (
        "alpha",
        ("n1",),
        3.0,
        8.0,
        "node",
    )


@pytest.mark.parametrize("dashboard", [None, "127.0.0.1:8265"])
def test_without_a_dashboard_the_pages_are_read_and_it_is_said_once(
    caplog: pytest.LogCaptureFixture, dashboard: str | None
) -> None:
    bench = Bench("2.54.1")
    bench.cluster.dashboard = dashboard
    bench.fetcher.summary = _DOWN

    bench.run(3)

    assert bench.used == {"alpha": 3.0}
    assert bench.scraper.way.source == "raylet"
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "there is no dashboard to ask" in caplog.text


def test_the_dashboard_of_another_cluster_counts_as_none() -> None:
    bench = Bench("2.54.1")
    bench.fetcher.summary = summary(theirs=7)

    bench.run()

    assert (bench.used, bench.scraper.way.source) == ({"alpha": 3.0}, "raylet")


def test_a_dashboard_that_is_back_is_asked_again() -> None:
    bench = Bench("2.54.1")
    bench.fetcher.summary = _DOWN
    bench.run()
    bench.fetcher.summary = summary(n1=4)

    bench.run()

    assert (bench.used, bench.scraper.way.source) == ({"alpha": 4.0}, "dashboard")


def test_a_dashboard_that_is_busy_for_a_moment_is_a_gap_and_takes_nobodys_gauges() -> None:
    bench = Bench("2.54.1")
    bench.fetcher.summary = _BUSY

    bench.run(2)

    assert bench.used == {}
    assert all(url.endswith("summary") for url in bench.urls)


def test_a_dashboard_that_stays_busy_is_given_up() -> None:
    bench = Bench("2.54.1")
    bench.fetcher.summary = _BUSY

    bench.run(5)

    assert bench.used == {"alpha": 3.0}
    assert [url.endswith("metrics") for url in bench.urls] == [False] * 3 + [True] + [
        False, True, False, True,
    ]  # fmt: skip


def test_a_dashboard_that_is_busy_while_the_pages_stand_in_makes_no_gap() -> None:
    bench = Bench("2.54.1")
    bench.fetcher.summary = _DOWN
    bench.run()
    bench.fetcher.summary = _BUSY

    bench.run()

    assert bench.used == {"alpha": 3.0}


def test_a_dashboard_that_is_busy_now_and_then_is_not_given_up() -> None:
    bench = Bench("2.54.1")
    for answer in (_BUSY, _BUSY, summary(n1=3), _BUSY, _BUSY):
        bench.fetcher.summary = answer
        bench.run()

    assert all(url.endswith("summary") for url in bench.urls)


def test_a_ray_that_cannot_say_where_the_dashboard_is_is_a_busy_one() -> None:
    bench = Bench("2.54.1")
    bench.cluster.dashboard = ConnectionError("no GCS")

    bench.run()

    assert bench.urls == []
    assert "no GCS" in bench.scraper.hosts[0].problem


def test_a_dashboard_that_is_asked_by_configuration_is_never_passed_over() -> None:
    bench = Bench("2.54.1", ScrapeSettings(via="dashboard"))
    bench.fetcher.summary = _DOWN

    bench.run(5)

    assert bench.used == {}
    assert not any(url.endswith("metrics") for url in bench.urls)
    assert bench.scraper.hosts[0].problem == "down"


def test_components_that_the_way_cannot_bring_are_a_problem() -> None:
    bench = Bench("2.54.1", ScrapeSettings(components=True))

    bench.run()

    assert len(bench.scraper.problems) == 1
    assert "rl.host.memory.component" in bench.scraper.problems[0]


def test_a_host_that_goes_and_comes_back_is_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    bench = Bench()
    good = dict(bench.fetcher.pages)
    bench.run()
    bench.fetcher.pages.clear()
    bench.run(3)
    bench.fetcher.pages.update(good)
    bench.run(2)

    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("WARNING", "no memory of host alpha until it answers again: down"),
        ("INFO", "host alpha answers again, after 30 s"),
    ]
    assert all(record.exc_info is None for record in caplog.records)


def test_many_hosts_that_go_at_once_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.cluster.rows = [
        row(f"n{i}", NodeManagerAddress=f"h{i}", NodeManagerHostname=f"h{i}") for i in range(50)
    ]

    bench.run()

    assert len(caplog.records) == 1
    assert all(f"h{i}" in caplog.text for i in range(50))
