# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of every host now: the newest sample, and the rules by which it ends."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from nemo_telemetry_actor.scrape.families import Memory
from nemo_telemetry_actor.scrape.reading import HostReading, Sweep

MAX_KEPT_INTERVALS: Final = 3
"""How long a sample outlives pages without the family: another reader may have taken them."""

MemorySource: TypeAlias = Literal["node", "host"]
SampleState: TypeAlias = Literal["fresh", "kept", "no_sample", "failed"]


class HostSample(msgspec.Struct, frozen=True):
    """One host as it is known after a cycle.

    Args:
        host_name: `host.name`.
        node_ids: All its living nodes, for the label.
        raylets: How many of them serve a page.
        state: `fresh`: read in this cycle. `kept`: the host answers without the families, and its
            last sample is young enough. `no_sample`: it is not, or there is none. `failed`: the
            host did not answer.
        used: Bytes; None where there is no point to make.
        total: The same.
        source: Which family the values are from; None without values.
        time_unix_nano: When the sample was read; 0 without values.
        age_s: Seconds since then, at the time of the cycle.
        components: Bytes by component.
        problem: What went wrong in this cycle; may be set beside a fresh sample.
    """

    host_name: str
    node_ids: tuple[str, ...]
    raylets: int
    state: SampleState
    used: float | None = None
    total: float | None = None
    source: MemorySource | None = None
    time_unix_nano: int = 0
    age_s: float = 0.0
    components: Mapping[str, float] = msgspec.field(default_factory=dict)
    problem: str = ""

    @property
    def has_values(self) -> bool:
        """Whether this host has a point."""
        return self.source is not None

    @property
    def share(self) -> float | None:
        """Used as a fraction of total, from 0 to 1; None when it cannot be told."""
        if self.used is None or not self.total:
            return None
        return min(1.0, self.used / self.total)


class HostTurn(msgspec.Struct, frozen=True):
    """A host that went, or is back: one line for the log each."""

    host_name: str
    is_up: bool
    message: str


class HostMemory:
    """Keeps the newest sample of every host. One task uses it; readers get whole tuples.

    Each sweep replaces everything: a host that is not in it is gone, one that failed has a gap.
    Bounded by the number of hosts.

    Args:
        interval_s: Seconds between two sweeps.
        source: Which family to prefer: `node` (what Ray counts, the container's where there is
            one) or `host` (the machine's). The other one stands in where it is missing.
    """

    def __init__(self, *, interval_s: float, source: MemorySource = "node") -> None:
        # Cycles come a little early or late; the third one is still within the bound.
        self._max_age_s = (MAX_KEPT_INTERVALS + 0.5) * interval_s
        self._source: MemorySource = source
        self._hosts: tuple[HostSample, ...] = ()
        self._went_at: dict[str, int] = {}
        self.totals: Counter[str] = Counter()
        """Since the start: `fresh`, `no_fresh_sample`, `failed`, `bad_lines`, `failed.<kind>`."""

    @property
    def hosts(self) -> tuple[HostSample, ...]:
        """Every host of the last sweep, in its order."""
        return self._hosts

    @property
    def samples(self) -> tuple[HostSample, ...]:
        """The hosts that have values."""
        return tuple(host for host in self._hosts if host.has_values)

    def apply(self, sweep: Sweep, time_unix_nano: int) -> tuple[HostTurn, ...]:
        """Replace what is known by a sweep that ended at `time_unix_nano`; say who came or went."""
        before = {host.host_name: host for host in self._hosts}
        self._hosts = tuple(
            self._judge(reading, before.get(reading.host.host_name), time_unix_nano)
            for reading in sweep.readings
        )
        self._count(sweep.readings)
        return self._turns(time_unix_nano)

    def _judge(
        self, reading: HostReading, before: HostSample | None, time_unix_nano: int
    ) -> HostSample:
        now = HostSample(
            host_name=reading.host.host_name,
            node_ids=reading.host.node_ids,
            raylets=len(reading.host.raylets),
            state="failed" if reading.outcome == "failed" else "no_sample",
            problem="; ".join(failure.message for failure in reading.failures),
        )
        if reading.outcome == "fresh":
            return self._fresh(now, reading, time_unix_nano)
        if reading.outcome == "failed" or before is None or not before.has_values:
            return now
        age_s = _seconds(before.time_unix_nano, time_unix_nano)
        if age_s > self._max_age_s:
            return now
        return msgspec.structs.replace(
            before,
            node_ids=now.node_ids,
            raylets=now.raylets,
            state="kept",
            age_s=age_s,
            problem=now.problem,
        )

    def _fresh(self, now: HostSample, reading: HostReading, time_unix_nano: int) -> HostSample:
        source, memory = preferred(self._source, reading.node, reading.machine)
        return msgspec.structs.replace(
            now,
            state="fresh",
            used=memory.used,
            total=memory.total,
            source=source,
            time_unix_nano=reading.time_unix_nano,
            age_s=_seconds(reading.time_unix_nano, time_unix_nano),
            components=reading.components,
        )

    def _count(self, readings: Sequence[HostReading]) -> None:
        names = {"fresh": "fresh", "no_family": "no_fresh_sample", "failed": "failed"}
        for reading in readings:
            self.totals[names[reading.outcome]] += 1
            self.totals["bad_lines"] += reading.bad_lines
            for failure in reading.failures:
                self.totals[f"failed.{failure.kind}"] += 1

    def _turns(self, time_unix_nano: int) -> tuple[HostTurn, ...]:
        went_at, self._went_at = self._went_at, {}
        turns = []
        for host in self._hosts:
            name = host.host_name
            if host.state == "failed":
                self._went_at[name] = went_at.get(name, time_unix_nano)
                if name not in went_at:
                    text = f"no memory of host {name} until it answers again: {host.problem}"
                    turns.append(HostTurn(name, is_up=False, message=text))
            elif name in went_at:
                gap_s = _seconds(went_at[name], time_unix_nano)
                text = f"host {name} answers again, after {gap_s:.0f} s"
                turns.append(HostTurn(name, is_up=True, message=text))
        return tuple(turns)


def preferred(
    source: MemorySource, node: Memory, machine: Memory
) -> tuple[MemorySource | None, Memory]:
    """Choose the family to report; used and total are never taken from two of them.

    The preferred one if it is complete, else the other one if that is, else what there is.
    """
    either: list[tuple[MemorySource, Memory]] = [("node", node), ("host", machine)]
    if source == "host":
        either.reverse()
    for name, memory in either:
        if memory.is_complete:
            return name, memory
    for name, memory in either:
        if not memory.is_empty:
            return name, memory
    return None, Memory()


def _seconds(from_unix_nano: int, to_unix_nano: int) -> float:
    """Return the seconds between two readings of a wall clock, which may have been set back."""
    return max(0.0, (to_unix_nano - from_unix_nano) / 1e9)
