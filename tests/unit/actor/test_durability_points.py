# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Points, cursors and files over restarts, and at the end."""

from pathlib import Path

import pytest

from nemo_telemetry_actor.errors import RetryableExportError
from nemo_telemetry_actor.state.opening import open_state
from nemo_telemetry_actor.testing import InMemoryExporter
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import declared, gauge_points, sum_delta
from tests.clients import GAUGE, WORKER, Client, join_driver
from tests.lives import durability_of, killed, life, remembered
from tests.unit.actor.durable_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "disk" / "state")


# ---- what an exporter has


async def test_points_go_from_the_file_when_they_are_delivered_though_nothing_is_committed(
    world: World,
) -> None:
    for _ in range(300):
        world.count()
    await world.core.deliveries[0].run_once()

    world.core.tick()

    copy = open_state(killed(world.path, world.path.parent / "copy"), 0, lock_wait_s=0.0)
    assert copy.loaded.points == []
    assert copy.loaded.cursors == {"memory": copy.loaded.head}


def test_an_exporter_that_is_configured_no_more_holds_no_points_back(world: World) -> None:
    world.count()
    world.count()
    other = InMemoryExporter("other")
    second = life(killed(world.path, world.path.parent / "b"), world.clock, [other])

    second.tick()

    copy = open_state(
        killed(world.path.parent / "b", world.path.parent / "c"), 0, lock_wait_s=0.0
    ).loaded
    assert (copy.points, copy.cursors) == ([], {"other": copy.head})


async def test_points_of_a_forgotten_client_are_delivered_as_its_own_after_a_restart(
    world: World,
) -> None:
    driver = join_driver(world.core, run_id="r", run_attributes={"rl.model": "m"})
    world.client.send(GAUGE, closing="client")
    world.core.commit()
    for _ in range(3):
        world.clock.advance(50.0)
        driver.send()
        world.core.tick()
    assert WORKER not in world.core._registry.producers
    before = remembered(world.core)

    second = world.restarted()
    assert remembered(second) == before
    await second.deliveries[0].run_once()

    (part,) = (each for each in world.exporter.snapshots if each.resources)
    (of_client,) = part.resources
    assert of_client.attributes["rl.model"] == "m"
    assert of_client.attributes["nemo.run.id"] == "r"
    assert [metric.declaration.name for metric in of_client.metrics] == ["rl.reward"]
    second.tick()
    assert (
        len(
            open_state(
                killed(durability_of(second)._path or world.path, world.path.parent / "c"),
                0,
                lock_wait_s=0.0,
            ).loaded.producers
        )
        == 1
    )


async def test_points_go_on_being_delivered_after_the_file_was_begun_anew(world: World) -> None:
    for _ in range(5):
        world.count()
    await world.core.deliveries[0].run_once()
    world.core.tick()
    world.path.unlink()
    world.pass_time(1.0)
    second = world.restarted()
    world.exporter.snapshots.clear()
    client = Client(second, WORKER, run_id="r", first_sequence=world.client.sequence)
    client.sequence = world.client.sequence

    client.send(MetricBlock(declared("rl.reward"), [gauge_points([7.0])]))
    second.commit()
    await second.deliveries[0].run_once()

    assert [each.value for each in world.exporter.points("rl.reward")] == [7.0]  # type: ignore[union-attr]


# ---- the end


async def test_nothing_is_left_on_disk_when_all_is_delivered(world: World) -> None:
    world.count()

    assert (await world.core.drain(5.0))["delivered"]

    assert [each.name for each in world.path.parent.iterdir()] == ["state.lock"]


async def test_what_could_not_be_delivered_is_kept_for_the_next_actor(world: World) -> None:
    world.count()
    world.exporter.outcomes.extend([RetryableExportError("down", retry_after_s=60.0)] * 10)

    assert not (await world.core.drain(0.1))["delivered"]

    second = life(world.path, world.clock, [exporter := InMemoryExporter()])
    await second.deliveries[0].run_once()
    assert len(exporter.points("rl.reward")) == 2


def test_a_wall_clock_that_was_set_back_changes_no_start_time(world: World) -> None:
    world.client.send(MetricBlock(declared("rl.late", "counter"), [sum_delta(1.0, at_s=50)]))
    world.core.commit()
    (row,) = (each for each in world.core.series() if each["name"] == "rl.late")
    world.clock._unix_nano -= 3600 * 10**9

    (again,) = (each for each in world.restarted().series() if each["name"] == "rl.late")

    assert again["start_time_unix_nano"] == row["start_time_unix_nano"]
    assert again["value"] == 1.0


async def test_totals_do_not_go_back_in_time_when_the_wall_clock_did_over_a_restart(
    world: World,
) -> None:
    world.count()
    await world.core.deliveries[0].run_once()
    world.clock._unix_nano -= 3600 * 10**9

    await world.restarted().deliveries[0].run_once()

    before, after = (each.time_unix_nano for each in world.exporter.points("rl.steps"))
    assert after >= before
