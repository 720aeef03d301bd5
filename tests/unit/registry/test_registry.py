# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import gc
import weakref

import pytest

from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.registry.registry import (
    ENDED_RUN_KEPT_S,
    LOST_CLIENT_KEPT_S,
)
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import declared, gauge_points, observed, sum_delta
from tests.unit.registry.world import DRIVER, LEASE_S, OTHER, WORKER, World


@pytest.fixture
def world() -> World:
    return World()


def _gauge(name: str = "rl.reward") -> MetricBlock:
    return MetricBlock(declared(name), [gauge_points([1.0])])


def _counter(name: str = "rl.steps") -> MetricBlock:
    return MetricBlock(declared(name, "counter"), [sum_delta(1.0)])


def _open_runs(world: World) -> set[str]:
    return {run.run_id for run in world.registry.runs.values() if run.is_open}


def _short_life(world: World, client_id: str) -> Producer:
    producer = world.join(client_id, run_id="r")
    seen = observed(declared("rl.seen", "observable_gauge"), 1, {"a": 1.0, "b": 2.0})
    world.send(producer, 0, _gauge(), seen)
    world.registry.commit()
    producer.is_closed = True
    return producer


# ---- which run


def test_the_run_a_client_states_wins(world: World) -> None:
    world.drive("of-job", job_id="j1")

    assert world.join(run_id="stated", job_id="j1", scheduler_id="s").run.run_id == "stated"


def test_workers_of_a_job_join_the_run_its_driver_opened(world: World) -> None:
    driver = world.drive("opened", job_id="j1")

    assert world.join(job_id="j1", scheduler_id="s").run is driver.run
    assert world.join(OTHER, job_id="j2", scheduler_id="s").run.run_id == "s"


def test_a_run_is_named_by_the_scheduler_else_afresh(world: World) -> None:
    assert world.join(scheduler_id="4711").run.run_id == "4711"
    assert world.join(OTHER).run.run_id == "fresh-1"


def test_a_driver_joins_the_run_its_worker_came_first_to(world: World) -> None:
    worker = world.join(job_id="j1")

    driver = world.drive("", job_id="j1")

    assert driver.run is worker.run
    assert driver.run.driver_id == DRIVER


def test_a_driver_that_starts_again_after_its_run_opens_another(world: World) -> None:
    first = world.drive("", job_id="j1")
    first.run.end(world.clock.time_ns(), world.clock.monotonic())

    second = world.drive("", OTHER, job_id="j1")

    assert (first.run.run_id, second.run.run_id) == ("fresh-1", "fresh-2")
    assert world.join(job_id="j1").run is second.run


def test_a_job_is_forgotten_with_its_run_and_not_with_an_older_one(world: World) -> None:
    first = world.drive("one", job_id="j1")
    first.run.end(world.clock.time_ns(), world.clock.monotonic())
    second = world.drive("two", OTHER, job_id="j1")

    world.pass_time(LEASE_S + 1, second)
    world.forget()
    assert list(world.registry.runs) == ["two"]
    assert world.join(job_id="j1").run is second.run

    world.pass_time(LEASE_S + 1)
    world.pass_time(LEASE_S + 1)
    world.forget()
    assert world.registry.runs == {}
    assert world.join(WORKER, job_id="j1").run.run_id == "fresh-1"


# ---- leases


def test_only_a_client_with_a_lease_is_known(world: World) -> None:
    producer = world.join()

    assert world.registry.known(WORKER) is producer
    assert world.registry.known(OTHER) is None
    world.pass_time(LEASE_S)
    assert world.registry.known(WORKER) is producer
    world.pass_time(0.1)
    assert world.registry.known(WORKER) is None


def test_a_stalled_client_comes_back_as_itself(world: World) -> None:
    producer = world.join()
    world.send(producer, 0, _counter())
    assert world.pass_time(LEASE_S + 1) == ["fresh-1"]

    again = world.join(run_id="fresh-1", process_attributes={"host.name": "h"}, first_sequence=1)

    assert again is producer
    assert _open_runs(world) == {"fresh-1"}
    assert again.resource()["host.name"] == "h"
    world.send(again, 0, _counter())
    assert world.admission.duplicates == 1


def test_a_run_ends_with_its_driver_although_workers_live(world: World) -> None:
    driver = world.drive("r")
    worker = world.join(run_id="r")

    assert world.pass_time(LEASE_S + 1, worker) == ["r"]

    world.join(OTHER, run_id="r")
    assert _open_runs(world) == set()
    assert world.drive("r", first_sequence=0) is driver
    assert _open_runs(world) == {"r"}
    assert worker.has_lease


def test_a_run_without_a_driver_ends_with_its_last_client(world: World) -> None:
    first, second = world.join(run_id="r"), world.join(OTHER, run_id="r")

    assert world.pass_time(LEASE_S + 1, second) == []
    assert not first.has_lease
    assert world.pass_time(LEASE_S + 1) == ["r"]
    assert world.pass_time(LEASE_S + 1) == []


def test_a_new_driver_takes_a_run_over(world: World) -> None:
    world.drive("r", run_attributes={"nemo.algorithm": "grpo"})
    world.pass_time(LEASE_S - 1)
    successor = world.drive("r", OTHER, run_attributes={"nemo.algorithm": "dpo"})

    assert world.pass_time(LEASE_S - 1) == []
    assert successor.resource()["nemo.algorithm"] == "dpo"


def test_a_run_ends_once(world: World) -> None:
    run = world.drive("r").run
    run.end(1, 1.0)
    run.end(2, 2.0)

    assert (run.ended_unix_nano, run.ended_s) == (1, 1.0)


# ---- a client that moves


def test_a_client_that_moves_ends_in_the_run_it_left(world: World) -> None:
    world.send(world.join(run_id="old"), 0, _counter())
    driver_of_old = world.drive("old")
    moved = world.join(run_id="new")

    old = world.registry.runs["old"].producers[WORKER]
    assert (moved.run.run_id, old.run.run_id) == ("new", "old")
    assert (moved.has_lease, old.has_lease) == (True, False)
    assert world.pass_time(LEASE_S + 1, moved) == ["old"]
    world.pass_time(LEASE_S + 1, moved)
    world.forget()
    assert list(world.registry.runs) == ["new"]
    assert world.registry.known(WORKER) is moved
    assert world.registry.series_count == 0
    assert driver_of_old.client_id not in world.registry.producers


def test_a_batch_sent_again_after_a_move_counts_once(world: World) -> None:
    world.send(world.join(run_id="old"), 0, _counter())

    moved = world.join(run_id="new", first_sequence=0)
    world.send(moved, 0, _counter())
    world.send(moved, 1, _counter())

    assert world.admission.duplicates == 1
    assert moved.accepted == 1


def test_a_client_that_moves_and_has_no_totals_leaves_nothing(world: World) -> None:
    world.send(world.join(run_id="old"), 0, _gauge())

    world.join(run_id="new")

    assert world.registry.runs["old"].producers == {}
    assert world.registry.series_count == 0
    assert world.pass_time(0.0) == ["old"]


def test_a_client_that_moves_back_finds_its_totals(world: World) -> None:
    first = world.join(run_id="one")
    world.send(first, 0, _counter())
    world.join(run_id="two")

    back = world.join(run_id="one")
    world.send(back, 1, _counter())

    assert back is first
    assert back.has_lease
    assert not back.is_closed
    assert world.registry.series_count == 1
    (series,) = back.metrics[declared("rl.steps", "counter")].series.values()
    assert series.total == 2.0  # type: ignore[union-attr]


# ---- memory


def test_an_ended_run_is_kept_until_its_totals_are_exported(world: World) -> None:
    producer = world.join(run_id="r")
    world.send(producer, 0, _counter())
    world.registry.commit()
    world.pass_time(LEASE_S + 1)

    world.pass_time(LEASE_S + 1)
    world.forget(exported_revision=0)
    assert list(world.registry.runs) == ["r"]
    world.pass_time(ENDED_RUN_KEPT_S)
    world.forget(exported_revision=0)
    assert world.registry.runs == {}


def test_an_exported_run_is_kept_for_a_lease_and_while_a_client_lives(world: World) -> None:
    world.drive("r")
    worker = world.join(run_id="r")
    world.pass_time(LEASE_S + 1, worker)

    world.pass_time(LEASE_S, worker)
    world.forget()
    assert list(world.registry.runs) == ["r"]
    world.pass_time(LEASE_S, worker)
    world.forget()
    assert list(world.registry.runs) == ["r"]
    world.pass_time(LEASE_S + 1)
    world.forget()

    assert world.registry.runs == {}
    assert world.registry.producers == {}


def test_a_closed_client_without_totals_goes_with_its_lease(world: World) -> None:
    driver = world.drive("r")
    gauges, totals = world.join(run_id="r"), world.join(OTHER, run_id="r")
    world.send(gauges, 0, _gauge())
    world.send(totals, 0, _counter())
    gauges.is_closed = totals.is_closed = True

    world.pass_time(LEASE_S + 1, driver)

    assert set(driver.run.producers) == {DRIVER, OTHER}
    assert world.registry.series_count == 1


def test_a_lost_client_without_totals_is_remembered_for_a_while(world: World) -> None:
    driver = world.drive("r")
    world.send(world.join(run_id="r"), 0, _gauge())

    world.pass_time(LEASE_S + LOST_CLIENT_KEPT_S, driver)
    assert WORKER in world.registry.producers
    world.pass_time(1.0, driver)

    assert set(driver.run.producers) == set(world.registry.producers) == {DRIVER}
    assert world.registry.series_count == 0


def test_a_thousand_short_lived_clients_leave_nothing(world: World) -> None:
    driver = world.drive("r")
    kept: list[weakref.ref[Producer]] = []
    counts = set()
    for i in range(100):
        for j in range(10):
            kept.append(weakref.ref(_short_life(world, f"{i:016x}{j:016x}")))
            counts.add(world.registry.series_count)
        world.pass_time(LEASE_S + 1, driver)
        world.registry.commit()

    gc.collect()
    assert max(counts) == 30
    assert world.registry.series_count == 0
    assert set(world.registry.producers) == {DRIVER}
    assert [each for each in kept if each() is not None] == []


def test_nothing_new_is_no_reason_to_commit(world: World) -> None:
    producer = world.join()
    world.registry.commit()

    seen = [world.registry.has_uncommitted]
    world.send(producer, 0, _gauge())
    seen.append(world.registry.has_uncommitted)
    assert len(world.registry.commit()) == 1
    seen.append(world.registry.has_uncommitted)

    assert seen == [False, True, False]
    assert world.registry.commit() == []
