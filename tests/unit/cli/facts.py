# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Hand-written facts of a sound installation, and changes to them."""

from typing import Any

from nemo_telemetry_actor.cli.doctor_facts import (
    Actor,
    ClockReading,
    Cluster,
    Configuration,
    Dashboard,
    Facts,
    Here,
    Node,
    NodeClocks,
    Page,
    Reach,
)
from tests.unit.cli.host_rows import about, host
from tests.unit.cli.states import NOW, exporter, state

MS = 10**6
OTLP = "otlp/grpc http://collector:4317"
FILE = "file /var/log/x.jsonl"


def node(number: int, host_name: str | None = None) -> Node:
    return Node(f"id-{number:05}-of-node", host_name or f"n{number}", f"10.0.0.{number}", 8080)


def reading(ahead_s: float = 0.0, trip_ms: int = 2) -> ClockReading:
    """A reading of a clock that is ahead of ours, from the middle of the trip."""
    told = NOW + trip_ms * MS // 2 + round(ahead_s * 1e9)
    return ClockReading(NOW, told, NOW + trip_ms * MS)


def clocks(**ahead_s: float) -> NodeClocks:
    return NodeClocks({name: (reading(s),) for name, s in ahead_s.items()}, {}, len(ahead_s))


def actor(**changes: Any) -> Actor:
    hosts = changes.pop("rows", [host("n1"), host("n2")])
    readings = changes.pop("readings", (reading(),))
    differences = changes.pop("differences", None)
    exporters = [exporter(OTLP), exporter(FILE)]
    return Actor(
        state(**{"exporters": exporters, "hosts": about(), **changes}), hosts, readings, differences
    )


def facts(**changes: Any) -> Facts:
    sound: dict[str, Any] = {
        "here": Here("0.1.0", "2.60.0", "head"),
        "configuration": Configuration(None),
        "cluster": Cluster("h:1", "2.60.0", (node(1), node(2))),
        "actor": actor(),
        "pages": (Page("n1", "read"), Page("n2", "read")),
        "dashboard": Dashboard("h:8265", nodes=2),
        "http": Reach("http://127.0.0.1:9464", note="answers, all is well"),
        "endpoints": (Reach(OTLP, note="collector:4317 takes connections from here"),),
        "folders": (Reach(FILE, note="76.0 GiB free"),),
        "clocks": clocks(n1=0.0, n2=0.0),
    }
    return Facts(**{**sound, **changes})
