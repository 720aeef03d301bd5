# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging

import pytest

from tests.unit.registry.world import World


@pytest.fixture
def world() -> World:
    return World()


def test_a_resource_is_the_runs_under_the_processs_under_the_identity(world: World) -> None:
    world.drive("r", run_attributes={"service.name": "s", "nemo.run.id": "other", "x": 1})
    worker = world.join(
        run_id="r", process_attributes={"x": 2, "rl.worker_group": "policy", "nv.dl.rank": 0}
    )

    assert worker.resource() == {
        "service.name": "s",
        "x": 2,
        "rl.worker_group": "policy",
        "nv.dl.rank": 0,
        "nemo.run.id": "r",
        "service.instance.id": "r-policy-rank0-aaaaaaaa",
    }
    assert worker.resource() is worker.resource()


def test_a_resource_follows_what_is_said_later(world: World) -> None:
    worker = world.join(run_id="r", process_attributes={"x": 1})
    before = worker.resource()

    world.drive("r", run_attributes={"service.name": "s"})
    described = worker.resource()
    world.join(run_id="r", process_attributes={"x": 2})

    assert ("service.name" in before, described["service.name"]) == (False, "s")
    assert worker.resource()["x"] == 2


def test_a_resource_attribute_that_cannot_travel_is_left_out(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        producer = world.join(
            run_id="r", process_attributes={"": 1, "a": {"b": 1}, "c": [1, "x"], "d": [1, 2]}
        )

    assert dict(producer.attributes) == {"d": (1, 2)}
    assert len(caplog.records) == 3
