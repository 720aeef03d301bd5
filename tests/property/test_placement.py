# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.model.placement import NO_WORKER_GROUPS, check_group_name
from nemo_telemetry_actor.placement.label import worker_groups_label
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.placement.table import Answer, GroupNodes
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration

RUN_OF = {"c1": "first", "c2": "first", "c3": "second"}
NODES = ("n1", "n2", "n3")

clients = st.sampled_from(sorted(RUN_OF))
registrations = st.one_of(
    st.builds(
        Registration,
        st.sampled_from(["a", "b", "bad,name"]),
        node_ids=st.lists(st.sampled_from(NODES), max_size=2),
    ),
    st.builds(
        Registration,
        st.sampled_from(["a", "b"]),
        bundles=st.lists(
            st.tuples(st.sampled_from(["g1", "g2"]), st.integers(0, 1)), min_size=1, max_size=2
        ),
    ),
)
answers = st.one_of(
    st.builds(
        GroupNodes,
        st.just("CREATED"),
        st.dictionaries(st.integers(0, 1), st.sampled_from(NODES), min_size=1),
        is_settled=st.booleans(),
    ),
    st.just(GroupNodes("REMOVED", {}, is_settled=True)),
    st.builds(OSError, st.just("away")),
)
contents = st.lists(registrations, max_size=2)
steps = st.one_of(
    st.tuples(st.just("newer"), clients, contents),
    st.tuples(st.just("late"), clients, contents),
    st.tuples(st.just("resolved"), st.sampled_from(["g1", "g2"]), answers),
    st.tuples(st.just("drop_client"), clients, st.none()),
    st.tuples(st.just("drop_run"), st.sampled_from(["first", "second"]), st.none()),
)


class Model:
    """The same map, said in the plainest way: the newest set of each client, and all answers."""

    def __init__(self) -> None:
        self.newest: dict[str, PlacementSet] = {}
        self.answers: dict[str, Answer] = {}

    def replace(self, client: str, placement_set: PlacementSet) -> None:
        known = self.newest.get(client)
        if known is None or placement_set.sequence > known.sequence:
            self.newest[client] = placement_set
        self.forget_unnamed()

    def drop(self, *clients: str) -> None:
        for client in clients:
            self.newest.pop(client, None)
        self.forget_unnamed()

    def resolved(self, group_id: str, answer: Answer) -> None:
        self.answers[group_id] = answer
        self.forget_unnamed()

    def named(self) -> set[str]:
        """Placement groups that anybody names."""
        kept = [each for client in self.newest for each in self.kept(client)]
        return {group_id for each in kept for group_id, _ in each.bundles}

    def forget_unnamed(self) -> None:
        self.answers = {key: each for key, each in self.answers.items() if key in self.named()}

    def kept(self, client: str) -> Sequence[Registration]:
        last = {each.prefix: each for each in self.newest[client].registrations}
        return [each for prefix, each in last.items() if "," not in prefix]

    def groups(self, run_id: str) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for client in self.newest:
            if RUN_OF[client] == run_id:
                for each in self.kept(client):
                    found.setdefault(each.prefix, set()).update(each.node_ids, self.nodes(each))
        return {prefix: frozenset(nodes) for prefix, nodes in found.items()}

    def nodes(self, registration: Registration) -> set[str]:
        nodes = set()
        for group_id, index in registration.bundles:
            answer = self.answers.get(group_id)
            if isinstance(answer, GroupNodes) and index in answer.node_ids:
                nodes.add(answer.node_ids[index])
        return nodes


def _is_unsettled(answer: Answer | None) -> bool:
    return not (isinstance(answer, GroupNodes) and answer.is_settled)


@given(st.lists(steps, max_size=14))
def test_labels_name_what_somebody_vouches_for_and_nothing_else(
    script: list[tuple[str, str, object]],
) -> None:
    """After every step, for every run: the map is what its newest sets and answers say."""
    placement, model = PlacementMap(), Model()
    for number, (step, key, argument) in enumerate(script, start=1):
        if step in {"newer", "late"}:
            assert isinstance(argument, list)
            placement_set = PlacementSet(number if step == "newer" else 0, argument)
            placement.replace(RUN_OF[key], key, placement_set)
            model.replace(key, placement_set)
        elif step == "resolved":
            assert isinstance(argument, GroupNodes | Exception)
            placement.resolved(key, argument)
            model.resolved(key, argument)
        elif step == "drop_client":
            placement.drop_client(key)
            model.drop(key)
        else:
            placement.drop_run(key)
            model.drop(*(client for client, run_id in RUN_OF.items() if run_id == key))

        for run_id in ("first", "second"):
            assert placement.groups(run_id) == model.groups(run_id)
        unsettled = {each for each in model.named() if _is_unsettled(model.answers.get(each))}
        assert placement.pending_groups() == unsettled


@given(st.data(), st.lists(st.tuples(clients, st.integers(0, 3)), min_size=1, max_size=8))
def test_any_order_of_arrival_ends_in_the_newest_set_of_each_client(
    data: st.DataObject, drawn: list[tuple[str, int]]
) -> None:
    """The same sets, some twice, in any order: one map."""
    content = {each: PlacementSet(each[1], data.draw(st.lists(registrations))) for each in drawn}
    arrivals = data.draw(st.permutations(drawn))
    placement = PlacementMap()

    for client, sequence in arrivals:
        placement.replace(RUN_OF[client], client, content[client, sequence])

    model = Model()
    for client, sequence in sorted(drawn):
        model.replace(client, content[client, sequence])
    assert {run_id: placement.groups(run_id) for run_id in ("first", "second")} == {
        run_id: model.groups(run_id) for run_id in ("first", "second")
    }


@given(st.dictionaries(st.text(max_size=4), st.frozensets(st.sampled_from(NODES))))
def test_a_label_tells_which_groups_it_names(groups: dict[str, frozenset[str]]) -> None:
    def is_good(name: str) -> bool:
        try:
            return bool(check_group_name(name))
        except ValueError:
            return False

    taken = {name: nodes for name, nodes in groups.items() if is_good(name)}

    label = worker_groups_label(["n1", "n2"], taken)

    named = set() if label == NO_WORKER_GROUPS else set(label.split(","))
    assert named == {name for name, nodes in taken.items() if nodes & {"n1", "n2"}}
