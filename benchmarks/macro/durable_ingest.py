# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does it cost that every acknowledged value is on disk?

Clients on a real local Ray send gauges (and counters and histograms) as fast as they are
acknowledged, to an actor with a file exporter; rounds with the state on disk and in memory alone
take turns, each with an actor and clients of its own. The ratio of the rates is the answer.

Run: `python benchmarks/macro/durable_ingest.py [--rounds N] [--json FILE]`
"""

import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Run by its path, a script finds only what lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import click
import msgspec
import ray
from rich.console import Console
from rich.table import Table

import nemo_telemetry_actor as nta
from benchmarks.machine import local_ray, machine_facts
from benchmarks.macro.points_per_second import Client, PerValueActor, Row, run_once
from nemo_telemetry_actor.actor.lifecycle import find_actor, stop_actor

WAYS = ("gauges", "mixed")


@dataclass
class Ratio:
    """Medians of the rounds."""

    way: str
    memory_values_a_second: float
    disk_values_a_second: float
    ratio: float
    ratio_lowest: float
    ratio_highest: float
    memory_actor_cpu_us_a_value: float
    disk_actor_cpu_us_a_value: float


def one_round(directory: Path, state: dict[str, str] | None, count: int, seconds: float) -> Any:
    """Return a row for each way, from an actor and clients of their own."""
    config = {
        "http": {"port": 0},
        "hosts": None,
        "state": state,
        "export": {"interval_s": 1, "file": {"path": str(directory / "telemetry.jsonl")}},
    }
    telemetry = nta.start(config, run_id="bench")
    telemetry_actor = find_actor()
    per_value: Any = ray.remote(num_cpus=0)(PerValueActor).remote()
    of_client: Any = ray.remote(num_cpus=0)(Client)
    clients = [of_client.remote(rank) for rank in range(count)]
    if not all(ray.get([client.ready.remote() for client in clients])):
        raise RuntimeError("a client was not let in within 60 s")
    rows = {way: run_once(way, seconds, clients, telemetry_actor, per_value) for way in WAYS}
    for each in (*clients, per_value):
        ray.kill(each)
    telemetry.shutdown()
    stop_actor(timeout_s=30.0)
    return rows


def ratio(way: str, memory: list[Row], disk: list[Row]) -> Ratio:
    pairs = [b.values_per_s / a.values_per_s for a, b in zip(memory, disk, strict=True)]
    return Ratio(
        way,
        statistics.median(row.values_per_s for row in memory),
        statistics.median(row.values_per_s for row in disk),
        round(statistics.median(pairs), 2),
        round(min(pairs), 2),
        round(max(pairs), 2),
        round(statistics.median(row.actor_cpu_us_per_value for row in memory), 2),
        round(statistics.median(row.actor_cpu_us_per_value for row in disk), 2),
    )


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.option("--rounds", default=4, help="Rounds of each kind.")
@click.option("--clients", "count", default=2, help="Clients that send at once.")
@click.option("--seconds", default=3.0, help="How long each way records in a round.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result here.")
def main(rounds: int, count: int, seconds: float, json_path: Path | None) -> None:
    results: dict[str, list[Any]] = {"memory": [], "disk": []}
    with local_ray(), tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        states = {"memory": None, "disk": {"path": str(place / "state.sqlite")}}
        for number in range(rounds):
            for kind in sorted(states, reverse=bool(number % 2)):
                results[kind].append(one_round(place, states[kind], count, seconds))
    ratios = [
        ratio(way, *([each[way] for each in results[kind]] for kind in ("memory", "disk")))
        for way in WAYS
    ]
    table = Table(*asdict(ratios[0]))
    for row in ratios:
        table.add_row(*map(str, asdict(row).values()))
    Console(width=160).print(table)
    if json_path:
        answer = {"machine": machine_facts(), "clients": count, "ratios": ratios}
        json_path.write_bytes(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")


if __name__ == "__main__":
    main()
