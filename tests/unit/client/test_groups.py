# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import threading

import pytest

from nemo_telemetry_actor.client.groups import SELF_GROUP, GroupRegistry
from nemo_telemetry_actor.model.instrument import DEFAULT_BOUNDARIES, MetricSpec, Scope

SCORE = MetricSpec("score", "rl.env.score")
LENGTH = MetricSpec("length", "rl.env.length")
LIVE = MetricSpec("live", "rl.env.live", "observable_gauge", callback=lambda _: ())


def registry() -> GroupRegistry:
    return GroupRegistry(Scope())


def test_a_group_may_be_declared_from_any_iterable() -> None:
    groups = registry()

    groups.register("env", iter([SCORE, LENGTH]))

    assert groups.registered() == {"env": (SCORE, LENGTH)}


@pytest.mark.parametrize(
    ("group", "specs", "message"),
    [
        ("", [SCORE], "non-empty"),
        (SELF_GROUP, [SCORE], "reserved"),
        ("env", [], "no specs"),
        ("env", [SCORE, MetricSpec("score", "rl.other")], "duplicate key 'score'"),
        ("taken", [SCORE], "registered already"),
        ("env", [MetricSpec("a", "rl.x"), MetricSpec("b", "rl/x")], "rename one of them"),
        ("env", [MetricSpec("a", "rl.taken", "counter")], "rename one of them"),
    ],
)
def test_a_wrong_declaration_is_refused_and_changes_nothing(
    group: str, specs: list[MetricSpec], message: str
) -> None:
    groups = registry()
    groups.register("taken", [MetricSpec("t", "rl.taken")])

    with pytest.raises(ValueError, match=message):
        groups.register(group, specs)

    assert list(groups.registered()) == ["taken"]


def test_two_groups_may_declare_the_same_metric() -> None:
    groups = registry()
    groups.register("train", [SCORE])

    groups.register("validation", [SCORE])

    assert list(groups.registered()) == ["train", "validation"]


def test_an_override_replaces_the_group_whole() -> None:
    groups = registry()
    groups.register("env", [SCORE])

    groups.register("env", [MetricSpec("score", "rl.env.score", "counter")], allow_override=True)

    assert [spec.kind for spec in groups.registered()["env"]] == ["counter"]


@pytest.mark.parametrize("group", ["env", SELF_GROUP])
def test_forgetting_a_group_that_is_not_there_is_an_error(group: str) -> None:
    with pytest.raises(ValueError, match="is not registered"):
        registry().unregister(group)


def test_a_forgotten_group_is_gone() -> None:
    groups = registry()
    groups.register("env", [SCORE])

    groups.unregister("env")

    assert groups.registered() == {}


def test_what_registered_returns_is_a_copy() -> None:
    groups = registry()

    groups.registered()["x"] = (SCORE,)

    assert groups.registered() == {}


def test_a_buffered_entry_keeps_the_group_it_was_meant_for() -> None:
    groups = registry()
    before = groups.register("env", [SCORE])

    groups.register("env", [LENGTH], allow_override=True)

    assert list(before.metrics) == ["score"]


def test_observables_are_the_metrics_that_a_callback_feeds() -> None:
    groups = registry()
    groups.register("env", [SCORE, LIVE])

    assert [metric.spec.key for metric in groups.observables()] == ["live"]


def test_a_histogram_without_boundaries_has_those_of_the_specification() -> None:
    groups = registry()
    bound = groups.register(
        "env",
        [
            MetricSpec("a", "rl.a", "histogram"),
            MetricSpec("b", "rl.b", "histogram", boundaries=(1, 2)),
            MetricSpec("c", "rl.c", "histogram", boundaries=()),
        ],
    )

    assert [metric.boundaries for metric in bound.metrics.values()] == [
        DEFAULT_BOUNDARIES,
        (1.0, 2.0),
        (),
    ]


def test_a_child_can_register_although_the_parent_held_the_lock_at_the_fork() -> None:
    groups = registry()
    held = groups._lock
    registered = threading.Event()

    def register() -> None:
        groups.register("env", [SCORE])
        registered.set()

    with held:
        groups.renew_lock()
        thread = threading.Thread(target=register)
        thread.start()
        done_while_held = registered.wait(5.0)
    thread.join()

    assert done_while_held
