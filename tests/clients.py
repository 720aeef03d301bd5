# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that report to a core, step by step, and what the core then shows."""

from typing import Any

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.testing import FakeClock
from nemo_telemetry_actor.wire.messages import (
    Ack,
    MetricBlock,
    ObservedSet,
    Welcome,
    decode,
    encode,
)
from tests.batches import (
    batch,
    declared,
    gauge_points,
    hello,
    histogram_delta,
    sum_delta,
)

LEASE_S = 90.0
DRIVER, WORKER, OTHER = "d" * 32, "a" * 32, "b" * 32
GAUGE = MetricBlock(declared("rl.reward"), [gauge_points([1.0, 2.0])])
COUNTER = MetricBlock(declared("rl.steps", "counter"), [sum_delta(3.0)])
HISTOGRAM = MetricBlock(declared("rl.time", "histogram"), [histogram_delta([1, 0, 1], 12, 1, 11)])
SEEN = declared("rl.seen", "observable_gauge")


class Client:
    """What a process does, step by step."""

    def __init__(self, core: TelemetryCore, client_id: str, **greeting: Any) -> None:
        self.core = core
        self.client_id = client_id
        self.greeting = greeting
        self.sequence = 0
        self.join()

    def join(self) -> Welcome:
        greeting = hello(self.client_id, **self.greeting)
        self.welcome = decode(self.core.welcome(encode(greeting)), Welcome)
        return self.welcome

    def send(self, *content: MetricBlock | ObservedSet, closing: Any = "") -> Ack:
        message = batch(self.sequence, *content, client_id=self.client_id, closing=closing)
        self.sequence += 1
        return self.resend(encode(message))

    def resend(self, payload: bytes) -> Ack:
        return decode(self.core.ingest(payload), Ack)


def join_worker(core: TelemetryCore, client_id: str = WORKER, **greeting: Any) -> Client:
    return Client(core, client_id, **({"run_id": "r"} | greeting))


def join_driver(core: TelemetryCore, client_id: str = DRIVER, **greeting: Any) -> Client:
    return join_worker(core, client_id, opens_run=True, **greeting)


def shown(core: TelemetryCore) -> dict[str, dict[str, float]]:
    """Run → metric → value, as pages and commands see it."""
    shown: dict[str, dict[str, float]] = {}
    for row in core.series():
        value = row["sum"] if row["kind"] == "histogram" else row["value"]
        shown.setdefault(row["run_id"], {})[row["name"]] = value
    return shown


def pass_time(core: TelemetryCore, clock: FakeClock, seconds: float, *alive: Client) -> None:
    """Let time pass in steps shorter than a lease, in which some clients send heartbeats."""
    while seconds > 0:
        clock.advance(min(seconds, 30.0))
        seconds -= 30.0
        for client in alive:
            assert client.send().status == "ok"
        core.tick()


def run_states(core: TelemetryCore) -> dict[str, str]:
    return {run["run_id"]: run["state"] for run in core.state()["runs"]}
