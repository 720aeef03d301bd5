# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What the demo says at its end: the curve, every series with its last value, where to look."""

from collections.abc import Mapping
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nemo_telemetry_actor.demo.progress import sparkline

_FROM_WIDTH = 18


class SeriesRow(msgspec.Struct, frozen=True):
    """One series as the actor knows it, every field as text for people.

    `attributes` are the values alone, in the order of their keys; `producer` is the worker group and
    rank, `driver` for the process that has only a rank, `actor` for what the service measures.
    """

    name: str
    attributes: str
    producer: str
    unit: str
    value: str


class DemoResult(msgspec.Struct, frozen=True):
    """What the demo did.

    Args:
        run_id: The telemetry run.
        seconds: From bringing the actor up until the values were read back.
        training_seconds: The training loop alone.
        reward: Step and mean reward as logged, one an optimizer step.
        accuracy: Step and held-out accuracy as logged, one a validation.
        series: What the actor knew at the end.
        is_delivered: Whether every process's values had reached the actor by then.
        metrics_url: The pull endpoint; None when it is off.
        file: The JSON-lines file; None when it is off.
        ray_address: The cluster's address.
        is_own_ray: Whether the cluster ends with the demo.
    """

    run_id: str
    seconds: float
    training_seconds: float
    reward: list[tuple[int, float]]
    accuracy: list[tuple[int, float]]
    series: list[SeriesRow]
    is_delivered: bool
    metrics_url: str | None
    file: str | None
    ray_address: str
    is_own_ray: bool


def series_row(row: Mapping[str, Any]) -> SeriesRow:
    """Return the text of one row of the actor's list of series."""
    group = row["worker_group"]
    if row["kind"] == "histogram":
        value = f"{row['count']}, mean {row['sum'] / row['count']:.3g}"
    elif row["unit"] == "By":
        value = f"{row['value'] / 2**20:,.0f} MiB"
    else:
        value = f"{row['value']:.6g}"
    return SeriesRow(
        name=row["name"],
        attributes=" ".join(str(value) for value in row["attributes"].values()),
        producer=_producer(group, row["rank"]),
        unit=row["unit"],
        value=value,
    )


def _producer(group: str | None, rank: int | None) -> str:
    if group is None:
        return "actor" if rank is None else "driver"
    return f"{group} {rank}"


def print_result(console: Console, result: DemoResult) -> None:
    """Print the accuracy's curve and the table of series."""
    accuracies = [value for _, value in result.accuracy]
    console.print(
        f"accuracy on held-out digits  {accuracies[0]:.1%} {sparkline(accuracies)} "
        f"{accuracies[-1]:.1%}   {len(result.reward)} steps in {result.training_seconds:.1f} s"
    )
    console.print(series_table(result.series))
    if not result.is_delivered:
        console.print("[yellow]Not everything reached the telemetry actor in time.")


def series_table(rows: list[SeriesRow]) -> Table:
    """Return every series with its last value: ordered by name, attribute sets below the name."""
    table = Table(
        title=f"{len(rows)} series, read back from the telemetry actor",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    # Names and values are read whole; who they are from may fold on a narrow terminal.
    table.add_column("series", overflow="fold", min_width=max(map(_name_width, rows), default=0))
    table.add_column("from", overflow="fold", max_width=_FROM_WIDTH)
    table.add_column("last value", justify="right", no_wrap=True)
    heading = ""
    for row in sorted(rows, key=lambda row: (row.name, row.producer, row.attributes)):
        if row.attributes and row.name != heading:
            heading = row.name
            table.add_row(Text(row.name))
        label = f"  {row.attributes}" if row.attributes else row.name
        # Text, because rich would read brackets in a value as markup.
        table.add_row(*(Text(text) for text in (label, row.producer, _with_unit(row))))
    return table


def _name_width(row: SeriesRow) -> int:
    return len(row.name)


def _with_unit(row: SeriesRow) -> str:
    return row.value if row.unit in {"", "1", "By"} else f"{row.value} {row.unit}"


def print_places(console: Console, result: DemoResult, *, is_running: bool) -> None:
    """Say where the numbers can be seen; only what is there after this line."""
    if result.file is not None:
        console.print(f"every value, step by step   {result.file}", soft_wrap=True)
    if is_running:
        if result.metrics_url is not None:
            console.print(f"for Prometheus              {result.metrics_url}", soft_wrap=True)
        console.print("what the actor knows        nemo-telemetry status", soft_wrap=True)
        console.print(f"the Ray it runs on          {result.ray_address}", soft_wrap=True)
    elif result.is_own_ray:
        console.print(
            "The actor ends with the demo's own Ray. `nemo-telemetry demo --hold` keeps both up "
            "for `nemo-telemetry status`, /metrics and your Prometheus."
        )
