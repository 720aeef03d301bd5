# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Two ways to read the memory of all hosts: by the driver, and by a process of its own.

`driver` is a thread of the training process: one node after another with `requests`, the whole page
parsed by `prometheus_client`. `actor` is `HostScraper` over `PageFetcher` in another process.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

import requests
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.machine import leave_cores_to_training
from benchmarks.raylets import Raylet
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from nemo_telemetry_actor.scrape.scraper import HostScraper, ScrapeSettings

TIMEOUT_S = 5.0  # the default of `hosts.timeout_s`


@dataclass(frozen=True)
class Order:
    """What to read, how often."""

    raylets: Sequence[Raylet]
    sweeps: int = 1
    timeout_s: float = TIMEOUT_S


@dataclass(frozen=True)
class Swept:
    """One sweep: its cost to the thread or process that made it, used and total by host."""

    wall_s: float
    cpu_s: float
    memory: Mapping[str, tuple[float | None, float | None]]


class Way(Protocol):
    """Reads in the background, one order at a time."""

    def begin(self, order: Order) -> None: ...

    def is_over(self) -> bool: ...

    def results(self) -> list[Swept]:
        """Wait for them."""
        ...


class DriverSide:
    """A thread of this process."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._reading: Future[list[Swept]] = Future()

    def begin(self, order: Order) -> None:
        self._reading = self._threads.submit(_read_one_after_another, order)

    def is_over(self) -> bool:
        return self._reading.done()

    def results(self) -> list[Swept]:
        return self._reading.result()


def _read_one_after_another(order: Order) -> list[Swept]:
    done = []
    for _ in range(order.sweeps):
        began_s, began_cpu_s = time.perf_counter(), time.thread_time()
        memory: dict[str, tuple[float | None, float | None]] = {}
        for raylet in order.raylets:
            try:
                response = requests.get(raylet.url, timeout=order.timeout_s)
                response.raise_for_status()
            except requests.RequestException:
                continue
            families = text_string_to_metric_families(response.text)
            values = {
                family.name: family.samples[-1].value for family in families if family.samples
            }
            memory[raylet.host_name] = (
                values.get("ray_node_mem_used"),
                values.get("ray_node_mem_total"),
            )
        cpu_s = time.thread_time() - began_cpu_s
        done.append(Swept(time.perf_counter() - began_s, cpu_s, memory))
    return done


class OwnProcess:
    """A process of its own, which stands for the actor's."""

    def __init__(self, orders: Connection) -> None:
        self._orders = orders

    def begin(self, order: Order) -> None:
        self._orders.send(order)

    def is_over(self) -> bool:
        return self._orders.poll()

    def results(self) -> list[Swept]:
        done: list[Swept] = self._orders.recv()
        return done


class ListedCluster:
    """Lists nodes as Ray 2.60 does."""

    ray_version = "2.60.0"

    def __init__(self, raylets: Sequence[Raylet]) -> None:
        self._rows = [raylet.row for raylet in raylets]

    async def list_nodes(self) -> Sequence[Mapping[str, Any]]:
        return self._rows

    async def dashboard_url(self) -> str | None:
        return None

    async def auth_headers(self) -> Mapping[str, str]:
        return {}


async def _read_all_at_once(order: Order) -> list[Swept]:
    fetcher = PageFetcher(timeout_s=order.timeout_s)
    settings = ScrapeSettings(timeout_s=order.timeout_s)
    scraper = HostScraper(ListedCluster(order.raylets), fetcher, settings)
    done = []
    for _ in range(order.sweeps):
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        await scraper.run_once()
        wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
        memory = {sample.host_name: (sample.used, sample.total) for sample in scraper.samples}
        done.append(Swept(wall_s, cpu_s, memory))
    scraper.close()
    await fetcher.close()
    return done


def _obey(orders: Connection) -> None:
    """Read what is ordered until nobody is left to order."""
    leave_cores_to_training()
    while True:
        try:
            order = orders.recv()
        except EOFError:
            return
        orders.send(asyncio.run(_read_all_at_once(order)))


@contextmanager
def both_ways() -> Iterator[dict[str, Way]]:
    """Yield the two ways by name."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_obey, args=(theirs,))
    process.start()
    theirs.close()
    with ThreadPoolExecutor(max_workers=1) as threads:
        yield {"driver": DriverSide(threads), "actor": OwnProcess(ours)}
    ours.close()
    process.join()
