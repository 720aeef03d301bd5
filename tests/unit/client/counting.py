# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A group with a counter, whose total says whether each value arrived once."""

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.config.fields import ClientConfig, TelemetryConfig
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.testing import InProcess
from nemo_telemetry_actor.wire.messages import Batch

SPECS = (
    MetricSpec("score", "rl.env.score"),
    MetricSpec("tokens", "rl.env.tokens", "counter"),
)
LAZY = TelemetryConfig(client=ClientConfig(flush_interval_s=20.0))
"""Nothing moves by itself."""
BRISK = TelemetryConfig(client=ClientConfig(flush_interval_s=0.05))


def ready(telemetry: Telemetry) -> Telemetry:
    telemetry.register_metric_group("env", SPECS)
    assert telemetry.flush()  # what a client says of itself when it joins is out of the way
    return telemetry


def said(way: InProcess) -> list[Batch]:
    """The batches with values or a goodbye, each as often as it was sent."""
    return [batch for batch in way.batches if batch.metrics or batch.closing]


def values(core: TelemetryCore, name: str) -> list[float]:
    return [row["value"] for row in core.series() if row["name"] == name]


def count(telemetry: Telemetry, *amounts: float) -> None:
    for amount in amounts:
        telemetry.record("env", tokens=amount)
