# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import logging

import pytest

from nemo_telemetry_actor.placement.label import worker_groups_label
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.placement.table import GroupNodes
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration

NONE = frozenset[str]()


def _on(*nodes: str) -> frozenset[str]:
    return frozenset(nodes)


def _nodes(prefix: str, *node_ids: str) -> Registration:
    return Registration(prefix, node_ids=list(node_ids))


def _bundles(prefix: str, *bundles: tuple[str, int]) -> Registration:
    return Registration(prefix, bundles=list(bundles))


def _set(sequence: int, *registrations: Registration) -> PlacementSet:
    return PlacementSet(sequence, list(registrations))


def _created(*nodes: str) -> GroupNodes:
    return GroupNodes("CREATED", dict(enumerate(nodes)), is_settled=True)


# ---- who vouches for what


def test_an_empty_map_has_no_groups() -> None:
    placement = PlacementMap()

    assert placement.groups("run") == {}
    assert placement.sets("run") == {}
    assert placement.pending_groups() == NONE


def test_a_registration_replaces_the_one_before_and_a_group_may_be_nowhere() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _nodes("a", "n1", "n2"), _nodes("b", "n1")))

    assert placement.replace("run", "c1", _set(2, _nodes("a", "n3"), _nodes("empty")))

    assert placement.groups("run") == {"a": _on("n3"), "empty": NONE}


def test_an_older_set_never_replaces_a_newer_one() -> None:
    placement = PlacementMap()
    newer = _set(2, _nodes("a", "n2"))
    placement.replace("run", "c1", newer)

    assert not placement.replace("run", "c1", _set(1, _nodes("a", "n1")))
    assert not placement.replace("run", "c1", _set(2, _nodes("a", "n1")))
    assert placement.sets("run") == {"c1": newer}


def test_what_was_forgotten_does_not_come_back_with_a_late_set() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(5))

    assert not placement.replace("run", "c1", _set(4, _nodes("a", "n1")))
    assert placement.groups("run") == {}


def test_the_label_follows_what_registers_and_forgets() -> None:
    placement = PlacementMap()
    seen = []
    for sequence, names in enumerate([(), ("a",), ("b", "a"), ("b",), ()]):
        placement.replace("run", "c1", _set(sequence, *(_nodes(name, "n1") for name in names)))
        seen.append(worker_groups_label(["n1"], placement.groups("run")))

    assert seen == ["none", "a", "a,b", "b", "none"]


def test_one_name_from_two_clients_is_on_the_nodes_of_both_until_each_ends() -> None:
    placement = PlacementMap()
    placement.replace("run", "killed", _set(9, _nodes("reward_model_policy", "n1")))
    placement.replace("run", "rebuilt", _set(1, _nodes("reward_model_policy", "n2")))
    assert placement.groups("run") == {"reward_model_policy": _on("n1", "n2")}

    placement.drop_client("killed")

    assert placement.groups("run") == {"reward_model_policy": _on("n2")}


def test_a_client_that_lost_its_lease_vouches_again_from_any_sequence() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(3, _nodes("a", "n1")))
    placement.drop_client("c1")
    assert placement.groups("run") == {}

    assert placement.replace("run", "c1", _set(3, _nodes("a", "n1")))

    assert placement.groups("run") == {"a": _on("n1")}


def test_two_runs_do_not_see_each_others_groups() -> None:
    placement = PlacementMap()
    placement.replace("first", "c1", _set(1, _nodes("policy", "n1")))
    placement.replace("second", "c2", _set(1, _nodes("policy", "n2")))
    assert placement.groups("first") == {"policy": _on("n1")}

    placement.drop_run("first")

    assert placement.groups("first") == {}
    assert placement.groups("second") == {"policy": _on("n2")}


def test_dropping_what_is_not_there_is_fine() -> None:
    placement = PlacementMap()

    placement.drop_client("c1")
    placement.drop_run("run")

    assert placement.groups("run") == {}


# ---- placement groups


def test_bundles_are_nowhere_until_they_are_looked_up() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0), ("g1", 2), ("g2", 0))))
    assert placement.groups("run") == {"a": NONE}

    placement.resolved("g1", _created("n1", "n2", "n3"))
    placement.resolved("g2", _created("n4"))

    assert placement.groups("run") == {"a": _on("n1", "n3", "n4")}


def test_each_placement_group_is_to_be_looked_up_once_whoever_refers_to_it() -> None:
    placement = PlacementMap()
    placement.replace("first", "c1", _set(1, _bundles("a", ("g1", 0)), _bundles("b", ("g1", 1))))
    placement.replace("second", "c2", _set(1, _bundles("a", ("g1", 0), ("g2", 0))))
    assert placement.pending_groups() == _on("g1", "g2")

    placement.resolved("g1", _created("n1", "n2"))

    assert placement.pending_groups() == _on("g2")
    assert placement.changeable_groups() == _on("g1", "g2")


def test_an_index_that_the_group_does_not_have_is_on_no_node() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0), ("g1", 7), ("g1", -1))))

    placement.resolved("g1", _created("n1"))

    assert placement.groups("run") == {"a": _on("n1")}


def test_a_group_that_waits_for_nodes_is_asked_for_again() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0))))

    placement.resolved("g1", GroupNodes("PENDING", {}, is_settled=False))

    assert placement.groups("run") == {"a": NONE}
    assert placement.pending_groups() == _on("g1")


def test_bundles_of_a_lost_node_are_nowhere_until_they_have_another() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0), ("g1", 1))))
    placement.resolved("g1", _created("n1", "n2"))

    placement.resolved("g1", GroupNodes("RESCHEDULING", {1: "n2"}, is_settled=False))

    assert placement.groups("run") == {"a": _on("n2")}
    assert placement.pending_groups() == _on("g1")


def test_a_removed_group_is_nowhere_and_asked_for_no_more() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0))))
    placement.resolved("g1", _created("n1"))

    placement.resolved("g1", GroupNodes("REMOVED", {}, is_settled=True))

    assert placement.groups("run") == {"a": NONE}
    assert placement.pending_groups() == placement.changeable_groups() == NONE


def test_a_failed_lookup_takes_the_label_and_is_told_once_until_one_succeeds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0)), _bundles("b", ("g1", 0))))
    placement.replace("run", "c2", _set(1, _bundles("c", ("g2", 0))))
    placement.resolved("g1", _created("n1"))

    placement.resolved("g1", OSError("away"))
    placement.resolved("g1", OSError("still away"))

    assert placement.groups("run") == {"a": NONE, "b": NONE, "c": NONE}
    assert placement.pending_groups() == _on("g1", "g2")
    (told,) = caplog.messages
    assert "worker groups a, b are left out of rl.worker_groups until it can be" in told
    assert "OSError('away')" in told

    placement.resolved("g1", _created("n1"))
    placement.resolved("g1", OSError("away"))

    assert len(caplog.messages) == 2


def test_an_answer_for_a_group_that_nobody_names_any_more_is_not_kept() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0), ("g2", 0))))
    placement.replace("run", "c1", _set(2, _bundles("a", ("g2", 0))))

    placement.resolved("g1", _created("n1"))
    placement.replace("run", "c1", _set(3, _bundles("a", ("g1", 0))))

    assert placement.groups("run") == {"a": NONE}
    assert placement.pending_groups() == _on("g1")


def test_what_was_known_of_a_group_that_was_let_go_is_not_believed_again() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0))))
    placement.resolved("g1", _created("n1"))
    placement.drop_client("c1")

    placement.replace("run", "c2", _set(1, _bundles("a", ("g1", 0))))

    assert placement.groups("run") == {"a": NONE}
    assert placement.pending_groups() == _on("g1")


def test_what_is_known_of_a_group_stays_when_a_newer_set_names_it_still() -> None:
    placement = PlacementMap()
    placement.replace("run", "c1", _set(1, _bundles("a", ("g1", 0))))
    placement.resolved("g1", _created("n1"))

    placement.replace("run", "c1", _set(2, _bundles("b", ("g1", 0))))

    assert placement.groups("run") == {"b": _on("n1")}
    assert placement.pending_groups() == NONE


# ---- what cannot be taken


def test_a_bad_registration_costs_only_itself_and_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    placement = PlacementMap()

    for sequence in (1, 2):
        placement.replace("run", "c1", _set(sequence, _nodes("a,b", "n1"), _nodes("c", "n1")))

    assert placement.groups("run") == {"c": _on("n1")}
    assert placement.refused == {"bad_value": 2}
    assert len(caplog.messages) == 1
    assert "run run" in caplog.text
    assert "'a,b' holds a comma" in caplog.text


def test_another_run_is_told_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    placement = PlacementMap()

    for run_id in ("first", "second"):
        placement.replace(run_id, "c1", _set(1, _nodes("none", "n1")))
    placement.drop_run("first")
    placement.replace("first", "c2", _set(1, _nodes("none", "n1")))

    assert len(caplog.messages) == 3


def test_warnings_of_one_run_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    placement = PlacementMap()

    placement.replace("run", "c1", _set(1, *(_nodes(f",{i}", "n1") for i in range(150))))

    assert placement.refused == {"bad_value": 150}
    assert len(caplog.messages) == 100


def test_of_one_name_twice_in_a_set_the_last_holds() -> None:
    placement = PlacementMap()

    placement.replace("run", "c1", _set(1, _nodes("a", "n1"), _nodes("a", "n2")))

    assert placement.groups("run") == {"a": _on("n2")}


@pytest.mark.parametrize(("groups", "places"), [(2, 100), (100, 3)])
def test_what_exceeds_the_bounds_of_its_run_is_refused_whole(
    groups: int, places: int, caplog: pytest.LogCaptureFixture
) -> None:
    placement = PlacementMap(registrations_per_run=groups, places_per_run=places)
    caplog.set_level(logging.WARNING)
    placement.replace("run", "c1", _set(1, _nodes("a", "n1")))
    placement.replace("other", "c9", _set(1, _nodes("a", "n1")))

    placement.replace("run", "c2", _set(1, _nodes("b", "n1", "n2"), _nodes("c", "n3", "n4")))

    assert placement.groups("run") == {"a": _on("n1"), "b": _on("n1", "n2")}
    assert placement.refused == {"cardinality_limit": 1}
    assert f"at most {groups} groups on {places} places in all" in caplog.text


def test_a_set_is_not_counted_beside_the_one_that_it_replaces() -> None:
    placement = PlacementMap(registrations_per_run=2, places_per_run=2)
    placement.replace("run", "c1", _set(1, _nodes("a", "n1"), _nodes("b", "n1")))

    placement.replace("run", "c1", _set(2, _nodes("a", "n2"), _nodes("b", "n2")))

    assert placement.groups("run") == {"a": _on("n2"), "b": _on("n2")}
    assert placement.refused == {}
