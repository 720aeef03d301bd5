# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""How much slower does a training loop get when it tees its metrics at every step?

A loop of numpy steps of about 10 ms each, on one thread, tees a dict of 60 keys, all declared,
after every step to a telemetry actor on a real local Ray. Blocks with and without telemetry take
turns, and each pair of neighbours, whose order alternates too, gives one slowdown; so a machine that
others use at the same time shows as spread and not as a result. The time spent inside `tee` itself
is measured too: it is the part that no noise hides.

Run: `python benchmarks/macro/training_slowdown.py [--json FILE]`
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# One thread of linear algebra: a second core is left to Ray, as in a job whose work is on GPUs.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

# Run by its path, a script finds only what lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import click
import msgspec
import numpy as np
from rich.console import Console

import nemo_telemetry_actor as nta
from benchmarks.machine import local_ray, machine_facts
from nemo_telemetry_actor.actor.lifecycle import stop_actor
from nemo_telemetry_actor.catalogue.vocabulary import TeedMetric, default_vocabulary
from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.client.transport import RayTransport

KEYS = 60
STEP_S = 0.010


@dataclass
class Block:
    """One block of steps."""

    wall_s: float
    cpu_s: float
    tee_s: float


@dataclass
class Result:
    """Medians over the pairs, with quartiles."""

    pairs: int
    steps_a_block: int
    step_ms: float
    slowdown_percent: float
    slowdown_percent_quartiles: tuple[float, float]
    process_cpu_percent: float
    tee_us_a_step: float
    tee_percent_of_step: float


def joined_telemetry() -> tuple[Telemetry, list[str]]:
    """Return a client with 60 teed rows, joined to the run, and their logger keys."""
    vocabulary = default_vocabulary()
    missing = KEYS - len(vocabulary.teed())
    vocabulary.declare_teed(*(TeedMetric(f"mine/{i}", f"rl.mine.m{i}") for i in range(missing)))
    telemetry = Telemetry(Membership(run_id="bench"), RayTransport(), vocabulary=vocabulary)
    if not telemetry.wait_joined(60.0):
        raise RuntimeError("the actor did not let the training loop in within 60 s")
    return telemetry, [row.logger_key for row in vocabulary.teed()]


class Training:
    """A step multiplies matrices until it has cost about `STEP_S`, and has 60 numbers to log."""

    def __init__(self, logger_keys: list[str]) -> None:
        rng = np.random.default_rng(0)
        self._weights = rng.normal(size=(256, 256)) / 16.0
        self._keys = logger_keys
        self._products = 1
        began_s = time.perf_counter()
        for _ in range(50):
            self._forward()
        self._products = max(1, round(50 * STEP_S / (time.perf_counter() - began_s)))

    def _forward(self) -> float:
        hidden = self._weights
        for _ in range(self._products):
            hidden = np.tanh(hidden @ self._weights)
        return float(hidden.mean())

    def block(self, steps: int, tee: Callable[[dict[str, float]], None] | None) -> Block:
        """Run steps; with `tee`, hand it each step's dict."""
        tee_s = 0.0
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        for _ in range(steps):
            loss = self._forward()
            metrics = {key: loss + index for index, key in enumerate(self._keys)}
            if tee is not None:
                before_s = time.perf_counter()
                tee(metrics)
                tee_s += time.perf_counter() - before_s
        return Block(time.perf_counter() - began_s, time.process_time() - began_cpu_s, tee_s)


def measure(training: Training, telemetry: Telemetry, pairs: int, steps: int) -> Result:
    """Run the pairs, and flush outside the measured time before each block without telemetry."""
    plain: list[Block] = []
    teeing: list[Block] = []
    for pair in range(pairs):
        for with_telemetry in (pair % 2 == 0, pair % 2 == 1):
            if with_telemetry:
                teeing.append(training.block(steps, lambda step: telemetry.tee(step, "train")))
                if not telemetry.flush(30.0):
                    raise RuntimeError("the actor did not acknowledge within 30 s")
            else:
                plain.append(training.block(steps, None))
    slowdowns = _percents([b.wall_s for b in plain], [b.wall_s for b in teeing])
    step_s = float(np.median([block.wall_s for block in plain])) / steps
    tee_s = float(np.median([block.tee_s for block in teeing])) / steps
    return Result(
        pairs,
        steps,
        round(step_s * 1e3, 2),
        round(float(np.median(slowdowns)), 2),
        (_quantile(slowdowns, 0.25), _quantile(slowdowns, 0.75)),
        _quantile(_percents([b.cpu_s for b in plain], [b.cpu_s for b in teeing]), 0.5),
        round(tee_s * 1e6, 1),
        round(100 * tee_s / step_s, 3),
    )


def _percents(without: list[float], with_telemetry: list[float]) -> list[float]:
    pairs = zip(without, with_telemetry, strict=True)
    return [100 * (slow / fast - 1) for fast, slow in pairs]


def _quantile(values: list[float], share: float) -> float:
    return round(float(np.quantile(values, share)), 2)


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.option("--pairs", default=10, help="Blocks with telemetry, and as many without.")
@click.option("--steps", default=200, help="Steps in a block.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result here.")
def main(pairs: int, steps: int, json_path: Path | None) -> None:
    config: dict[str, Any] = {"http": {"port": 0}, "export": {"file": None}}
    with local_ray():
        driver = nta.start(config, run_id="bench")
        telemetry, logger_keys = joined_telemetry()
        training = Training(logger_keys)
        training.block(steps, lambda step: telemetry.tee(step, "train"))  # warms up
        result = measure(training, telemetry, pairs, steps)
        telemetry.shutdown()
        driver.shutdown()
        stop_actor(timeout_s=30.0)
    low, high = result.slowdown_percent_quartiles
    Console().print(
        f"a step of {result.step_ms} ms: {result.slowdown_percent:+} % with telemetry (quartiles "
        f"{low:+} to {high:+} over {pairs} pairs of {steps} steps), process CPU "
        f"{result.process_cpu_percent:+} %; inside tee {result.tee_us_a_step} µs a step, "
        f"{result.tee_percent_of_step} %"
    )
    if json_path:
        answer = {"machine": machine_facts(), "result": asdict(result)}
        json_path.write_bytes(msgspec.json.format(msgspec.json.encode(answer)) + b"\n")


if __name__ == "__main__":
    main()
