# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The end of the core: what is left is delivered, within the time, and the answer says so."""

import asyncio

from nemo_telemetry_actor.actor.core import TelemetryCore
from nemo_telemetry_actor.client.telemetry import Telemetry
from nemo_telemetry_actor.errors import ExportError, RetryableExportError
from nemo_telemetry_actor.export.exporter import ExportResult
from nemo_telemetry_actor.model.instrument import MetricSpec
from nemo_telemetry_actor.model.points import Snapshot
from nemo_telemetry_actor.testing import FakeClock, InMemoryExporter, connected, new_core


class HangingExporter(InMemoryExporter):
    """Takes a message and never answers."""

    async def export(self, snapshot: Snapshot) -> ExportResult:
        del snapshot
        await asyncio.Event().wait()
        raise AssertionError("nobody sets the event")


def _one_value_recorded(core: TelemetryCore) -> Telemetry:
    telemetry = connected(core)
    telemetry.register_metric_group("env", [MetricSpec("score", "rl.env.score")])
    telemetry.record("env", {"score": 0.8})
    assert telemetry.flush()
    return telemetry


async def test_every_exporter_gets_what_is_left_and_is_released() -> None:
    exporters = [InMemoryExporter("a"), InMemoryExporter("b")]
    core = new_core(exporters=exporters)
    telemetry = _one_value_recorded(core)

    answer = await core.drain(timeout_s=5.0)

    telemetry.shutdown()
    assert answer["delivered"] is True
    assert [(each["name"], each["delivered"], each["sent"]) for each in answer["exporters"]] == [
        ("a", True, 1),
        ("b", True, 1),
    ]
    assert [exporter.is_shut_down for exporter in exporters] == [True, True]


async def test_a_client_that_still_reports_is_counted() -> None:
    core = new_core()
    telemetry = _one_value_recorded(core)

    before = await core.drain(timeout_s=5.0)
    telemetry.shutdown()
    after = await core.drain(timeout_s=5.0)

    assert (before["clients"], after["clients"]) == (1, 0)


async def test_an_exporter_that_hangs_is_given_up_and_costs_the_others_nothing() -> None:
    core = new_core(exporters=[HangingExporter("hangs"), InMemoryExporter("well")])
    telemetry = _one_value_recorded(core)

    answer = await core.drain(timeout_s=0.05)

    telemetry.shutdown()
    assert answer["delivered"] is False
    assert [(each["name"], each["delivered"]) for each in answer["exporters"]] == [
        ("hangs", False),
        ("well", True),
    ]
    assert answer["exporters"][0]["backlog_points"] == 1


async def test_a_backend_that_is_back_gets_its_points_although_our_wait_is_not_over() -> None:
    clock = FakeClock()
    exporter = InMemoryExporter(outcomes=[RetryableExportError("down")] * 5)
    core = new_core(exporters=[exporter], clock=clock)
    telemetry = _one_value_recorded(core)
    for _ in range(5):
        await core.deliveries[0].run_once(hurry=True)

    answer = await core.drain(timeout_s=5.0)

    telemetry.shutdown()
    assert answer["delivered"] is True
    assert len(exporter.points("rl.env.score")) == 1


async def test_a_wait_that_the_backend_asked_for_is_kept_and_ends_the_drain_at_once() -> None:
    exporter = InMemoryExporter(outcomes=[RetryableExportError("busy", retry_after_s=600.0)])
    core = new_core(exporters=[exporter], clock=FakeClock())
    telemetry = _one_value_recorded(core)
    await core.deliveries[0].run_once()

    answer = await core.drain(timeout_s=5.0)

    telemetry.shutdown()
    assert answer["delivered"] is False
    assert exporter.snapshots == []


async def test_what_a_backend_refuses_for_good_is_counted_and_not_left() -> None:
    core = new_core(exporters=[InMemoryExporter(outcomes=[ExportError("bad request")])])
    telemetry = _one_value_recorded(core)

    answer = await core.drain(timeout_s=5.0)

    telemetry.shutdown()
    (state,) = answer["exporters"]
    assert (state["delivered"], state["backlog_points"]) == (True, 0)
    assert state["dropped"] == {"refused": 1}
