# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From what pytest-benchmark writes to one number a value, and to ratios against the SDK.

Run: `python benchmarks/summary.py RAW.json [--json FILE]`, where RAW.json is what
`pytest -o python_files='bench_*.py' benchmarks/micro --benchmark-json=RAW.json` has written.
"""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Run by its path, a script finds only what lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import click
import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine_facts

# What is compared: the test of ours to the SDK's of the same parameters.
PAIRS = {
    "test_record": "test_sdk",
    "test_record_ten": "test_sdk_ten",
    "test_cpu_record": "test_cpu_sdk",
    "test_tee_of_floats": "test_sdk_instruments",
    "test_cpu_tee": "test_cpu_sdk_instruments",
}


@dataclass
class Cost:
    """Nanoseconds: of one call and of one value; the minimum of the rounds and their median."""

    group: str
    name: str
    min_ns_a_call: float
    median_ns_a_call: float
    min_ns_a_value: float
    sdk_min_ns_a_value: float | None
    sdk_ratio: float | None
    further: dict[str, Any]


def _cost(bench: dict[str, Any], sdk: dict[str, Any] | None) -> Cost:
    info = dict(bench["extra_info"])
    calls, values = info.pop("calls"), info.pop("values")
    lowest, median = bench["stats"]["min"] * 1e9, bench["stats"]["median"] * 1e9
    of_sdk = sdk["stats"]["min"] * 1e9 / sdk["extra_info"]["values"] if sdk else None
    return Cost(
        bench["group"],
        bench["name"],
        round(lowest / calls, 1),
        round(median / calls, 1),
        round(lowest / values, 1),
        round(of_sdk, 1) if of_sdk else None,
        round(of_sdk / (lowest / values), 1) if of_sdk else None,
        info,
    )


def costs_of(raw: dict[str, Any]) -> list[Cost]:
    """Return the benchmarks that count their calls, each beside its counterpart."""
    counted = [bench for bench in raw["benchmarks"] if "calls" in bench["extra_info"]]
    by_name = {bench["name"]: bench for bench in counted}
    costs = []
    for bench in counted:
        test, bracket, parameters = bench["name"].partition("[")
        costs.append(_cost(bench, by_name.get(f"{PAIRS.get(test)}{bracket}{parameters}")))
    return costs


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.argument("raw_path", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result here.")
def main(raw_path: Path, json_path: Path | None) -> None:
    costs = costs_of(msgspec.json.decode(raw_path.read_bytes()))
    table = Table("group", "what", "ns a call", "median", "ns a value", "SDK", "ratio", "further")
    for cost in costs:
        table.add_row(*("" if each in (None, {}) else str(each) for each in asdict(cost).values()))
    Console(width=150, markup=False).print(table)
    if json_path:
        answer = {"machine": machine_facts(), "costs": costs}
        json_path.write_bytes(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")


if __name__ == "__main__":
    main()
