# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A registry, its admission and a clock."""

from typing import Any

from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.registry.registry import (
    Registry,
)
from nemo_telemetry_actor.testing import FakeClock
from nemo_telemetry_actor.wire.messages import MetricBlock, ObservedSet
from tests.batches import batch, hello

LEASE_S = 30.0
DRIVER, WORKER, OTHER = "d" * 32, "a" * 32, "b" * 32


class World:
    """A registry, its admission and a clock."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.fresh = 0
        self.registry = Registry(lease_s=LEASE_S, fresh_run_id=self._fresh_run_id)
        self.admission = Admission(
            self.registry, series_per_metric=10, series=100, keep_points=True
        )

    def join(self, client_id: str = WORKER, **changes: Any) -> Producer:
        greeting = hello(client_id, **changes)
        return self.registry.join(greeting, self.clock.time_ns(), self.clock.monotonic())

    def drive(self, run_id: str, client_id: str = DRIVER, **changes: Any) -> Producer:
        return self.join(client_id, run_id=run_id, opens_run=True, **changes)

    def send(self, producer: Producer, sequence: int, *content: MetricBlock | ObservedSet) -> None:
        message = batch(sequence, *content, client_id=producer.client_id)
        self.admission.apply(producer, message, self.clock.time_ns())

    def pass_time(self, seconds: float, *alive: Producer) -> list[str]:
        """Let time pass in which some clients are heard; return the runs that ended."""
        self.clock.advance(seconds)
        for producer in alive:
            self.registry.renew(producer, self.clock.time_ns(), self.clock.monotonic())
        ended = self.registry.expire(self.clock.time_ns(), self.clock.monotonic())
        return [run.run_id for run in ended]

    def forget(self, exported_revision: int = 10**9) -> None:
        self.registry.forget_finished(self.clock.monotonic(), exported_revision)

    def _fresh_run_id(self) -> str:
        self.fresh += 1
        return f"fresh-{self.fresh}"
