# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Lives of a core on one state file, and all that a later life must know of an earlier one."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.actor.durability import Durability
from nemo_telemetry_actor.actor.records import _series_body
from nemo_telemetry_actor.config.fields import TelemetryConfig
from nemo_telemetry_actor.export.exporter import PushExporter
from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.state.store import files_of
from nemo_telemetry_actor.testing import FakeClock


def life(
    path: Path,
    clock: FakeClock,
    exporters: Sequence[PushExporter] = (),
    config: TelemetryConfig | None = None,
) -> TelemetryCore:
    """A core on a state file, new or of an earlier life."""
    durability = Durability(
        path, monotonic=clock.monotonic, time_unix_nano=clock.time_ns(), lock_wait_s=0.0
    )
    return TelemetryCore(
        config or TelemetryConfig(),
        exporters,
        time_ns=clock.time_ns,
        monotonic=clock.monotonic,
        incarnation="i",
        fresh_run_id=lambda: "fresh",
        durability=durability,
    )


def killed(path: Path, copy: Path) -> Path:
    """What a kill at this instant leaves on disk: the files as they are, in another place."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    for each, other in list(zip(files_of(path), files_of(copy), strict=True))[:2]:
        if each.exists():
            shutil.copyfile(each, other)
    return copy


def durability_of(core: TelemetryCore) -> Durability:
    return core._durability


def remembered(core: TelemetryCore) -> dict[str, Any]:
    """Everything that a restart must not change, of what is committed; whole values."""
    registry = core._registry
    return {
        "runs": {
            run.run_id: (
                run.opened_unix_nano,
                run.ended_unix_nano,
                run.driver_id,
                run.jobs,
                run.attributes,
                {each.client_id: _producer(each) for each in run.everyone()},
            )
            for run in registry.runs.values()
        },
        "current": {key: each.run.run_id for key, each in registry.producers.items()},
        "jobs": dict(registry.run_of_job),
        "placements": {run_id: core._placements.sets(run_id) for run_id in registry.runs},
        "series": registry.series_count,
        "head": core._log.head,
        "waiting": {each.exporter.name: _waiting(core, each.position) for each in core.deliveries},
    }


def _producer(producer: Producer) -> tuple[Any, ...]:
    metrics = {
        encoded: (
            metric.state(),
            metric.observed,
            {key: _series_body(series) for key, series in metric.series.items()},
        )
        for encoded, metric in producer.metrics.items()
        if metric.series or metric.state()[0]
    }
    return (
        producer.attributes,
        # A client has one window, wherever it was before.
        None if producer.has_moved else producer.window.state(),
        producer.accepted,
        producer.is_closed,
        producer.has_lease,
        producer.resource(),
        metrics,
    )


def _waiting(core: TelemetryCore, position: int) -> tuple[int, Any]:
    columns = core._log.read(position, 1_000_000).columns
    return position, [
        (
            column.metric.producer.resource(),
            column.metric.declaration,
            column.attributes,
            column.start_time_unix_nano,
            column.times_unix_nano,
            column.values,
        )
        for column in columns
    ]
