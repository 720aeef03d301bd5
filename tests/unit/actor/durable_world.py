# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A core on a state file, one client, and what a restart at any instant would find."""

from pathlib import Path

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter
from tests.clients import COUNTER, GAUGE, WORKER, Client
from tests.lives import durability_of, killed, life, remembered


class World:
    """A core on a state file, one client, and what a restart at this instant would find."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = FakeClock()
        self.restarts = 0
        self.exporter = InMemoryExporter()
        self.core = life(path, self.clock, [self.exporter])
        self.client = Client(self.core, WORKER, run_id="r")
        self.durability = durability_of(self.core)

    def count(self) -> None:
        """Record a step and a reward, committed."""
        assert self.client.send(COUNTER, GAUGE).status == "ok"
        self.core.commit()

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        assert self.client.send().status == "ok"
        self.core.tick()

    def restarted(self) -> TelemetryCore:
        self.restarts += 1
        copy = killed(self.path, self.path.parent.parent / f"copy{self.restarts}" / "state")
        return life(copy, self.clock, [self.exporter])

    def end(self) -> None:
        """Let go of the file as a killed process does."""
        assert self.durability._store is not None
        self.durability._store.close()

    def is_durable(self) -> bool:
        return not self.durability.is_degraded and remembered(self.restarted()) == remembered(
            self.core
        )
