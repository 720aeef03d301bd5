# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Labels that are true now: who vouches for a group, and where its bundles are."""

from nemo_telemetry_actor import MetricSpec
from nemo_telemetry_actor.placement.table import Answer, GroupNodes
from nemo_telemetry_actor.testing import connected
from tests.clients import LEASE_S, pass_time
from tests.unit.actor.host_world import World, on_bundles, on_nodes


def _created(*nodes: str) -> GroupNodes:
    return GroupNodes("CREATED", dict(enumerate(nodes)), is_settled=True)


# ---- who vouches


def test_the_groups_of_a_killed_client_end_with_its_lease() -> None:
    world = World()
    driver = world.client("d" * 32, opens_run=True)
    world.client().vouch(on_nodes("reward_model_policy", "n2"))
    world.sweep()
    assert world.labels()["beta"] == "reward_model_policy"

    pass_time(world.core, world.clock, LEASE_S - 30.0, driver)
    world.sweep()
    assert world.labels()["beta"] == "reward_model_policy"
    pass_time(world.core, world.clock, 60.0, driver)
    world.sweep()

    assert world.labels()["beta"] == "none"


def test_the_groups_of_a_stalled_client_come_back_when_it_is_heard_again() -> None:
    world = World()
    driver = world.client("d" * 32, opens_run=True)
    telemetry = connected(world.core, run_id="r")
    telemetry.register_metric_group("g", [MetricSpec("k", "rl.k")])
    telemetry.register_worker_group_nodes("reward_model_policy", ["n2"])
    assert telemetry.flush()
    seen = []

    world.sweep()
    seen.append(world.labels()["beta"])
    pass_time(world.core, world.clock, LEASE_S + 30.0, driver)
    world.sweep()
    seen.append(world.labels()["beta"])
    telemetry.record("g", k=1.0)
    assert telemetry.flush()
    world.sweep()
    seen.append(world.labels()["beta"])

    assert seen == ["reward_model_policy", "none", "reward_model_policy"]
    assert telemetry.shutdown()


def test_what_a_client_forgets_is_gone_with_the_next_sweep_and_what_it_replaces_moves() -> None:
    world = World()
    telemetry = connected(world.core, run_id="r")
    seen = []
    for places in (["n1"], ["n2"], None):
        if places is None:
            telemetry.forget_worker_group_nodes("a")
        else:
            telemetry.register_worker_group_nodes("a", places)
        assert telemetry.flush()
        world.sweep()
        seen.append(tuple(world.labels().values()))

    assert seen == [("a", "none"), ("none", "a"), ("none", "none")]
    assert telemetry.shutdown()


def test_the_groups_of_a_client_that_says_goodbye_end_at_once() -> None:
    world = World()
    world.client("d" * 32, opens_run=True)
    client = world.client()
    client.vouch(on_nodes("a", "n1"))
    world.sweep()

    client.send(closing="client")
    world.sweep()

    assert world.labels() == {"alpha": "none", "beta": "none"}


def test_a_batch_that_arrives_after_the_goodbye_brings_no_group_back() -> None:
    world = World()
    world.client("d" * 32, opens_run=True)
    client = world.client()
    overtaken = client.vouching(1, on_nodes("a", "n1"))
    client.send(closing="client")

    assert client.resend(overtaken).status == "ok"
    world.sweep()

    assert world.labels() == {"alpha": "none", "beta": "none"}


def test_a_client_that_moves_to_another_run_takes_its_groups_along() -> None:
    world = World()
    world.client("d" * 32, run_id="old", opens_run=True)
    client = world.client(run_id="old")
    client.vouch(on_nodes("a", "n1"))
    world.sweep()

    client.greeting["run_id"] = "new"
    client.join()
    world.sweep()
    assert (world.labels("old")["alpha"], world.labels("new")["alpha"]) == ("none", "none")
    client.vouch(on_nodes("a", "n1"))
    world.sweep()

    assert (world.labels("old")["alpha"], world.labels("new")["alpha"]) == ("none", "a")


# ---- placement groups


def test_bundles_are_looked_up_before_each_sweep_and_followed() -> None:
    world = World()
    world.client().vouch(on_bundles("a", ("g1", 0)), on_bundles("b", ("g1", 0), ("g2", 1)))
    course: list[dict[str, Answer]] = [
        {},
        {"g1": _created("n1"), "g2": _created("n1", "n2")},
        {"g1": _created("n2"), "g2": ConnectionError("no GCS")},
        {"g1": GroupNodes("REMOVED", {}, is_settled=True)},
        {},
    ]
    seen = []
    for answers in course:
        world.answers.update(answers)
        world.sweep()
        seen.append(tuple(world.labels().values()))

    assert seen == [
        ("none", "none"),
        ("a,b", "b"),
        ("none", "a,b"),
        ("none", "none"),
        ("none", "none"),
    ]
    both = frozenset({"g1", "g2"})
    assert world.asked == [both, both, both, both, frozenset({"g2"})]
