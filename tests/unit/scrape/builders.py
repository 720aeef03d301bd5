# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to write hosts, pages and readings in a test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nemo_telemetry_actor.scrape.failures import FailureKind, FetchFailure
from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.nodes import HostTarget, NodeTarget
from nemo_telemetry_actor.scrape.reading import HostReading, Sweep
from tests.snapshots import T0

DATA = Path(__file__).parents[2] / "data"
VERSIONS = tuple(
    sorted(path.stem.removeprefix("ray-") for path in (DATA / "raylet").glob("*.prom"))
)
S = 10**9


def page_of(version: str) -> bytes:
    return (DATA / "raylet" / f"ray-{version}.prom").read_bytes()


def page(used: float = 3.0, total: float = 8.0) -> bytes:
    return f'ray_node_mem_used{{ip="1"}} {used}\nray_node_mem_total{{ip="1"}} {total}\n'.encode()


def row(node_id: str = "n1", **changes: Any) -> Mapping[str, Any]:
    return {
        "NodeID": node_id,
        "Alive": True,
        "NodeManagerAddress": "10.0.0.1",
        "NodeManagerHostname": "alpha",
        "MetricsExportPort": 8080,
        **changes,
    }


def host(name: str = "alpha", *ports: int) -> HostTarget:
    raylets = tuple(NodeTarget(f"{name}-{port}", name, name, port) for port in ports or (8080,))
    return HostTarget(name, tuple(raylet.node_id for raylet in raylets), raylets)


def fresh(name: str = "alpha", at_s: float = 0.0, used: float = 3.0) -> HostReading:
    return HostReading(host(name), "fresh", T0 + round(at_s * S), Memory(used, 8.0))


def no_family(name: str = "alpha") -> HostReading:
    return HostReading(host(name), "no_family", T0)


def failed(name: str = "alpha", kind: FailureKind = "refused") -> HostReading:
    return HostReading(host(name), "failed", T0, failures=(FetchFailure(kind, f"{name}: gone"),))


def swept(*readings: HostReading) -> Sweep:
    return Sweep(readings)
