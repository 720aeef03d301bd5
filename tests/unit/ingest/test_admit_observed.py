# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.wire.messages import (
    MetricBlock,
    ObservedSet,
)
from tests.batches import (
    declared,
    observed,
    sum_delta,
)
from tests.snapshots import T0
from tests.unit.ingest.world import COUNTED, COUNTER, GAUGE, SECOND, SEEN, World


@pytest.fixture
def world() -> World:
    return World()


def _starts(world: World) -> dict[str, int]:
    world.registry.commit()
    points = world.producer.metrics[COUNTED].observed
    return {str(point.attributes["k"]): point.start_time_unix_nano - T0 for point in points}


def test_a_set_replaces_the_one_before_whole(world: World) -> None:
    world.send(observed(SEEN, 1, {"x": 1.0, "y": 2.0}, at_s=1))
    world.registry.commit()
    world.send(observed(SEEN, 2, {"y": 3.0}, at_s=2))
    before = world.producer.metrics[SEEN].observed

    world.registry.commit()

    assert len(before) == 2
    expected = (NumberPoint({"k": "y"}, 0, T0 + 2 * SECOND, 3.0),)
    assert world.producer.metrics[SEEN].observed == expected
    assert world.registry.series_count == world.producer.series_count == 1


def test_an_empty_set_ends_what_was_there(world: World) -> None:
    world.send(observed(SEEN, 1, {"x": 1.0}))
    world.send(observed(SEEN, 2, {}))
    world.registry.commit()

    assert world.producer.metrics[SEEN].observed == ()
    assert world.registry.series_count == 0


def test_a_late_set_replaces_nothing_and_is_delivered_with_its_own_time(world: World) -> None:
    world.send(observed(SEEN, 2, {"x": 2.0}, at_s=2))
    world.send(observed(SEEN, 1, {"x": 1.0}, at_s=1))

    columns = world.registry.commit()

    assert [each.value for each in world.producer.metrics[SEEN].observed] == [2.0]
    assert [(c.times_unix_nano, c.values) for c in columns] == [
        ([T0 + 2 * SECOND], [2.0]),
        ([T0 + SECOND], [1.0]),
    ]
    assert world.account() == (2, {})
    assert world.producer.accepted == 2


def test_an_observed_total_keeps_its_start_until_it_falls(world: World) -> None:
    world.send(observed(COUNTED, 1, {"x": 1.0, "y": 5.0}, at_s=1))
    world.send(observed(COUNTED, 2, {"x": 2.0, "y": 4.0}, at_s=2))

    assert _starts(world) == {"x": SECOND, "y": 2 * SECOND}


def test_an_observed_total_that_was_absent_for_a_while_has_not_restarted(world: World) -> None:
    world.send(observed(COUNTED, 1, {"x": 1.0}, at_s=1))
    world.send(observed(COUNTED, 2, {}, at_s=2))
    world.send(observed(COUNTED, 3, {"x": 1.0}, at_s=3))

    assert _starts(world) == {"x": SECOND}


def test_a_late_observed_total_has_not_fallen(world: World) -> None:
    world.send(observed(COUNTED, 1, {"x": 1.0}, at_s=1))
    world.send(observed(COUNTED, 3, {"x": 3.0}, at_s=3))
    world.send(observed(COUNTED, 2, {"x": 2.0}, at_s=2))
    world.send(observed(COUNTED, 4, {"x": 4.0}, at_s=4))

    assert {c.start_time_unix_nano - T0 for c in world.registry.commit()} == {SECOND}


def test_a_total_observed_by_a_late_first_set_starts_no_later_than_its_time(world: World) -> None:
    world.send(observed(COUNTED, 2, {"x": 2.0}, at_s=2))
    world.send(observed(COUNTED, 1, {"x": 1.0}, at_s=1))

    starts = [c.start_time_unix_nano - T0 for c in world.registry.commit()]
    assert starts == [2 * SECOND, SECOND]


def test_absent_totals_are_forgotten_when_there_are_too_many() -> None:
    world = World(series_per_metric=1)

    for i, key in enumerate("abcda"):
        world.send(observed(COUNTED, i + 1, {key: 1.0}, at_s=i))

    assert _starts(world) == {"a": 4 * SECOND}


def test_an_observed_level_may_fall(world: World) -> None:
    level = declared("rl.open", "observable_up_down_counter")
    world.send(observed(level, 1, {"x": 5.0}, at_s=1))
    world.send(observed(level, 2, {"x": 3.0}, at_s=2))

    assert {c.start_time_unix_nano for c in world.registry.commit()} == {T0 + SECOND}


def test_of_a_set_that_is_too_large_the_first_points_are_taken() -> None:
    world = World(series_per_metric=2)

    world.send(observed(SEEN, 1, {"x": 1.0, "y": 2.0, "z": 3.0}))

    assert world.account() == (2, {"cardinality_limit": 1})
    assert world.logged() == [("rl.seen", [1.0]), ("rl.seen", [2.0])]


def test_a_set_may_take_the_places_of_the_one_it_replaces() -> None:
    world = World(series=3)
    world.send(MetricBlock(COUNTER, [sum_delta(1.0)]), observed(SEEN, 1, {"x": 1.0, "y": 1.0}))

    world.send(observed(SEEN, 2, {"y": 1.0, "z": 1.0, "w": 1.0}))

    assert world.account() == (5, {"cardinality_limit": 1})
    assert world.registry.series_count == 3


@pytest.mark.parametrize(
    ("reason", "bad"),
    [
        ("undeclared", observed(b"\xc1", 1, {"x": 1.0})),
        ("undeclared", observed(GAUGE, 1, {"x": 1.0})),
        ("bad_value", observed(SEEN, 1, {"x": math.nan})),
        ("bad_value", ObservedSet(SEEN, 1, 0, [(b"\x90", 1.0)])),
        ("bad_value", ObservedSet(SEEN, 1, T0, [(b"\x91\x01", 1.0)])),
    ],
)
def test_a_malformed_set_is_dropped_alone(world: World, reason: str, bad: ObservedSet) -> None:
    world.send(bad, observed(COUNTED, 2, {"x": 1.0}))

    assert world.account() == (1, {reason: 1})
    assert list(world.producer.metrics) == [COUNTED]


def test_an_attribute_set_observed_twice_is_no_set(world: World) -> None:
    world.send(ObservedSet(SEEN, 1, T0, [(b"\x90", 1.0), (b"\x90", 2.0)]))

    assert world.account() == (0, {"bad_value": 2})


def test_a_refused_set_without_points_drops_nothing(world: World) -> None:
    world.send(ObservedSet(SEEN, 1, 0, []))

    assert world.account() == (0, {"bad_value": 0})
