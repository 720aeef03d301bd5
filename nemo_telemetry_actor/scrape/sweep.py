# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the pages of all hosts at once, each host within its own deadline."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from nemo_telemetry_actor.scrape.components import components_of
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import PageReading, read_page
from nemo_telemetry_actor.scrape.nodes import HostTarget, NodeTarget, page_url
from nemo_telemetry_actor.scrape.reading import HostReading, Sweep

FetchPage: TypeAlias = Callable[[str], Awaitable[bytes | FetchFailure]]
"""Takes a URL; keeps its own deadline."""


async def sweep(
    hosts: Sequence[HostTarget],
    fetch: FetchPage,
    *,
    concurrency: int,
    now: Callable[[], int],
    host_timeout_s: float,
    components: bool = False,
) -> Sweep:
    """Read every host once; hosts that hang cost their own points only. Does not raise.

    A host's raylets are asked in order until one has the memory: they all say the same of it.
    With `components` they are all asked, at once, for each knows its own processes only.

    Args:
        hosts: Whom to read.
        fetch: How.
        concurrency: Hosts that are read at one time, at most.
        now: Nanoseconds since the epoch.
        host_timeout_s: Seconds for one host with all its raylets, waiting for its turn excluded.
        components: Whether to read what the processes hold, too.
    """
    slots = asyncio.Semaphore(concurrency)

    async def ask(raylet: NodeTarget) -> PageReading | FetchFailure:
        return await _read_raylet(raylet, fetch, components)

    async def visit(host: HostTarget) -> HostReading:
        async with slots:
            read = _read_all if components else _read_first
            pages: list[PageReading] = []
            failures: list[FetchFailure] = []
            try:
                async with asyncio.timeout(host_timeout_s):
                    await read(host, ask, pages, failures)
            except TimeoutError:
                text = f"{host.host_name}: not read within {host_timeout_s:g} s"
                failures.append(FetchFailure("timeout", text))
            return _judge(host, pages, failures, now())

    return Sweep(tuple(await asyncio.gather(*map(visit, hosts))))


_Ask: TypeAlias = Callable[[NodeTarget], Awaitable[PageReading | FetchFailure]]


async def _read_first(
    host: HostTarget, ask: _Ask, pages: list[PageReading], failures: list[FetchFailure]
) -> None:
    for raylet in host.raylets:
        answer = await ask(raylet)
        if isinstance(answer, FetchFailure):
            failures.append(answer)
            continue
        pages.append(answer)
        if answer.has_memory:
            return


async def _read_all(
    host: HostTarget, ask: _Ask, pages: list[PageReading], failures: list[FetchFailure]
) -> None:
    async def add(raylet: NodeTarget) -> None:
        answer = await ask(raylet)
        if isinstance(answer, FetchFailure):
            failures.append(answer)
        else:
            pages.append(answer)

    await asyncio.gather(*map(add, host.raylets))


async def _read_raylet(
    raylet: NodeTarget, fetch: FetchPage, components: bool
) -> PageReading | FetchFailure:
    try:
        url = page_url(raylet.address, raylet.port)
    except ValueError as error:
        return FetchFailure("bad_address", str(error))
    try:
        page = await fetch(url)
    except Exception as error:  # noqa: BLE001 — a surprise must not cost other hosts their points
        return FetchFailure("internal", f"{url}: {error!r}")
    return page if isinstance(page, FetchFailure) else read_page(page, components=components)


def _judge(
    host: HostTarget, pages: list[PageReading], failures: list[FetchFailure], time_unix_nano: int
) -> HostReading:
    if not host.raylets:
        text = f"{host.host_name}: Ray knows no port under which its metrics are served"
        failures = [FetchFailure("no_endpoint", text)]
    with_memory = next((page for page in pages if page.has_memory), PageReading())
    is_whole = len(pages) == len(host.raylets) and all(page.processes for page in pages)
    return HostReading(
        host=host,
        outcome="fresh" if with_memory.has_memory else "no_family" if pages else "failed",
        time_unix_nano=time_unix_nano,
        node=with_memory.node,
        machine=with_memory.host,
        components=components_of(pages) if is_whole else {},
        failures=tuple(failures),
        bad_lines=sum(page.bad_lines for page in pages),
    )
