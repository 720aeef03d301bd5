# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Trying what lies on the network and on this disk. Nothing here knows Ray, nothing raises."""

import asyncio
import ipaddress
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from nemo_telemetry_actor.cli.doctor_facts import Node, Page, Reach
from nemo_telemetry_actor.cli.wording import size
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.export.endpoint import grpc_target, http_url, parse_endpoint
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import read_page
from nemo_telemetry_actor.scrape.fetch import PageFetcher
from nemo_telemetry_actor.scrape.nodes import page_url

LOW_DISK_BYTES: Final = 2**30
_CONCURRENCY: Final = 64
_PROBE_TIMEOUT_S: Final = 5.0
_GRPC: Final = "otlp/grpc "
_HTTP: Final = "otlp/http "
_GRPC_DEFAULT_PORT: Final = 443
_GRPC_RESOLVES: Final = frozenset({"unix", "unix-abstract", "dns", "ipv4", "ipv6"})


def targets_of(config: TelemetryConfig) -> dict[str, tuple[str, int] | None]:
    """Return where each OTLP exporter of a configuration connects to.

    Raises:
        ConfigError: An endpoint cannot be used.
    """
    found = {}
    for otlp in config.export.otlp:
        kind = _GRPC if otlp.protocol == "grpc" else _HTTP
        name = kind + parse_endpoint(otlp.endpoint).public
        found[name] = tcp_target(kind, otlp.endpoint, otlp.insecure)
    return found


def targets_named(exporters: Sequence[str]) -> dict[str, tuple[str, int] | None]:
    """Return the same from the names of the actor's exporters, which hold their endpoints.

    Raises:
        ConfigError: A name that begins like an OTLP exporter's holds no endpoint.
    """
    found = {}
    for name in exporters:
        for kind in (_GRPC, _HTTP):
            if name.startswith(kind):
                # A second exporter to one endpoint is called `… #2`.
                endpoint = name.removeprefix(kind).partition(" #")[0]
                found[name] = tcp_target(kind, endpoint, None)
    return found


def tcp_target(kind: str, endpoint: str, insecure: bool | None) -> tuple[str, int] | None:
    """Return host and port to connect to, or None for what only gRPC can resolve."""
    parsed = parse_endpoint(endpoint)
    if kind == _HTTP:
        parts = urlsplit(http_url(parsed, insecure))
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if endpoint.partition(":")[0] in _GRPC_RESOLVES:
        return None
    parts = urlsplit(f"//{grpc_target(parsed, insecure)[0]}")
    return parts.hostname or "", parts.port or _GRPC_DEFAULT_PORT


async def connect(name: str, target: tuple[str, int] | None) -> Reach:
    """Open a TCP connection and close it again."""
    if target is None:
        return Reach(name, note="not tried from here: only gRPC resolves such a name")
    host, port = target
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return Reach(name, f"{host}:{port} does not take a connection in {_PROBE_TIMEOUT_S:g} s")
    except OSError as error:
        # asyncio puts the address before the reason; a look-up has numbers of its own.
        is_system = error.errno is not None and error.errno > 0
        return Reach(
            name, f"{host}:{port}: {os.strerror(error.errno or 0) if is_system else error}"
        )
    writer.close()
    return Reach(name, note=f"{host}:{port} takes connections from here")


async def read_pages(nodes: Sequence[Node], *, may_read: bool) -> tuple[Page, ...]:
    """Try every raylet's page, a bounded number at a time.

    Args:
        nodes: Whose pages.
        may_read: Whether to read it; if not, only a connection is made, for reading would take
            the gauges from other readers.
    """
    slots = asyncio.Semaphore(_CONCURRENCY)
    fetcher = PageFetcher(timeout_s=_PROBE_TIMEOUT_S)

    async def visit(node: Node) -> Page:
        if not node.port:
            return Page(node.host, "failed", "Ray knows no port under which its metrics are served")
        async with slots:
            if may_read:
                return await _read(node, fetcher)
            reach = await connect(node.host, (node.address.strip("[]"), node.port))
            return Page(node.host, "failed" if reach.problem else "connected", reach.problem)

    try:
        return tuple(await asyncio.gather(*map(visit, nodes)))
    finally:
        await fetcher.close()


async def _read(node: Node, fetcher: PageFetcher) -> Page:
    try:
        url = page_url(node.address, node.port)
    except ValueError as error:
        return Page(node.host, "failed", str(error))
    page = await fetcher.page(url)
    if isinstance(page, FetchFailure):
        return Page(node.host, "failed", page.message)
    if read_page(page).has_memory:
        return Page(node.host, "read")
    return Page(node.host, "no_family", f"{url}: no ray_node_mem_used among {len(page):,} bytes")


async def get(url: str, headers: Mapping[str, str]) -> bytes | FetchFailure:
    """Fetch one body within the time of a probe."""
    fetcher = PageFetcher(timeout_s=_PROBE_TIMEOUT_S)
    try:
        return await fetcher.get(url, headers)
    finally:
        await fetcher.close()


async def try_http(url: str, *, is_same_host: bool) -> Reach:
    """Ask the actor's HTTP server how it is; a server that wants a token is there, too."""
    host = urlsplit(url).hostname or ""
    if not is_same_host and _is_loopback(host):
        return Reach(url, note="listens on loopback of the actor's machine, so not tried from here")
    answer = await get(f"{url}/healthz", {})
    if isinstance(answer, bytes):
        return Reach(url, note="answers, all is well")
    if answer.kind == "unauthorized":
        return Reach(url, note="answers, and wants its token")
    return Reach(url, answer.message)


def try_folders(exporters: Sequence[str], *, is_same_host: bool) -> tuple[Reach, ...]:
    """Look at the folder of each file exporter, if it is on this machine."""
    found = []
    for name in exporters:
        if not name.startswith("file "):
            continue
        folder = Path(name.removeprefix("file ").partition(" #")[0]).parent
        if not is_same_host:
            found.append(Reach(name, note="on another machine, not looked at from here"))
            continue
        found.append(_try_folder(name, folder))
    return tuple(found)


def _try_folder(name: str, folder: Path) -> Reach:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Reach(name, f"{folder}: {error.strerror}")
    if free < LOW_DISK_BYTES:
        return Reach(name, f"only {size(free)} left on its disk")
    if not os.access(folder, os.W_OK):
        return Reach(name, f"{folder} is not writable for this user")
    return Reach(name, note=f"{size(free)} free")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
