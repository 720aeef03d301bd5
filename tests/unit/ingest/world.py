# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""An admission over a registry with one client."""

from collections.abc import Mapping
from typing import Any

from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.model.attributes import OVERFLOW_ATTRIBUTES, decode_attributes
from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.wire.messages import (
    MetricBlock,
    ObservedSet,
)
from tests.batches import (
    batch,
    declared,
    hello,
)
from tests.snapshots import T0

SECOND = 10**9
GAUGE, COUNTER = declared("rl.reward"), declared("rl.steps", "counter")
UP_DOWN, HISTOGRAM = declared("rl.live", "up_down_counter"), declared("rl.time", "histogram")
SEEN, COUNTED = declared("rl.seen", "observable_gauge"), declared("rl.read", "observable_counter")
OVERFLOW = decode_attributes(OVERFLOW_ATTRIBUTES)


class World:
    def __init__(
        self, *, series_per_metric: int = 10, series: int = 100, keep_points: bool = True
    ) -> None:
        self.registry = Registry(lease_s=30.0, fresh_run_id=lambda: "r")
        self.admission = Admission(
            self.registry,
            series_per_metric=series_per_metric,
            series=series,
            keep_points=keep_points,
        )
        self.producer = self.join("a" * 32)
        self.sequence = 0

    def join(self, client_id: str) -> Producer:
        return self.registry.join(hello(client_id, run_id="r"), T0, 0.0)

    def send(self, *content: MetricBlock | ObservedSet, now: int = T0) -> None:
        self.admission.apply(self.producer, batch(self.sequence, *content), now)
        self.sequence += 1

    def account(self) -> tuple[int, Mapping[Any, int]]:
        return self.admission.accepted, self.admission.dropped

    def logged(self) -> list[tuple[str, list[float]]]:
        columns = self.registry.commit()
        return [(column.metric.declaration.name, column.values) for column in columns]

    def values(self, declaration: bytes) -> dict[tuple[tuple[str, Any], ...], float]:
        """Attributes → total or newest value of a metric, applied or not."""
        return {
            tuple(series.attributes.items()): getattr(series, "total", getattr(series, "value", 0))
            for series in self.producer.metrics[declaration].series.values()
        }
