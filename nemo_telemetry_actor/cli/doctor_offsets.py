# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes' clocks to read, and what the readings of a clock prove. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from nemo_telemetry_actor.cli.doctor_facts import ClockReading, Node

MAX_NODES: Final = 64
"""Nodes that are asked, at most: each may have to start a worker for it."""


class Offset(msgspec.Struct, frozen=True):
    """By how much another clock is ahead, in seconds; it is somewhere between these."""

    low_s: float
    high_s: float

    @property
    def at_least_s(self) -> float:
        """How far apart the clocks are for certain; 0 when they may agree."""
        return max(0.0, self.low_s, -self.high_s)


def offset(readings: Sequence[ClockReading]) -> Offset:
    """Return what readings of one clock prove together: each answer was given within its trip."""
    lows = [(each.told - each.answered) / 1e9 for each in readings]
    highs = [(each.told - each.asked) / 1e9 for each in readings]
    # Our own clock may have been set meanwhile; then the readings contradict one another.
    low, high = max(lows), min(highs)
    return Offset(min(low, high), max(low, high))


def between(of: Offset, to: Offset) -> Offset:
    """Return how much the first clock is ahead of the second, from both as seen by a third."""
    return Offset(of.low_s - to.high_s, of.high_s - to.low_s)


def chosen(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes to ask, `MAX_NODES` at most: one of each host before a second one."""
    seen: Counter[str] = Counter()
    ranked = []
    for node in sorted(nodes, key=lambda node: (node.host, node.node_id)):
        ranked.append((seen[node.host], node))
        seen[node.host] += 1
    ranked.sort(key=lambda each: each[0])
    return tuple(node for _, node in ranked[:MAX_NODES])


def names_of(nodes: Sequence[Node]) -> dict[str, str]:
    """Return a name by node id: the host's, with the id where several nodes share it."""
    count = Counter(node.host for node in nodes)
    return {
        node.node_id: node.host if count[node.host] == 1 else f"{node.host} ({node.node_id[:8]})"
        for node in nodes
    }
