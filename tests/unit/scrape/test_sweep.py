# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio
from collections.abc import Mapping, Sequence

from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.nodes import HostTarget, NodeTarget
from nemo_telemetry_actor.scrape.reading import HostReading
from nemo_telemetry_actor.scrape.sweep import sweep
from nemo_telemetry_actor.testing import FakeClock
from tests.clocks import run_at_once
from tests.snapshots import T0
from tests.unit.scrape.builders import host, page

_DOWN = FetchFailure("refused", "down")
_HANGS = "hangs"
_PROCESSES = (
    b'ray_component_rss_bytes{Component="raylet",pid="1"} 7\nray_object_store_used_memory 2\n'
)


class Cluster:
    """Pages by port; what hangs takes five seconds, as the fetcher's deadline would have it."""

    def __init__(self, pages: Mapping[int, bytes | FetchFailure | str | Exception]) -> None:
        self.pages = pages
        self.asked: list[int] = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def fetch(self, url: str) -> bytes | FetchFailure:
        port = int(url.rpartition(":")[2].partition("/")[0])
        self.asked.append(port)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(5.0 if self.pages[port] == _HANGS else 0.01)
        finally:
            self.in_flight -= 1
        answer = self.pages[port]
        if isinstance(answer, Exception):
            raise answer
        return FetchFailure("timeout", "late") if isinstance(answer, str) else answer


def _sweep(
    hosts: Sequence[HostTarget],
    cluster: Cluster,
    *,
    concurrency: int = 100,
    components: bool = False,
    clock: FakeClock | None = None,
) -> tuple[HostReading, ...]:
    clock = clock or FakeClock()
    done = sweep(
        hosts,
        cluster.fetch,
        concurrency=concurrency,
        now=clock.time_ns,
        host_timeout_s=10.0,
        components=components,
    )
    return run_at_once(clock, done).readings


def _outcomes(readings: Sequence[HostReading]) -> dict[str, str]:
    return {reading.host.host_name: reading.outcome for reading in readings}


def test_each_host_is_read_once_with_the_time_of_its_answer() -> None:
    (reading,) = _sweep([host()], Cluster({8080: page(3.0, 8.0)}))

    assert reading == HostReading(host(), "fresh", T0 + 10_000_000, Memory(3.0, 8.0))


def test_hosts_that_hang_cost_their_own_points_only() -> None:
    clock = FakeClock()
    ports = range(1, 51)
    pages = {port: _HANGS if port in {3, 20, 50} else page() for port in ports}
    hosts = [host(f"h{port:02}", port) for port in ports]

    readings = _sweep(hosts, Cluster(pages), concurrency=8, clock=clock)

    late = [name for name, outcome in _outcomes(readings).items() if outcome == "failed"]
    assert late == ["h03", "h20", "h50"]
    assert {reading.failures[0].kind for reading in readings if reading.failures} == {"timeout"}
    assert clock.monotonic() - 1000.0 < 6.0


def test_requests_in_flight_are_bounded() -> None:
    cluster = Cluster({port: page() for port in range(1, 31)})

    _sweep([host(f"h{port}", port) for port in range(1, 31)], cluster, concurrency=4)

    assert cluster.most_in_flight == 4


def test_the_second_raylet_is_not_asked_when_the_first_one_has_the_memory() -> None:
    cluster = Cluster({1: page(), 2: page()})

    _sweep([host("a", 1, 2)], cluster)

    assert cluster.asked == [1]


def test_the_next_raylet_is_asked_when_one_fails_or_lacks_the_family() -> None:
    cluster = Cluster({1: _DOWN, 2: b"other 1\n", 3: page()})

    (reading,) = _sweep([host("a", 1, 2, 3)], cluster)

    assert cluster.asked == [1, 2, 3]
    assert (reading.outcome, reading.node, reading.failures) == (
        "fresh",
        Memory(3.0, 8.0),
        (_DOWN,),
    )


def test_a_host_of_which_one_raylet_answers_without_the_family_is_not_down() -> None:
    readings = _sweep(
        [host("a", 1, 2), host("b", 3, 4)],
        Cluster({1: b"", 2: _DOWN, 3: _DOWN, 4: b"other 1\n"}),
    )

    assert _outcomes(readings) == {"a": "no_family", "b": "no_family"}


def test_a_host_with_one_of_the_two_families_gives_that_one() -> None:
    (reading,) = _sweep([host()], Cluster({8080: b"ray_node_mem_used 3\n"}))

    assert (reading.outcome, reading.node) == ("fresh", Memory(used=3.0))


def test_a_bad_address_costs_its_raylet_only() -> None:
    odd = HostTarget("a", ("n1",), (NodeTarget("n1", "a", "no host", 1), host("a", 2).raylets[0]))

    (reading,) = _sweep([odd], Cluster({2: page()}))

    assert (reading.outcome, [failure.kind for failure in reading.failures]) == (
        "fresh",
        ["bad_address"],
    )


def test_a_host_that_serves_no_page_fails_for_that_reason() -> None:
    (reading,) = _sweep([HostTarget("a", ("n1",), ())], Cluster({}))

    assert (reading.outcome, reading.failures[0].kind) == ("failed", "no_endpoint")


def test_an_unforeseen_error_costs_its_host_only() -> None:
    readings = _sweep([host("a", 1), host("b", 2)], Cluster({1: KeyError("x"), 2: page()}))

    assert _outcomes(readings) == {"a": "failed", "b": "fresh"}


def test_a_host_of_many_hanging_raylets_keeps_its_deadline() -> None:
    clock = FakeClock()

    (reading,) = _sweep(
        [host("a", *range(1, 9))], Cluster(dict.fromkeys(range(1, 9), _HANGS)), clock=clock
    )

    assert reading.outcome == "failed"
    assert clock.monotonic() - 1000.0 == 10.0


def test_for_the_components_every_raylet_is_asked() -> None:
    cluster = Cluster({1: page() + _PROCESSES, 2: page() + _PROCESSES})

    (reading,) = _sweep([host("a", 1, 2)], cluster, components=True)

    assert (reading.node, reading.components) == (
        Memory(3.0, 8.0),
        {"object_store": 4.0, "raylet": 14.0},
    )


def test_a_missing_page_leaves_the_host_its_memory_but_no_components() -> None:
    for missing in (_DOWN, _HANGS, page()):
        (reading,) = _sweep(
            [host("a", 1, 2)], Cluster({1: page() + _PROCESSES, 2: missing}), components=True
        )

        assert (reading.outcome, reading.components) == ("fresh", {})


def test_no_hosts_is_an_empty_sweep() -> None:
    assert _sweep([], Cluster({})) == ()
