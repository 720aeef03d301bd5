# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does a raylet's page cost the reader, and what would parsing it whole cost?

The pages are real ones of eleven Ray versions. `sweep.hosts` is a whole cycle over 256 servers on
loopback in a process of their own, each with Ray 2.60's page, packed with gzip as Ray packs it.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_scrape.py`
"""

import asyncio
import gzip
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.raylets import serving
from nemo_telemetry_actor.scrape.families import read_page
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from nemo_telemetry_actor.scrape.nodes import HostTarget, hosts_of
from nemo_telemetry_actor.scrape.reading import Sweep
from nemo_telemetry_actor.scrape.sweep import sweep

PAGES = Path(__file__).parents[2] / "tests/data/raylet"
VERSIONS = ("2.9.3", "2.49.2", "2.54.1", "2.55.1", "2.60.0")
HOSTS = 256

pages = pytest.mark.benchmark(
    group="scrape.page", disable_gc=True, min_rounds=20, timer=time.process_time
)


def _page(version: str) -> bytes:
    return (PAGES / f"ray-{version}.prom").read_bytes()


@pages
@pytest.mark.parametrize("version", VERSIONS)
def test_memory_of_a_page(benchmark: BenchmarkFixture, version: str) -> None:
    page = _page(version)

    benchmark(read_page, page)


@pages
@pytest.mark.parametrize("version", VERSIONS)
def test_memory_and_components_of_a_page(benchmark: BenchmarkFixture, version: str) -> None:
    page = _page(version)

    benchmark(read_page, page, components=True)


@pages
@pytest.mark.parametrize("version", VERSIONS)
def test_whole_page_through_prometheus_client(benchmark: BenchmarkFixture, version: str) -> None:
    page = _page(version)

    benchmark(lambda: list(text_string_to_metric_families(page.decode())))


@pages
def test_undoing_gzip(benchmark: BenchmarkFixture) -> None:
    benchmark(gzip.decompress, gzip.compress(_page("2.60.0")))


@pytest.fixture(scope="module", params=[0, 3], ids=["all answer", "three hang"])
def hosts(request: pytest.FixtureRequest) -> Iterator[tuple[HostTarget, ...]]:
    with serving(_page("2.60.0"), HOSTS, hung=request.param) as raylets:
        yield hosts_of([raylet.row for raylet in raylets])


@pytest.mark.benchmark(group="sweep.hosts")
def test_a_sweep_of_256_hosts(benchmark: BenchmarkFixture, hosts: tuple[HostTarget, ...]) -> None:
    cpu_s = 0.0

    async def once() -> Sweep:
        nonlocal cpu_s
        fetcher = PageFetcher(timeout_s=1.0)
        start_s = time.process_time()
        done = await sweep(
            hosts, fetcher.page, concurrency=128, now=time.time_ns, host_timeout_s=2.0
        )
        cpu_s = time.process_time() - start_s
        await fetcher.close()
        return done

    result = benchmark.pedantic(lambda: asyncio.run(once()), rounds=5)  # type: ignore[no-untyped-call]

    failed = [r.host.host_name for r in result.readings if r.outcome == "failed"]
    assert len(failed) in {0, 3}
    benchmark.extra_info["cpu_ms_per_page"] = round(1000 * cpu_s / HOSTS, 3)
