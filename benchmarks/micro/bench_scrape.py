# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does a raylet's page cost the reader, and what would parsing it whole cost?

The pages are real ones of eleven Ray versions. `sweep.hosts` is a whole cycle over 256 servers on
loopback in a process of their own, each with Ray 2.60's page, packed with gzip as Ray packs it.

Run: `pytest -o python_files='bench_*.py' benchmarks/micro/bench_scrape.py`
"""

import asyncio
import gzip
import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pytest_benchmark.fixture import BenchmarkFixture

from nemo_telemetry_actor.scrape.families import read_page
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from nemo_telemetry_actor.scrape.nodes import HostTarget, NodeTarget
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


def _serve(answer: bytes, count: int, hung: int, ports_to: Connection) -> None:
    """Serve one answer on `count` ports; the first `hung` of them never answer."""

    async def answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def serve() -> None:
        servers = [
            await asyncio.start_server(hang if i < hung else answer_one, "127.0.0.1", 0)
            for i in range(count)
        ]
        ports_to.send([server.sockets[0].getsockname()[1] for server in servers])
        await asyncio.Event().wait()

    asyncio.run(serve())


@pytest.fixture(scope="module", params=[0, 3], ids=["all answer", "three hang"])
def hosts(request: pytest.FixtureRequest) -> Iterator[list[HostTarget]]:
    body = gzip.compress(_page("2.60.0"))
    head = f"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(
        target=_serve, args=(head.encode() + body, HOSTS, request.param, theirs)
    )
    server.start()
    ports = ours.recv()
    yield [
        HostTarget(f"h{i:03}", (f"n{i}",), (NodeTarget(f"n{i}", f"h{i:03}", "127.0.0.1", port),))
        for i, port in enumerate(ports)
    ]
    server.terminate()
    server.join()


@pytest.mark.benchmark(group="sweep.hosts")
def test_a_sweep_of_256_hosts(benchmark: BenchmarkFixture, hosts: list[HostTarget]) -> None:
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
