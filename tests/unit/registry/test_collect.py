# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.ingest.admit import Admission
from nemo_telemetry_actor.model.points import NumberPoint, Snapshot
from nemo_telemetry_actor.registry.collect import (
    snapshot_of_now,
    snapshot_of_points,
    snapshot_of_totals,
)
from nemo_telemetry_actor.registry.producers import Producer
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import (
    batch,
    declared,
    gauge_points,
    hello,
    histogram_delta,
    observed,
    sum_delta,
)
from tests.snapshots import T0

SECOND = 10**9


class World:
    def __init__(self) -> None:
        self.registry = Registry(lease_s=30.0, fresh_run_id=lambda: "r")
        self.admission = Admission(
            self.registry, series_per_metric=10, series=100, keep_points=True
        )

    def join(self, client_id: str = "a" * 32) -> Producer:
        return self.registry.join(hello(client_id, run_id="r"), T0, 0.0)


@pytest.fixture
def world() -> World:
    return World()


def _brief(snapshot: Snapshot) -> dict[str, list[tuple[str, list[float]]]]:
    """Client → (metric, values)."""
    return {
        str(resource.attributes["service.instance.id"])[-1]: [
            (
                metric.declaration.name,
                [
                    each.value if isinstance(each, NumberPoint) else each.sum
                    for each in metric.points
                ],
            )
            for metric in resource.metrics
        ]
        for resource in snapshot.resources
    }


def _everything(world: World, producer: Producer) -> None:
    message = batch(
        0,
        MetricBlock(declared("rl.reward"), [gauge_points([1.0, 2.0])]),
        MetricBlock(declared("rl.steps", "counter"), [sum_delta(3.0)]),
        MetricBlock(declared("rl.time", "histogram"), [histogram_delta([1, 0, 1], 12, 0.5, 11.5)]),
        observed(declared("rl.seen", "observable_gauge"), 1, {"x": 5.0}),
    )
    world.admission.apply(producer, message, T0)


def test_nothing_is_shown_before_its_commit(world: World) -> None:
    producer = world.join()
    _everything(world, producer)

    assert _brief(snapshot_of_now([producer], T0)) == {"a": []}
    assert snapshot_of_totals([producer], 0, T0) == Snapshot([])


def test_now_is_totals_and_what_living_processes_vouch_for(world: World) -> None:
    producer = world.join()
    _everything(world, producer)
    world.registry.commit()

    alive = _brief(snapshot_of_now([producer], T0))
    producer.has_lease = False
    dead = _brief(snapshot_of_now([producer], T0))

    assert alive == {
        "a": [("rl.reward", [2.0]), ("rl.steps", [3.0]), ("rl.time", [12.0]), ("rl.seen", [5.0])]
    }
    assert dead == {"a": [("rl.steps", [3.0]), ("rl.time", [12.0])]}


def test_a_dead_process_without_totals_is_not_shown_at_all(world: World) -> None:
    producer = world.join()
    producer.has_lease = False

    assert snapshot_of_now([producer], T0) == Snapshot([])


def test_totals_are_those_committed_after_a_revision(world: World) -> None:
    first, second = world.join(), world.join("b" * 32)
    _everything(world, first)
    world.registry.commit()
    _everything(world, second)
    world.registry.commit()

    changed = snapshot_of_totals([first, second], 1, T0 + 9)

    assert _brief(changed) == {"b": [("rl.steps", [3.0]), ("rl.time", [12.0])]}
    assert set(_brief(snapshot_of_totals([first, second], 0, T0))) == {"a", "b"}
    assert changed.resources[0].metrics[0].points[0].time_unix_nano == T0 + 9


def test_points_are_grouped_by_series_and_in_order_of_time(world: World) -> None:
    first, second = world.join(), world.join("b" * 32)
    declaration = declared("rl.reward")
    for producer, sequence, value, first_s in (
        (first, 0, 3.0, 3),
        (second, 0, 9.0, 0),
        (first, 1, 1.0, 1),
    ):
        block = MetricBlock(declaration, [gauge_points([value], {"k": 1}, first_s=first_s)])
        world.admission.apply(producer, batch(sequence, block), T0)

    snapshot = snapshot_of_points(world.registry.commit())

    assert _brief(snapshot) == {"a": [("rl.reward", [1.0, 3.0])], "b": [("rl.reward", [9.0])]}
    assert snapshot.resources[0].metrics[0].points == [
        NumberPoint({"k": 1}, 0, T0 + SECOND, 1.0),
        NumberPoint({"k": 1}, 0, T0 + 3 * SECOND, 3.0),
    ]
