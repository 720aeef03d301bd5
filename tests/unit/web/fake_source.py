# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A status source with values that tests set."""

from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import MetricData, NumberPoint, ResourceData, Snapshot


class FakeSource:
    """Shows what it was given."""

    def __init__(self, snapshot: Snapshot | None = None, problem: str | None = None) -> None:
        self.snapshot = Snapshot([]) if snapshot is None else snapshot
        self.problem = problem
        self.pulls = 0

    def pull_snapshot(self) -> Snapshot:
        self.pulls += 1
        return self.snapshot

    def state(self) -> dict[str, object]:
        return {"runs": ["r1"], "pulls": self.pulls}

    def health(self) -> str | None:
        return self.problem


def one_gauge(value: float = 1.5) -> Snapshot:
    """Return a snapshot of one run with one gauge."""
    gauge = MetricData(Declaration("rl.kl", "gauge"), [NumberPoint({}, 0, 1, value)])
    return Snapshot([ResourceData({"nemo.run.id": "r1"}, [gauge])])
