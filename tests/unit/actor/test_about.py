# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.model.naming import check_unique
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter, connected, new_core

SCORE = MetricSpec("score", "rl.env.score")


def _own(core: TelemetryCore) -> dict[str, dict[tuple[tuple[str, Any], ...], float]]:
    (resource,) = [
        each for each in core.pull_snapshot().resources if "nemo.run.id" not in each.attributes
    ]
    return {
        metric.declaration.name: {
            tuple(sorted(point.attributes.items())): getattr(point, "value", 0.0)
            for point in metric.points
        }
        for metric in resource.metrics
    }


def test_a_core_says_nothing_of_itself_until_it_is_told_to() -> None:
    core = new_core()

    assert core.pull_snapshot().resources == []


async def test_every_stage_has_its_account() -> None:
    clock = FakeClock()
    backend = InMemoryExporter("backend", outcomes=[RetryableExportError("busy")])
    core = new_core(exporters=[backend], clock=clock)
    core.report_itself()
    telemetry = connected(core, opens_run=True)
    telemetry.register_metric_group("env", [SCORE])
    telemetry.record("env", {"score": 1.0})
    telemetry.record("env", {"score": 2.0})
    assert telemetry.flush()
    (delivery,) = core.deliveries
    assert not await delivery.run_once()

    before = _own(core)
    clock.advance(5.0)
    assert await delivery.run_once()
    after = _own(core)

    here = (("exporter", "backend"),)
    assert before["nemo_telemetry.ingest.accepted"] == {(): 2.0}
    assert before["nemo_telemetry.runs"] == {(("state", "open"),): 1.0}
    assert before["nemo_telemetry.clients"] == {(("state", "live"),): 1.0}
    assert before["nemo_telemetry.registry.series"] == {(): 1.0}
    assert before["nemo_telemetry.state.degraded"] == {(): 0.0}
    of_exporter = [
        (each[f"nemo_telemetry.export.{name}"][here])
        for each in (before, after)
        for name in ("up", "failed", "retried", "backlog", "backlog.size")
    ]
    assert of_exporter == [0.0, 1.0, 0.0, 2.0, 33.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert after["nemo_telemetry.export.sent"][here] >= 2.0
    assert telemetry.shutdown()


async def test_what_it_measures_of_itself_is_exported_under_its_own_resource() -> None:
    backend = InMemoryExporter("backend")
    core = new_core(exporters=[backend])
    core.report_itself()

    assert await core.deliveries[0].run_once()

    (snapshot,) = backend.snapshots
    (resource,) = snapshot.resources
    assert resource.attributes["service.name"] == "nemo-rl-telemetry"
    assert resource.attributes["service.instance.id"] == core.incarnation
    check_unique(metric.declaration for metric in resource.metrics)
    starts = {
        metric.declaration.kind: metric.points[0].start_time_unix_nano
        for metric in resource.metrics
    }
    assert starts["gauge"] == 0
    assert starts["counter"] == core.state()["started_unix_nano"]
