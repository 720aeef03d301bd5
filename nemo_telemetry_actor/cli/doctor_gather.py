# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the facts out: everything at once, within one deadline, and nothing raises."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Mapping
from typing import Any, Final, TypeVar

import ray

from nemo_telemetry_actor.actor.lifecycle import find_actor
from nemo_telemetry_actor.cli.doctor_clocks import read_node_clocks
from nemo_telemetry_actor.cli.doctor_facts import (
    Actor,
    ClockReading,
    Cluster,
    Configuration,
    Dashboard,
    Fact,
    Facts,
    Here,
    Node,
    Reach,
    Unknown,
)
from nemo_telemetry_actor.cli.doctor_probe import (
    connect,
    get,
    read_pages,
    targets_named,
    try_folders,
    try_http,
)
from nemo_telemetry_actor.cli.failure import CommandFailedError
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.config.transfer import encode_config
from nemo_telemetry_actor.errors import ActorUnavailableError
from nemo_telemetry_actor.scrape.dashboard import parse_summary, summary_url
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.ray_nodes import RayCluster
from nemo_telemetry_actor.scrape.way import choose
from nemo_telemetry_actor.version import __version__

_T = TypeVar("_T")

_ROUND_TRIPS: Final = 3
_ANSWER_TIMEOUT_S: Final = 10.0


async def gather_without_cluster(configuration: Configuration, why: Unknown) -> Facts:
    """Find out what can be known where no cluster can be joined."""
    endpoints = await _connect_all(configuration.targets)
    return Facts(_here(), configuration, cluster=why, endpoints=endpoints)


async def gather(
    address: str,
    configuration: Configuration,
    config: TelemetryConfig | None,
    timeout_s: float,
) -> Facts:
    """Find everything out in the cluster that this process is a driver of.

    Args:
        address: The cluster's.
        configuration: What is wanted.
        config: The same, for the actor to compare; None compares nothing.
        timeout_s: Seconds for all together; what takes longer becomes `Unknown`.
    """
    until_s = asyncio.get_running_loop().time() + timeout_s
    cluster = asyncio.create_task(_within(until_s, _ask_cluster(address)))
    actor = asyncio.create_task(_within(until_s, _ask_actor(config)))

    async def of_cluster() -> tuple[Fact[Any], ...]:
        known = await cluster
        if not isinstance(known, Cluster):
            return None, None
        may_read = choose("auto", known.ray or ray.__version__).source == "raylet"
        return await asyncio.gather(
            _within(until_s, read_pages(known.nodes, may_read=may_read)),
            # The clocks keep the deadline themselves, so that those that answered count.
            _within(until_s + 1.0, read_node_clocks(known.nodes, until_s)),
        )

    async def of_actor() -> tuple[Fact[Any], ...]:
        known = await actor
        if not isinstance(known, Actor):
            return None, await _within(until_s, _connect_all(configuration.targets)), None
        names = [each["name"] for each in known.state["exporters"]]
        is_same_host = known.state["host"] == socket.gethostname()
        return await asyncio.gather(
            _within(until_s, _http(known.state["http_url"], is_same_host)),
            _within(until_s, _connect_all(targets_named(names))),
            _within(until_s, asyncio.to_thread(try_folders, names, is_same_host=is_same_host)),
        )

    dashboard, (pages, clocks), (http, endpoints, folders) = await asyncio.gather(
        _within(until_s, _ask_dashboard()), of_cluster(), of_actor()
    )
    return Facts(
        here=_here(),
        configuration=configuration,
        cluster=await cluster,
        actor=await actor,
        pages=pages,
        dashboard=dashboard,
        http=http,
        endpoints=endpoints,
        folders=folders,
        clocks=clocks,
    )


async def _within(until_s: float, gathering: Awaitable[_T]) -> _T | Unknown:
    try:
        async with asyncio.timeout_at(until_s):
            return await gathering
    except TimeoutError:
        return Unknown("not found out in time", "nemo-telemetry doctor, with a longer --timeout")
    except ActorUnavailableError:
        return Unknown("there is no telemetry actor in this cluster", "nemo-telemetry start")
    except CommandFailedError as error:
        return Unknown(str(error), error.next_step)
    except Exception as error:  # noqa: BLE001 — the checks after this one must be made all the same
        first_line = (str(error).strip().splitlines() or [""])[0]
        return Unknown(f"{type(error).__name__}: {first_line}")


def _here() -> Here:
    return Here(__version__, str(ray.__version__), socket.gethostname())


async def _ask_cluster(address: str) -> Cluster:
    rows = await asyncio.to_thread(ray.nodes)
    nodes = tuple(
        Node(
            row["NodeID"],
            row.get("NodeManagerHostname") or row.get("NodeManagerAddress") or "",
            row.get("NodeManagerAddress") or "",
            row.get("MetricsExportPort") or 0,
        )
        for row in rows
        if row.get("Alive")
    )
    return Cluster(address, await asyncio.to_thread(_version_of_cluster), nodes)


def _version_of_cluster() -> str:
    from ray.experimental import internal_kv

    # Written by the head when it starts; there is no public way.
    found = internal_kv._internal_kv_get(b"CLUSTER_METADATA", namespace=b"cluster")
    return str(json.loads(found).get("ray_version", "")) if found else ""


async def _ask_actor(config: TelemetryConfig | None) -> Actor:
    handle = await asyncio.to_thread(find_actor)
    try:
        async with asyncio.timeout(_ANSWER_TIMEOUT_S):
            return await _answers_of(handle, config)
    except TimeoutError as error:
        raise CommandFailedError(
            f"the telemetry actor does not answer within {_ANSWER_TIMEOUT_S:g} s",
            next_step="look at its log in Ray's log folder; then nemo-telemetry stop and "
            "nemo-telemetry start",
        ) from error


async def _answers_of(handle: Any, config: TelemetryConfig | None) -> Actor:
    state: dict[str, Any] = {}
    readings = []
    for _ in range(_ROUND_TRIPS):
        asked = time.time_ns()
        state = await handle.state.remote()
        readings.append(ClockReading(asked, state["time_unix_nano"], time.time_ns()))
    differs = None
    if config is not None:
        differs = await handle.config_differences.remote(config=encode_config(config))
    return Actor(state, await handle.hosts.remote(), tuple(readings), differs)


async def _ask_dashboard() -> Dashboard:
    cluster = RayCluster()
    address = await cluster.dashboard_url()
    if address is None:
        return Dashboard(None)
    body = await get(summary_url(address), await cluster.auth_headers())
    if isinstance(body, FetchFailure):
        return Dashboard(address, body.message)
    nodes = parse_summary(body)
    if isinstance(nodes, FetchFailure):
        return Dashboard(address, nodes.message)
    return Dashboard(address, nodes=len(nodes))


async def _http(url: str | None, is_same_host: bool) -> Reach | None:
    return None if url is None else await try_http(url, is_same_host=is_same_host)


async def _connect_all(targets: Mapping[str, tuple[str, int] | None]) -> tuple[Reach, ...]:
    return tuple(await asyncio.gather(*(connect(*target) for target in targets.items())))
