# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Clients that record a known sequence and note what they did: in Ray actors and in drivers.

As a driver: ``python -m tests.e2e.chaos.clients ORDER``, `ORDER` being a `ClientOrder` in JSON.
"""

import contextlib
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import ray

import nemo_telemetry_actor as nta
from tests.e2e.chaos.ledger import LedgerFile
from tests.e2e.chaos.model import (
    BOUNDARIES,
    COUNTER,
    GAUGE,
    HISTOGRAM,
    SEEN_COUNTER,
    SEEN_GAUGE,
    UP_DOWN,
    step_of,
)

_STEP_S = 0.04
_BURST = 400
_FINAL_FLUSH_S = 120.0
_LONGEST_LIFE_S = 7200.0


class ClientOrder(msgspec.Struct, frozen=True):
    """What a client is to do.

    Args:
        seed: Of the whole run.
        client: Its number.
        run_id: The run to record for.
        ledger: Where to note what it does.
        stop: It ends when this file exists.
        worker_group: Its role; None for a driver.
        config: What a driver starts telemetry with.
        says_goodbye: Whether it shuts its handle down at the end, and does not only stay.
    """

    seed: int
    client: int
    run_id: str
    ledger: str
    stop: str
    worker_group: str | None = None
    config: dict[str, Any] = {}
    says_goodbye: bool = False


class Client:
    """Records step after step, sometimes many at once, and flushes now and then."""

    def __init__(self, order: ClientOrder, telemetry: nta.Telemetry) -> None:
        self._order = order
        self._telemetry = telemetry
        self._notes = LedgerFile(Path(order.ledger), order.client, order.run_id, order.worker_group)
        self._draw = random.Random(f"{order.seed}/{order.client}")
        self._observed = {SEEN_GAUGE: 0, SEEN_COUNTER: 0}
        telemetry.register_metric_group(
            "chaos",
            [
                nta.MetricSpec("gauge", GAUGE),
                nta.MetricSpec("counter", COUNTER, "counter"),
                nta.MetricSpec("up_down", UP_DOWN, "up_down_counter"),
                nta.MetricSpec("histogram", HISTOGRAM, "histogram", boundaries=BOUNDARIES),
                nta.MetricSpec("g", SEEN_GAUGE, "observable_gauge", callback=self._see(SEEN_GAUGE)),
                nta.MetricSpec(
                    "c", SEEN_COUNTER, "observable_counter", callback=self._see(SEEN_COUNTER)
                ),
            ],
        )

    def work(self) -> bool:
        """Record until told to stop; tell whether everything was committed in the end."""
        step = 0
        until_s = time.monotonic() + _LONGEST_LIFE_S
        while not Path(self._order.stop).exists() and time.monotonic() < until_s:
            for _ in range(_BURST if self._draw.random() < 0.005 else 1):
                self._record(step)
                step += 1
            if self._draw.random() < 0.02:
                self._flush(step, self._draw.choice([0.3, 2.0, 10.0]))
            time.sleep(self._draw.uniform(0.0, 2 * _STEP_S))
        is_committed = self._flush(step, _FINAL_FLUSH_S)
        if self._order.says_goodbye:
            self._telemetry.shutdown(_FINAL_FLUSH_S)
        self._notes.note("end", is_committed)
        return is_committed

    def _record(self, number: int) -> None:
        step = step_of(self._order.seed, self._order.client, number)
        self._notes.note("begin", number, time.time_ns())
        self._telemetry.record(
            "chaos",
            {
                "gauge": step.gauge,
                "counter": step.counter,
                "up_down": step.up_down,
                "histogram": step.histogram,
            },
            attributes={"client": self._order.client, "stream": step.stream},
        )
        self._notes.note("done", number, time.time_ns())

    def _flush(self, steps: int, timeout_s: float) -> bool:
        observed = dict(self._observed)
        began_s = time.monotonic()
        is_committed = self._telemetry.flush(timeout_s)
        took_s = round(time.monotonic() - began_s, 3)
        self._notes.note("flush", steps, observed, timeout_s, took_s, is_committed)
        return is_committed

    def _see(self, metric: str) -> Any:
        def callback(_: Any) -> Iterator[nta.Observation]:
            self._notes.note("read", metric, time.time_ns())
            self._observed[metric] += 1
            yield nta.Observation(float(self._observed[metric]), {"client": self._order.client})

        return callback


@ray.remote(num_cpus=0)
class ActorClient:
    """A worker of a run, in a process of its own."""

    def work(self, order: bytes) -> bool:
        """Record until told to stop."""
        told = msgspec.json.decode(order, type=ClientOrder)
        telemetry = nta.connect(
            run_id=told.run_id, worker_group=told.worker_group, rank=told.client, strict=True
        )
        return Client(told, telemetry).work()


def main(order: str) -> None:
    """Be the driver of a run, until told to stop."""
    told = msgspec.json.decode(order, type=ClientOrder)
    ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, configure_logging=False)
    telemetry = nta.start(told.config, run_id=told.run_id, timeout_s=300.0)
    is_committed = Client(told, telemetry).work()
    # A driver that does not say goodbye is one that was killed: it stays until it is.
    with contextlib.suppress(KeyboardInterrupt):
        while not told.says_goodbye:
            time.sleep(1.0)
    sys.exit(not is_committed)


if __name__ == "__main__":
    main(sys.argv[1])
