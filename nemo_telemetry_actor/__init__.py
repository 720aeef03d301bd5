# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a reinforcement-learning job on Ray, through one named actor.

The driver calls `start()`, every other process `connect()`; both return a `Telemetry`. Importing
this package loads neither Ray nor OpenTelemetry nor gRPC; `start()` does.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nemo_telemetry_actor.client.connect import connect, install_logger_tee
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.errors import (
    ActorUnavailableError,
    ConfigError,
    ExportError,
    MessageTooLargeError,
    RetryableExportError,
    TelemetryError,
    WireError,
)
from nemo_telemetry_actor.model.instrument import InstrumentKind, MetricSpec, Observation
from nemo_telemetry_actor.version import __version__

if TYPE_CHECKING:
    from nemo_telemetry_actor.actor.lifecycle import start

__all__ = [
    "ActorUnavailableError",
    "ConfigError",
    "ExportError",
    "InstrumentKind",
    "MessageTooLargeError",
    "MetricSpec",
    "Observation",
    "RetryableExportError",
    "Telemetry",
    "TelemetryError",
    "WireError",
    "__version__",
    "connect",
    "install_logger_tee",
    "start",
]


def __getattr__(name: str) -> Callable[..., Any]:
    # The actor's half is loaded when the driver asks for it, never by a worker.
    if name == "start":
        from nemo_telemetry_actor.actor.lifecycle import start

        return start
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
