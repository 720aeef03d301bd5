# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What does reading the memory of all hosts cost, and what does it take from the training process?

Real pages of Ray 2.60, of a head and of a worker node, served by 1 to 256 raylets on loopback, are
read by the driver and by the actor (see `benchmarks/host_reading.py`). Each way is measured while
training rests, and then beside a loop of numpy steps of about 1 ms in this process, for as long as
sweeps follow one another without a pause. Raylets and actor share the last core, so that training
has the other one. At the highest number of hosts both are also measured with three raylets that
accept and never answer. The script fails unless every value that was read is the one that was
served, for every host that answers and no other.

Run: `python benchmarks/macro/host_sweep.py [--json FILE]`
"""

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

# One thread of linear algebra: the step shall not take the core that the other process works on.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

# Run by its path, a script finds only what lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import click
import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.host_reading import Order, Swept, Way, both_ways
from benchmarks.machine import machine_facts
from benchmarks.raylets import PAGES, Raylet, serving

STEP_S = 0.001
HUNG = 3
HUNG_TIMEOUT_S = 1.0
LONG_S = 2.0  # sweeps that take longer are measured fewer times

CPU_RATIO_AIM = 50
WALL_AIM_S = 2.0


class Training:
    """A step multiplies matrices until it has cost about `STEP_S`."""

    def __init__(self) -> None:
        self._weights = np.random.default_rng(0).normal(size=(128, 128)) / 11.0
        self._products = 1
        for _ in range(2):  # the first time warms up
            began_s = time.perf_counter()
            for _ in range(100):
                self._step()
            self._products = max(
                1, round(self._products * 100 * STEP_S / (time.perf_counter() - began_s))
            )

    def _step(self) -> float:
        hidden = self._weights
        for _ in range(self._products):
            hidden = np.tanh(hidden @ self._weights)
        return float(hidden.mean())

    def step_s(self, is_over: Callable[[], bool]) -> float:
        """Train until something is over; return the seconds that a step took on the average."""
        steps, began_s = 0, time.perf_counter()
        while not is_over():
            self._step()
            steps += 1
        return (time.perf_counter() - began_s) / max(1, steps)

    def step_s_alone(self, seconds: float) -> float:
        until_s = time.perf_counter() + seconds
        return self.step_s(lambda: time.perf_counter() >= until_s)


@dataclass
class Row:
    """One way, page and number of hosts.

    Costs are the least of all sweeps while training rests. Steps are the averages of the fastest
    rounds: in others the machine's other users show, too.
    """

    way: str
    page: str
    page_bytes: int
    hosts: int
    hung: int
    sweeps: int
    wall_s: float
    wall_median_s: float
    cpu_s: float
    cpu_ms_a_page: float
    step_ms_alone: float | None = None
    step_ms_beside: float | None = None
    slowdown: float | None = None
    training_cpu_s_a_sweep: float | None = None
    training_lost_s_a_sweep: float | None = None


def check(order: Order, done: Sequence[Swept], hung: int) -> None:
    """Compare what was read with what was served.

    Raises:
        RuntimeError: A value is wrong or missing, or there is one of a host that hangs.
    """
    right = {r.host_name: (r.used, r.total) for r in order.raylets[hung:]}
    for swept in done:
        wrong = {
            name: (swept.memory.get(name), right.get(name))
            for name in right.keys() | swept.memory.keys()
            if swept.memory.get(name) != right.get(name)
        }
        if wrong:
            raise RuntimeError(f"read and served differ for {len(wrong)} hosts: {wrong}")


def resting(way: Way, order: Order, hung: int = 0) -> list[Swept]:
    """Carry an order out, and check it, while training rests."""
    way.begin(order)
    done = way.results()
    check(order, done, hung)
    return done


def beside_training(way: Way, order: Order, training: Training, row: Row, rounds: int) -> None:
    """Fill in what a sweep takes from the training that goes on in this process."""
    alone_s, beside_s, taken_cpu_s, swept_s = [], [], [], []
    for _ in range(rounds):
        alone_s.append(training.step_s_alone(0.5))
        process_s, own_s = time.process_time(), time.thread_time()
        way.begin(order)
        beside_s.append(training.step_s(way.is_over))
        taken_s = (time.process_time() - process_s) - (time.thread_time() - own_s)
        done = way.results()
        check(order, done, 0)
        taken_cpu_s.append(taken_s / order.sweeps)
        swept_s.append(sum(swept.wall_s for swept in done) / order.sweeps)
    share_left = min(alone_s) / min(beside_s)
    row.step_ms_alone = round(1e3 * min(alone_s), 3)
    row.step_ms_beside = round(1e3 * min(beside_s), 3)
    row.slowdown = round(1 / share_left, 3)
    row.training_cpu_s_a_sweep = round(median(taken_cpu_s), 6)
    # Of the round in which the steps were fastest.
    row.training_lost_s_a_sweep = round(
        (1 - share_left) * swept_s[beside_s.index(min(beside_s))], 4
    )


def measure(name: str, way: Way, page: str, raylets: Sequence[Raylet], training: Training) -> Row:
    """Measure one way while training rests, then beside it."""
    (first,) = resting(way, Order(raylets))
    is_long = first.wall_s > LONG_S
    order = Order(raylets, sweeps=1 if is_long else math.ceil(0.5 / first.wall_s))
    rounds = 1 if is_long else 10
    done = [first]
    for _ in range(rounds):
        done += resting(way, order)
    row = _row(name, page, len(raylets), 0, done)
    beside_training(way, order, training, row, rounds)
    return row


def measure_hung(name: str, way: Way, page: str, raylets: Sequence[Raylet]) -> Row:
    """Measure three sweeps (the driver: one) with raylets that hang, while training rests."""
    order = Order(raylets, sweeps=1 if name == "driver" else 3, timeout_s=HUNG_TIMEOUT_S)
    return _row(name, page, len(raylets), HUNG, resting(way, order, HUNG))


def _row(name: str, page: str, hosts: int, hung: int, done: Sequence[Swept]) -> Row:
    cpu_s = min(swept.cpu_s for swept in done)
    return Row(
        name,
        page,
        PAGES[page].stat().st_size,
        hosts,
        hung,
        len(done),
        round(min(swept.wall_s for swept in done), 4),
        round(median(swept.wall_s for swept in done), 4),
        round(cpu_s, 5),
        round(1e3 * cpu_s / (hosts - hung), 3),
    )


def aims(rows: Sequence[Row]) -> list[str]:
    """Return a sentence an aim, with what was measured."""
    by_case: dict[tuple[str, int, int], dict[str, Row]] = {}
    for row in rows:
        by_case.setdefault((row.page, row.hosts, row.hung), {})[row.way] = row
    said = []
    for (page, hosts, hung), ways in by_case.items():
        driver, actor = ways["driver"], ways["actor"]
        case = f"{hosts} hosts, {page} page"
        if hung:
            said.append(f"{case}, {hung} hung: only they lack points, in {actor.wall_s} s")
            continue
        ratio = driver.cpu_ms_a_page / actor.cpu_ms_a_page
        said.append(
            f"{case}: {ratio:.0f} times less CPU a page "
            f"({_met(ratio >= CPU_RATIO_AIM)}: {CPU_RATIO_AIM}), sweep {actor.wall_s} s "
            f"({_met(actor.wall_s < WALL_AIM_S)}: {WALL_AIM_S:g} s)"
        )
    return said


def _met(is_met: bool) -> str:
    return "aim met" if is_met else "aim missed"


def as_table(rows: Sequence[Row]) -> Table:
    """Return the rows as people read them."""
    table = Table(title="reading the memory of all hosts")
    for heading in (
        "way", "page", "hosts", "hung", "wall s", "CPU s", "CPU ms/page",
        "step ms alone / beside", "slowdown", "training CPU s", "training lost s",
    ):  # fmt: skip
        table.add_column(heading, justify="left" if heading in {"way", "page"} else "right")
    for row in rows:
        cells = [row.way, row.page, row.hosts, row.hung, row.wall_s, row.cpu_s, row.cpu_ms_a_page]
        if row.slowdown is not None:
            cells += [
                f"{row.step_ms_alone} / {row.step_ms_beside}",
                f"{row.slowdown:.2f}",
                row.training_cpu_s_a_sweep,
                row.training_lost_s_a_sweep,
            ]
        table.add_row(*map(str, cells))
    return table


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.option(
    "--hosts", "counts", type=click.IntRange(1, 1024), multiple=True, default=(1, 16, 64, 256)
)
@click.option(
    "--page", "pages", type=click.Choice(list(PAGES)), multiple=True, default=tuple(PAGES)
)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result here.")
def main(counts: tuple[int, ...], pages: tuple[str, ...], json_path: Path | None) -> None:
    rows: list[Row] = []
    most = max(counts)
    training = Training()
    with both_ways() as ways:
        for page in pages:
            content = PAGES[page].read_bytes()
            with serving(content, most) as raylets:
                for count in sorted(counts):
                    for name, way in ways.items():
                        rows.append(measure(name, way, page, raylets[:count], training))
                        click.echo(f"{name}, {page}, {count} hosts: {rows[-1].wall_s} s a sweep")
            if most > HUNG:
                with serving(content, most, hung=HUNG) as raylets:
                    rows += [measure_hung(name, way, page, raylets) for name, way in ways.items()]
    Console(width=150).print(as_table(rows))
    said = aims(rows)
    click.echo("\n".join(said))
    if json_path:
        answer = {"machine": machine_facts(), "aims": said, "rows": [asdict(row) for row in rows]}
        json_path.write_bytes(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")


if __name__ == "__main__":
    main()
