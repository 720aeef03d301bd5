# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the wanted gauges in a raylet's page, without parsing the page.

A page has a thousand lines, of which two to twenty are wanted. Their positions are found with
`bytes.find`; only those lines are read, by the rules of the Prometheus text format. A line that
breaks them is counted and costs itself alone. A last line without its line feed is broken too:
what was cut off may be the end of the number.
"""

import math
import re
from collections.abc import Iterator
from typing import Final

import msgspec

_LABEL: Final = rb'([a-zA-Z_][a-zA-Z0-9_.:]*+)[ \t]*+=[ \t]*+"((?:[^"\\]|\\.)*+)"'
_ONE_LABEL: Final = re.compile(_LABEL)
# Labels, value, and what may follow: a time in milliseconds, an exemplar.
_SAMPLE: Final = re.compile(
    rb"(?:[ \t]*+(\{[ \t]*+(?:" + _LABEL + rb"[ \t]*+(?:,[ \t]*+|(?=\})))*+\})[ \t]*+|[ \t]++)"
    rb"([^\s#{}]++)(?:[ \t]++[+-]?[0-9.]++)?+[ \t]*+(?:#.*+)?+"
)
_NAME: Final = re.compile(rb"[a-zA-Z0-9_:]++")
# Narrower than float(): no underscores, no digits of other scripts, no hexadecimal.
_NUMBER: Final = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\([\\\"n])")

# Ray's own divisor, in _generate_system_stats_record of
# ray/dashboard/modules/reporter/reporter_agent.py (2.60.0): `total_rss_bytes / 1.0e6`.
_BYTES_PER_RAY_MB: Final = 1e6

_MEMORY: Final = b"ray_node_mem_"
_RSS: Final = b"ray_component_rss_"
_STORE: Final = b"ray_object_store_used_memory"


class Memory(msgspec.Struct, frozen=True):
    """Bytes in use and in all; None for what the page does not say."""

    used: float | None = None
    total: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether neither is known."""
        return self.used is None and self.total is None

    @property
    def is_complete(self) -> bool:
        """Whether both are known."""
        return self.used is not None and self.total is not None


class ProcessSum(msgspec.Struct, frozen=True):
    """Resident bytes of the processes of one title.

    Args:
        title: Ray's `Component`: `raylet`, `gcs`, `agent`, or a process title as `ray::MyActor`.
        pid: Empty for workers: Ray adds up all processes of one title.
        rss_bytes: Their resident set sizes, added up.
    """

    title: str
    pid: str
    rss_bytes: float


class PageReading(msgspec.Struct, frozen=True):
    """What one page says.

    Args:
        node: `ray_node_mem_used` and `_total`: the container's where Ray sees one.
        host: `ray_node_mem_used_host` and `_total_host` (Ray 2.57 and newer): the machine's.
        processes: Resident sizes by title; empty unless asked for.
        store_bytes: Used bytes of this raylet's object store; None unless asked for.
        bad_lines: Lines of the wanted families that could not be read.
    """

    node: Memory = Memory()
    host: Memory = Memory()
    processes: tuple[ProcessSum, ...] = ()
    store_bytes: float | None = None
    bad_lines: int = 0

    @property
    def has_memory(self) -> bool:
        """Whether any of the memory families is there."""
        return not (self.node.is_empty and self.host.is_empty)


class _Sample(msgspec.Struct, frozen=True):
    labels: bytes
    value: float


def read_page(page: bytes, *, components: bool = False) -> PageReading:
    """Find the memory families of a page and, when asked, what its processes hold.

    A family that is there twice counts with its last line. A value that is not finite is no
    sample; a negative one is a bad line. Never raises, whatever the bytes.
    """
    bad_lines = 0
    memory: dict[bytes, float] = {}
    for name, sample in _samples(page, _MEMORY, b"used", b"total", b"used_host", b"total_host"):
        if sample is None:
            bad_lines += 1
        elif math.isfinite(sample.value):
            memory[name] = sample.value
    node = Memory(memory.get(b"used"), memory.get(b"total"))
    host = Memory(memory.get(b"used_host"), memory.get(b"total_host"))
    if not components:
        return PageReading(node, host, bad_lines=bad_lines)
    processes, bad_processes = _read_processes(page)
    store_bytes, bad_stores = _read_store(page)
    return PageReading(node, host, processes, store_bytes, bad_lines + bad_processes + bad_stores)


def _read_processes(page: bytes) -> tuple[tuple[ProcessSum, ...], int]:
    """Read the family in bytes where the page has it, else the older one in Ray's megabytes."""
    bad_lines = 0
    found: dict[bytes, dict[tuple[str, str], float]] = {b"bytes": {}, b"mb": {}}
    for unit, sample in _samples(page, _RSS, b"bytes", b"mb"):
        if sample is None:
            bad_lines += 1
        elif math.isfinite(sample.value):
            labels = _labels(sample.labels)
            found[unit][labels.get("Component", ""), labels.get("pid", "")] = sample.value
    scale = 1.0 if found[b"bytes"] else _BYTES_PER_RAY_MB
    values = found[b"bytes"] or found[b"mb"]
    return tuple(ProcessSum(*key, value * scale) for key, value in values.items()), bad_lines


def _read_store(page: bytes) -> tuple[float | None, int]:
    store_bytes, bad_lines = None, 0
    for _, sample in _samples(page, _STORE, b""):
        if sample is None:
            bad_lines += 1
        elif math.isfinite(sample.value):
            store_bytes = sample.value
    return store_bytes, bad_lines


def _samples(page: bytes, prefix: bytes, *wanted: bytes) -> Iterator[tuple[bytes, _Sample | None]]:
    """Yield each line of a wanted family: the name after `prefix`, and None for a bad line."""
    needle = b"\n" + prefix
    at = 0 if page.startswith(prefix) else page.find(needle) + 1 or -1
    while at >= 0:
        end = page.find(b"\n", at)
        stop = len(page) if end < 0 else end
        name = _NAME.match(page, at, stop)
        if name is not None and (rest := name[0][len(prefix) :]) in wanted:
            yield rest, None if end < 0 else _sample(page[name.end() : stop])
        at = -1 if end < 0 else page.find(needle, end) + 1 or -1


def _sample(text: bytes) -> _Sample | None:
    match = _SAMPLE.fullmatch(text.rstrip(b"\r \t"))
    if match is None:
        return None
    number = match[4]
    if _NOT_FINITE.fullmatch(number):
        return _Sample(b"", math.nan)
    if not _NUMBER.fullmatch(number):
        return None
    value = float(number)
    return None if value < 0 else _Sample(match[1] or b"", value)


def _labels(text: bytes) -> dict[str, str]:
    return {
        name.decode(): _ESCAPE.sub(_unescape, value.decode(errors="replace"))
        for name, value in _ONE_LABEL.findall(text)
    }


def _unescape(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]
