# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How many values a second pass through the actor, and what does one cost it, against one Ray call each?

On a real local Ray, 1, 4 and 8 client processes record as fast as they can in three ways:

* `gauges`: steps of 8 gauge values, which all travel with their own times;
* `mixed`: steps of 8 gauge values, a counter and a histogram with two attributes each;
* `one call each`: every value is a call of a trivial async actor, 64 in flight.

A client flushes every 32,000 values, which a buffer of the default size holds, and has finished when
everything is acknowledged. The script fails unless what the actor has received is what was recorded
less what was dropped.

Run: `python benchmarks/macro/points_per_second.py [--json FILE]`
"""

import gc
import os
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

# Run by its path, a script finds only what lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import click
import msgspec
import numpy as np
import ray
from rich.console import Console
from rich.table import Table

import nemo_telemetry_actor as nta
from benchmarks.machine import cpu_seconds, local_ray, machine_facts
from nemo_telemetry_actor.actor.lifecycle import find_actor, stop_actor

GAUGES = tuple(nta.MetricSpec(f"gauge_{i}", f"bench.gauge_{i}") for i in range(8))
COUNTER = nta.MetricSpec("counter", "bench.counter", "counter")
HISTOGRAM = nta.MetricSpec("histogram", "bench.histogram", "histogram")
WORKER_GROUP = "bench"
DROPPED = "nemo_telemetry.client.dropped"

VALUES_A_FLUSH = 32_000
IN_FLIGHT = 64
WAYS = ("gauges", "mixed", "one call each")


# Dataclasses and no msgspec Structs: Ray sends the classes of a script by value, which those lose
# their fields by.
@dataclass
class Sent:
    """What one client did."""

    values: int
    steps: int
    began_s: float
    ended_s: float
    cpu_s: float
    flush_s: list[float]
    record_us: dict[str, float]
    gc_max_ms: float


@dataclass
class Row:
    """One way and number of clients."""

    way: str
    clients: int
    values: int
    dropped: int
    values_per_s: float
    actor_cpu_us_per_value: float
    client_cpu_us_per_value: float
    flush_p50_ms: float | None = None
    flush_p99_ms: float | None = None
    record_p99_9_us: float | None = None
    record_max_us: float | None = None
    gc_max_ms: float | None = None


class PerValueActor:
    """Takes one value a call and adds it up: the least that an actor can do."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    async def pid(self) -> int:
        return os.getpid()

    async def counted(self) -> int:
        return self.count

    async def put(
        self, *, name: str, value: float, time_unix_nano: int, attributes: dict[str, str] | None
    ) -> None:
        self.count += 1
        self.total += value


class LongestCollection:
    """How long the longest garbage collection took, which any call may have to wait for."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._began_s = 0.0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, _info: dict[str, int]) -> None:
        now_s = time.perf_counter()
        if phase == "start":
            self._began_s = now_s
        else:
            self.longest_s = max(self.longest_s, now_s - self._began_s)


class Client:
    """One reporting process."""

    def __init__(self, rank: int) -> None:
        self._telemetry = nta.connect(worker_group=WORKER_GROUP, rank=rank)
        # What a client reports of its own process would be among the points that are counted.
        for group in self._telemetry.registered_metric_groups():
            self._telemetry.unregister_metric_group(group)
        self._telemetry.register_metric_group("bench", [*GAUGES, COUNTER, HISTOGRAM])
        self._collections = LongestCollection()
        self._attributes = {"rl.env": "math", "rl.split": "train"}

    def ready(self) -> bool:
        return self._telemetry.wait_joined(60.0)

    def work(self, way: str, seconds: float, per_value: Any) -> Sent:
        collections = self._collections
        collections.longest_s = 0.0
        began_s, began_cpu_s = time.time(), time.process_time()
        if way == "one call each":
            values, steps, flush_s, record_ns = self._one_call_each(seconds, per_value)
        else:
            values, steps, flush_s, record_ns = self._record(seconds, mixed=way == "mixed")
        return Sent(
            values,
            steps,
            began_s,
            time.time(),
            time.process_time() - began_cpu_s,
            flush_s,
            _quantiles_us(record_ns),
            collections.longest_s * 1e3,
        )

    def _record(self, seconds: float, *, mixed: bool) -> tuple[int, int, list[float], "array[int]"]:
        record, clock = self._telemetry.record, time.perf_counter_ns
        gauges = {spec.key: 0.5 for spec in GAUGES}
        others = {"counter": 1.0, "histogram": 30.0}
        values_a_step = len(gauges) + (len(others) if mixed else 0)
        flush_s: list[float] = []
        record_ns = array("q")  # a list of as many would itself burden the garbage collector
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            for _ in range(VALUES_A_FLUSH // values_a_step):
                before = clock()
                record("bench", gauges)
                record_ns.append(clock() - before)
                if mixed:
                    before = clock()
                    record("bench", others, attributes=self._attributes)
                    record_ns.append(clock() - before)
            before_s = time.perf_counter()
            if not self._telemetry.flush(60.0):
                raise RuntimeError("a flush was not acknowledged within 60 s")
            flush_s.append(time.perf_counter() - before_s)
        steps = len(flush_s) * (VALUES_A_FLUSH // values_a_step)
        return steps * values_a_step, steps, flush_s, record_ns

    @staticmethod
    def _one_call_each(
        seconds: float, per_value: Any
    ) -> tuple[int, int, list[float], "array[int]"]:
        in_flight: list[Any] = []
        values = 0
        until_s = time.monotonic() + seconds
        for spec in cycle(GAUGES):
            if time.monotonic() >= until_s:
                break
            call = per_value.put.remote(
                name=spec.name, value=0.5, time_unix_nano=time.time_ns(), attributes=None
            )
            in_flight.append(call)
            values += 1
            if len(in_flight) >= IN_FLIGHT:
                _, in_flight = ray.wait(in_flight)
        ray.get(in_flight)
        return values, values, [], array("q")


class Received:
    """What the actors have counted so far."""

    def __init__(self, telemetry_actor: Any, per_value: Any) -> None:
        state = ray.get(telemetry_actor.state.remote())
        rows = ray.get(telemetry_actor.series.remote())
        self.points = sum(
            each["points"] for each in state["clients"] if each["worker_group"] == WORKER_GROUP
        )
        self.dropped: int = sum(state["ingest"]["dropped"].values()) + _total(
            rows, DROPPED, "value"
        )
        self.counter = _total(rows, COUNTER.name, "value")
        self.histogram = _total(rows, HISTOGRAM.name, "count")
        self.calls: int = ray.get(per_value.counted.remote())


def _total(rows: Sequence[dict[str, Any]], name: str, field: str) -> int:
    return int(sum(row[field] for row in rows if row["name"] == name))


def _quantiles_us(durations_ns: "array[int]") -> dict[str, float]:
    if not durations_ns:
        return {}
    return {
        "p99.9": float(np.quantile(durations_ns, 0.999)) / 1e3,
        "max": max(durations_ns) / 1e3,
    }


def check_conservation(way: str, sent: Sequence[Sent], before: Received, after: Received) -> int:
    """Return how many values were dropped.

    Raises:
        RuntimeError: Received and dropped are not, together, what was recorded.
    """
    steps, values = sum(each.steps for each in sent), sum(each.values for each in sent)
    dropped = after.dropped - before.dropped
    # A client flushes before its buffer is full, so every gauge value arrives; in `mixed` the
    # actor's count includes the folded deltas, and the totals themselves tell what arrived.
    match way:
        case "gauges":
            pairs = {"gauge values": (after.points - before.points, values)}
        case "mixed":
            pairs = {
                "counter": (after.counter - before.counter, steps),
                "histogram": (after.histogram - before.histogram, steps),
            }
        case _:
            pairs = {"calls": (after.calls - before.calls, values)}
    # A value that a client drops is of a gauge: counters and histograms fold.
    expected_less = dropped if way == "gauges" else 0
    wrong = {name: pair for name, pair in pairs.items() if pair[0] != pair[1] - expected_less}
    if wrong:
        raise RuntimeError(f"{way}: received and recorded differ ({dropped} dropped): {wrong}")
    return dropped


def run_once(
    way: str, seconds: float, clients: Sequence[Any], telemetry_actor: Any, per_value: Any
) -> Row:
    """Let all clients work at once, check that nothing is missing, and sum up."""
    if way == "one call each":
        pid = int(ray.get(per_value.pid.remote()))
    else:
        pid = int(ray.get(telemetry_actor.state.remote())["pid"])
    before, cpu_before_s = Received(telemetry_actor, per_value), cpu_seconds(pid)
    calls = [client.work.remote(way, seconds, per_value) for client in clients]
    sent: list[Sent] = ray.get(calls)
    cpu_s = cpu_seconds(pid) - cpu_before_s
    dropped = check_conservation(way, sent, before, Received(telemetry_actor, per_value))
    values = sum(each.values for each in sent)
    wall_s = max(each.ended_s for each in sent) - min(each.began_s for each in sent)
    row = Row(
        way,
        len(clients),
        values,
        dropped,
        round(values / wall_s),
        round(cpu_s * 1e6 / values, 3),
        round(sum(each.cpu_s for each in sent) * 1e6 / values, 3),
    )
    flushes_ms = [1e3 * taken_s for each in sent for taken_s in each.flush_s]
    if flushes_ms:
        row.flush_p50_ms = round(float(np.quantile(flushes_ms, 0.5)), 1)
        row.flush_p99_ms = round(float(np.quantile(flushes_ms, 0.99)), 1)
        row.record_p99_9_us = round(max(each.record_us["p99.9"] for each in sent), 1)
        row.record_max_us = round(max(each.record_us["max"] for each in sent), 1)
        row.gc_max_ms = round(max(each.gc_max_ms for each in sent), 1)
    return row


def as_table(rows: Sequence[Row]) -> Table:
    """Return the rows as people read them."""
    table = Table(title="values through one actor")
    for heading in (
        "way", "clients", "values/s", "actor CPU µs/value", "client CPU µs/value",
        "flush p50 / p99 ms", "record p99.9 / max µs", "longest GC ms", "recorded", "dropped",
    ):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for row in rows:
        is_call = row.flush_p50_ms is None
        table.add_row(
            row.way,
            str(row.clients),
            f"{row.values_per_s:,.0f}",
            f"{row.actor_cpu_us_per_value:.2f}",
            f"{row.client_cpu_us_per_value:.2f}",
            "" if is_call else f"{row.flush_p50_ms} / {row.flush_p99_ms}",
            "" if is_call else f"{row.record_p99_9_us} / {row.record_max_us}",
            "" if is_call else f"{row.gc_max_ms}",
            f"{row.values:,}",
            str(row.dropped),
        )
    return table


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.option("--clients", "counts", type=click.IntRange(1, 64), multiple=True, default=(1, 4, 8))
@click.option(
    "--seconds", default=3.0, help="How long each way records, at each number of clients."
)
@click.option(
    "--file-exporter", is_flag=True, help="Let the actor write a JSON-lines file meanwhile."
)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result here.")
def main(
    counts: tuple[int, ...], seconds: float, file_exporter: bool, json_path: Path | None
) -> None:
    rows = []
    with local_ray(), tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory) / "telemetry.jsonl")
        config = {
            "http": {"port": 0},
            "export": {"interval_s": 1, "file": {"path": path} if file_exporter else None},
        }
        telemetry = nta.start(config, run_id="bench")
        telemetry_actor = find_actor()
        per_value: Any = ray.remote(num_cpus=0)(PerValueActor).remote()
        of_client: Any = ray.remote(num_cpus=0)(Client)
        clients = [of_client.remote(rank) for rank in range(max(counts))]
        if not all(ray.get([client.ready.remote() for client in clients])):
            raise RuntimeError("a client was not let in within 60 s")
        for count in sorted(counts):
            for way in WAYS:
                rows.append(run_once(way, seconds, clients[:count], telemetry_actor, per_value))
                click.echo(f"{rows[-1].way}, {count} clients: {rows[-1].values_per_s:,} values/s")
        telemetry.shutdown()
        stop_actor(timeout_s=30.0)
    Console(width=160).print(as_table(rows))
    if json_path:
        result = {"machine": machine_facts(), "file_exporter": file_exporter, "rows": rows}
        json_path.write_bytes(msgspec.json.format(msgspec.json.encode(result)) + b"\n")


if __name__ == "__main__":
    main()
