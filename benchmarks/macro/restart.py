# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How long does the actor's core take to go on after a kill, and what does its state file cost?

Without Ray. A process fills a state file with a million points that no exporter has taken, and is
killed with SIGKILL; a fresh one opens the file, and what is timed is from there to a core that can
answer. Then one process takes batches and commits them, in turns with and without a file, an
exporter that takes everything every hundredth commit; the ratio of the two rates, in processor time
so that others on the machine do not blur it, is what durability costs. Opening and committing are the actor's; Ray's own call (about 0.4 ms a batch) is left out,
which makes the ratio the worst case.

Run: `python benchmarks/macro/restart.py [--points N] [--json FILE]`
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

# Run by its path, a script finds only what lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import click
import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine_facts
from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.model.attributes import encode_attributes
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.testing import InMemoryExporter
from nemo_telemetry_actor.wire.messages import (
    Batch,
    GaugePoints,
    Hello,
    MetricBlock,
    SumDelta,
    encode,
)

T0 = time.time_ns() - 3600 * 10**9  # not so old that the backlog lets it go
CLIENT = "a" * 32
NONE = encode_attributes({})

# Gauge series in a batch, points of each, batches a commit.
SHAPES = {
    "20 batches of 10 series x 5 points a commit": (10, 5, 20),
    "1 batch of 10 series x 5 points a commit": (10, 5, 1),
    "1 batch of 1000 series x 1 point a commit": (1000, 1, 1),
}


@dataclass
class Restart:
    """One kill and what followed."""

    shape: str
    points: int
    columns: int
    file_mb: float
    ready_s: float
    first_tick_s: float
    peak_rss_mb: float


@dataclass
class Rate:
    """Points a second of processor time, all threads, through ingest and commit; medians."""

    shape: str
    memory_points_a_second: float
    disk_points_a_second: float
    ratio: float
    ratio_lowest: float
    ratio_highest: float


def core_on(path: Path | None) -> TelemetryCore:
    durability = Durability(path, monotonic=time.monotonic, time_unix_nano=time.time_ns())
    return TelemetryCore(
        TelemetryConfig(),
        [InMemoryExporter()],
        time_ns=time.time_ns,
        monotonic=time.monotonic,
        incarnation="bench",
        fresh_run_id=lambda: "r",
        durability=durability,
    )


def blocks_of(series: int, points: int) -> list[MetricBlock]:
    times = [T0 + i * 10**9 for i in range(points)]
    counter = MetricBlock(encode(Declaration("rl.steps", "counter")), [SumDelta(NONE, 1.0, T0, T0)])
    gauges = [
        MetricBlock(
            encode(Declaration(f"rl.gauge.m{i}", "gauge", "s", "What it is.")),
            [GaugePoints(NONE, times, [0.1 * i + j for j in range(points)])],
        )
        for i in range(series)
    ]
    return [counter, *gauges]


class Sender:
    """One client that sends batches of one shape, a commit at a time."""

    def __init__(self, core: TelemetryCore, shape: str) -> None:
        series, points, self._batches = SHAPES[shape]
        self.core = core
        self.points_a_commit = series * points * self._batches
        self._blocks = blocks_of(series, points)
        self._sequence = 0
        hello = Hello(1, CLIENT, "", "r", "", False, {"rl.model": "m"}, {"host.name": "h"})
        core.welcome(encode(hello))

    def payloads(self) -> list[bytes]:
        first, self._sequence = self._sequence, self._sequence + self._batches
        return [encode(Batch(1, CLIENT, n, self._blocks)) for n in range(first, self._sequence)]

    def commit(self, payloads: list[bytes]) -> None:
        for payload in payloads:
            self.core.ingest(payload)
        self.core.commit()


def fill_and_wait_to_be_killed(path: Path, shape: str, points: int) -> None:
    sender = Sender(core_on(path), shape)
    while sender.core._log.head < points:
        sender.commit(sender.payloads())
    print("filled", flush=True)
    signal.pause()


def open_and_report(path: Path) -> None:
    """Print seconds to a core that answers, seconds of its first tick, its columns and memory."""
    began_s = time.perf_counter()
    core = core_on(path)
    ready_s = time.perf_counter() - began_s
    began_s = time.perf_counter()
    core.tick()
    tick_s = time.perf_counter() - began_s
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak_kb,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    if core._durability.problems:
        raise RuntimeError(core._durability.problems)
    print(ready_s, tick_s, len(core._log._columns), core._log.head, int(peak_kb) / 1024)


def restart(shape: str, points: int) -> Restart:
    """Fill a file, kill who filled it, open it.

    Raises:
        RuntimeError: Something is missing after the kill.
    """
    script = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "state.sqlite"
        fill = [*script, "--fill", str(path), "--shape", shape, "--points", str(points)]
        with subprocess.Popen(fill, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            if process.stdout.readline() != b"filled\n":
                raise RuntimeError("the file could not be filled")
            process.kill()
        size = sum(each.stat().st_size for each in path.parent.iterdir())
        answer = subprocess.run(
            [*script, "--open", str(path)], check=True, capture_output=True, text=True
        )
    ready_s, tick_s, columns, head, peak_mb = map(float, answer.stdout.split())
    if head < points:
        raise RuntimeError(f"of {points} points {head} are there")
    return Restart(
        shape,
        int(head),
        int(columns),
        round(size / 1e6, 1),
        round(ready_s, 2),
        round(tick_s, 3),
        round(peak_mb),
    )


def rate(shape: str, rounds: int, commits: int) -> Rate:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "state.sqlite"
        senders = {"memory": Sender(core_on(None), shape), "disk": Sender(core_on(path), shape)}
        rates: dict[str, list[float]] = {"memory": [], "disk": []}
        for number in range(rounds + 1):
            order = list(senders) if number % 2 else list(reversed(senders))
            for name in order:
                took_s = _round_s(senders[name], commits)
                if number:  # the first one warms up
                    rates[name].append(commits * senders[name].points_a_commit / took_s)
    ratios = [disk / memory for memory, disk in zip(rates["memory"], rates["disk"], strict=True)]
    return Rate(
        shape,
        round(statistics.median(rates["memory"])),
        round(statistics.median(rates["disk"])),
        round(statistics.median(ratios), 2),
        round(min(ratios), 2),
        round(max(ratios), 2),
    )


def _round_s(sender: Sender, commits: int) -> float:
    took_s = 0.0
    for number in range(commits):
        payloads = sender.payloads()
        began_s = time.process_time()
        sender.commit(payloads)
        if number % 100 == 99:
            for delivery in sender.core.deliveries:
                delivery.position = sender.core._log.head
            sender.core.tick()
        took_s += time.process_time() - began_s
    return took_s


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.option("--points", default=1_000_000, help="Points that wait.")
@click.option("--rounds", default=10, help="Rounds of each kind.")
@click.option("--fill", type=click.Path(path_type=Path), hidden=True)
@click.option("--open", "open_path", type=click.Path(path_type=Path), hidden=True)
@click.option("--shape", default=next(iter(SHAPES)), hidden=True)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result here.")
def main(
    points: int,
    rounds: int,
    fill: Path | None,
    open_path: Path | None,
    shape: str,
    json_path: Path | None,
) -> None:
    if fill is not None:
        fill_and_wait_to_be_killed(fill, shape, points)
    if open_path is not None:
        open_and_report(open_path)
        os._exit(0)  # nothing here has to be let go of with care
    rates = [rate(each, rounds, 100 if SHAPES[each][0] > 100 else 300) for each in SHAPES]
    restarts = [restart(each, points) for each in SHAPES]
    console = Console(width=150)
    for rows in (rates, restarts):
        table = Table(*asdict(rows[0]))
        for row in rows:
            table.add_row(*map(str, asdict(row).values()))
        console.print(table)
    if json_path:
        answer = {
            "machine": machine_facts(),
            "rates": [asdict(each) for each in rates],
            "restarts": [asdict(each) for each in restarts],
        }
        json_path.write_bytes(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")


if __name__ == "__main__":
    main()
