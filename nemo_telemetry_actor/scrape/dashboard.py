# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of all hosts from one answer of Ray's dashboard, `GET /nodes?view=summary`.

The dashboard has its numbers from the same reports as the pages: `mem` is `ray_node_mem_*`, and
`hostMem` is `ray_node_mem_*_host`. It does not know what the processes of a node hold, so this way
brings no components.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.nodes import HostTarget
from nemo_telemetry_actor.scrape.reading import HostReading, Sweep

STALE_AFTER_S: Final = 15.0
"""A node reports every 5 s. The dashboard goes on showing the last report of one that hangs."""

_PATH: Final = "/nodes?view=summary"


class NodeMemory(msgspec.Struct, frozen=True):
    """What the dashboard says of one node; `reported_at` is by that node's own clock."""

    reported_at: float | None
    node: Memory
    machine: Memory


class _Raylet(msgspec.Struct):
    node_id: str = msgspec.field(name="nodeId")


class _Node(msgspec.Struct):
    raylet: _Raylet
    now: Any = None
    mem: Any = None
    host_mem: Any = msgspec.field(name="hostMem", default=None)


class _Data(msgspec.Struct):
    summary: list[msgspec.Raw]


class _Answer(msgspec.Struct):
    result: bool
    data: _Data
    msg: str = ""


_answer_decoder: Final = msgspec.json.Decoder(_Answer)
_node_decoder: Final = msgspec.json.Decoder(_Node)


def summary_url(dashboard: str) -> str:
    """Return the address of the summary; `dashboard` may come with or without a scheme."""
    base = dashboard if "://" in dashboard else f"http://{dashboard}"
    return base.rstrip("/") + _PATH


def parse_summary(body: bytes) -> Mapping[str, NodeMemory] | FetchFailure:
    """Return memory by node id. A node that cannot be read is left out; never raises."""
    try:
        answer = _answer_decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return FetchFailure("bad_json", f"the dashboard's answer is not a summary: {error}")
    if not answer.result:
        return FetchFailure("bad_json", f"the dashboard says: {answer.msg}")
    nodes: dict[str, NodeMemory] = {}
    for raw in answer.data.summary:
        try:
            node = _node_decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # a node that has not reported yet looks so; its host has no fresh sample
        # mem is total, available, percent, used; hostMem is used, total.
        nodes[node.raylet.node_id] = NodeMemory(
            _number_at([node.now], 0),
            Memory(_number_at(node.mem, 3), _number_at(node.mem, 0)),
            Memory(_number_at(node.host_mem, 0), _number_at(node.host_mem, 1)),
        )
    return nodes


def _number_at(values: object, index: int) -> float | None:
    if not isinstance(values, list) or index >= len(values):
        return None
    value = values[index]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


class SummaryReader:
    """Turns summaries into sweeps, and notices nodes whose report stands still.

    Bounded by the number of nodes in the last summary. One task uses it.
    """

    def __init__(self, *, monotonic: Callable[[], float], now: Callable[[], int]) -> None:
        self._monotonic = monotonic
        self._now = now
        self._seen: dict[str, tuple[float | None, float]] = {}

    def read(self, hosts: Sequence[HostTarget], body: bytes) -> Sweep | FetchFailure:
        """Return one reading a host; a failure when the answer is no summary of this cluster."""
        nodes = parse_summary(body)
        if isinstance(nodes, FetchFailure):
            return nodes
        ours = {node_id for host in hosts for node_id in host.node_ids}
        if nodes and ours and ours.isdisjoint(nodes):
            return FetchFailure("foreign", "the dashboard that answers is of another cluster")
        at_s = self._monotonic()
        seen, self._seen = self._seen, {}
        for node_id, node in nodes.items():
            reported_at, since_s = seen.get(node_id, (None, at_s))
            is_new = reported_at != node.reported_at or node.reported_at is None
            self._seen[node_id] = (node.reported_at, at_s if is_new else since_s)
        return Sweep(tuple(self._read_host(host, nodes, at_s) for host in hosts))

    def _read_host(
        self, host: HostTarget, nodes: Mapping[str, NodeMemory], at_s: float
    ) -> HostReading:
        known = [
            (node_id, nodes[node_id])
            for node_id in host.node_ids
            if node_id in nodes
            and not (nodes[node_id].node.is_empty and nodes[node_id].machine.is_empty)
        ]
        if not known:
            return HostReading(host, "no_family", self._now())
        for node_id, node in known:
            if at_s - self._seen[node_id][1] <= STALE_AFTER_S:
                return HostReading(host, "fresh", self._now(), node.node, node.machine)
        text = f"{host.host_name}: no report to the dashboard for more than {STALE_AFTER_S:g} s"
        return HostReading(host, "failed", self._now(), failures=(FetchFailure("stale", text),))
