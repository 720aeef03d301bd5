# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The job's logger: NeMo-RL's `log_metrics`, handing on to a history in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import nemo_telemetry_actor as nta


class LoggerBackend(Protocol):
    """Takes what the job logs."""

    def log_metrics(self, metrics: Mapping[str, Any], step: int, prefix: str) -> None:
        """Take one dict of one step."""


@dataclass(frozen=True)
class LoggedRow:
    """One `log_metrics` call."""

    step: int
    prefix: str
    metrics: dict[str, Any]


@dataclass
class History:
    """Keeps every row of the run, as the job logged it; a run's length bounds it."""

    rows: list[LoggedRow] = field(default_factory=list)

    def log_metrics(self, metrics: Mapping[str, Any], step: int, prefix: str) -> None:
        """Append one row."""
        self.rows.append(LoggedRow(step, prefix, dict(metrics)))

    def series(self, prefix: str, key: str) -> list[tuple[int, float]]:
        """Return the steps and values of one key, in the order they were logged."""
        return [
            (row.step, row.metrics[key])
            for row in self.rows
            if row.prefix == prefix and key in row.metrics
        ]


class ValidationBackend:
    """Records the held-out accuracy, which no series of the tee is about.

    Args:
        telemetry: The driver's handle; gets the metric group `digits_validation`.
    """

    def __init__(self, telemetry: nta.Telemetry) -> None:
        self._telemetry = telemetry
        telemetry.register_metric_group(
            "digits_validation",
            [
                nta.MetricSpec(
                    "accuracy",
                    "digits.validation.accuracy",
                    unit="1",
                    description="Share of held-out images whose likeliest answer is right.",
                )
            ],
        )

    def log_metrics(self, metrics: Mapping[str, Any], step: int, prefix: str) -> None:
        """Record what is logged under `validation`."""
        del step
        if prefix == "validation":
            self._telemetry.record("digits_validation", metrics)


class Logger:
    """Fans a step's metrics out to backends; the methods a training loop calls."""

    def __init__(self, backends: list[LoggerBackend]) -> None:
        self._backends = backends

    def log_metrics(
        self,
        metrics: dict[str, Any],
        step: int,
        prefix: str | None = "",
        step_metric: str | None = None,
        step_finished: bool = False,
    ) -> None:
        """Hand one dict of one step to every backend; the last two are for axes of W&B alone."""
        for backend in self._backends:
            backend.log_metrics(metrics, step, prefix or "")
