# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Where the bundles of real placement groups are, asked without keeping an event loop waiting."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group

from nemo_telemetry_actor.model.placement import bundle_refs
from nemo_telemetry_actor.placement.label import worker_groups_label
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.placement.resolve import PlacementResolver
from nemo_telemetry_actor.placement.table import GroupNodes
from nemo_telemetry_actor.wire.messages import PlacementSet, Registration

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("ray_address")]


@pytest.fixture
def groups() -> Iterator[dict[str, PlacementGroup]]:
    """Placement groups by name, removed after the test."""
    made: dict[str, PlacementGroup] = {}
    yield made
    for group in made.values():
        remove_placement_group(group)


def _make(bundles: list[dict[str, float]]) -> PlacementGroup:
    group: PlacementGroup = placement_group(bundles)
    assert group.wait(60)
    return group


def _id(group: PlacementGroup) -> str:
    return bundle_refs([(group, 0)])[0][0]


def _this_node() -> str:
    return str(ray.get_runtime_context().get_node_id())


def _actor(kind: type[Any]) -> Any:
    return ray.remote(num_cpus=0)(kind).remote()


class Builder:
    """Builds a placement group inside itself, as a reward model's environment does."""

    def build(self) -> tuple[tuple[str, int], ...]:
        self.group = _make([{"CPU": 0.1}])
        return bundle_refs([(self.group, 0)])


class AsyncAsker:
    """Resolves on its own event loop and watches how long that loop stands still."""

    async def resolve(self, group_ids: list[str]) -> tuple[dict[str, Any], float, float]:
        resolver = PlacementResolver(timeout_s=60)
        await resolver.resolve(group_ids[:1])  # loads what a first call loads
        done = asyncio.Event()
        watch = asyncio.create_task(self._longest_gap_s(done))
        started = time.perf_counter()
        answers = await resolver.resolve(group_ids)
        took_s = time.perf_counter() - started
        done.set()
        return answers, took_s, await watch

    @staticmethod
    async def _longest_gap_s(done: asyncio.Event) -> float:
        longest, last = 0.0, time.perf_counter()
        while not done.is_set():
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        return longest


async def test_the_nodes_of_a_created_group_are_known(groups: dict[str, PlacementGroup]) -> None:
    groups["a"] = _make([{"CPU": 0.1}, {"CPU": 0.1}])
    group_id = _id(groups["a"])

    answers = await PlacementResolver().resolve([group_id])

    node = _this_node()
    assert answers == {group_id: GroupNodes("CREATED", {0: node, 1: node}, is_settled=True)}


async def test_a_group_is_known_from_the_moment_it_is_made(
    groups: dict[str, PlacementGroup],
) -> None:
    groups["a"] = placement_group([{"CPU": 0.1}])

    (answer,) = (await PlacementResolver().resolve([_id(groups["a"])])).values()

    assert isinstance(answer, GroupNodes)
    assert answer.state in {"PENDING", "PREPARED", "CREATED"}


async def test_a_group_that_finds_no_room_is_on_no_node(
    groups: dict[str, PlacementGroup],
) -> None:
    groups["a"] = placement_group([{"no_such_resource": 1}])
    group_id = _id(groups["a"])

    answers = await PlacementResolver().resolve([group_id])

    assert answers == {group_id: GroupNodes("PENDING", {}, is_settled=False)}


async def test_a_removed_group_is_on_no_node_although_ray_still_names_one(
    groups: dict[str, PlacementGroup],
) -> None:
    groups["a"] = _make([{"CPU": 0.1}])
    group_id = _id(groups["a"])
    remove_placement_group(groups["a"])

    answers = await PlacementResolver().resolve([group_id])

    assert answers == {group_id: GroupNodes("REMOVED", {}, is_settled=True)}


async def test_ids_that_are_no_placement_groups_cost_only_themselves(
    groups: dict[str, PlacementGroup],
) -> None:
    groups["a"] = _make([{"CPU": 0.1}])
    good, unknown = _id(groups["a"]), "00" * 18

    answers = await PlacementResolver().resolve(["abcd", "no hex", unknown, good])

    assert isinstance(answers["abcd"], ValueError)
    assert isinstance(answers["no hex"], ValueError)
    assert answers[unknown] == GroupNodes("UNKNOWN", {}, is_settled=True)
    assert answers[good] == GroupNodes("CREATED", {0: _this_node()}, is_settled=True)


async def test_a_group_built_inside_an_actor_labels_its_host_until_its_client_is_dropped() -> None:
    bundles = ray.get(_actor(Builder).build.remote())
    placement = PlacementMap()
    reward = Registration("reward_model_policy", bundles=list(bundles))
    placement.replace("run", "builder", PlacementSet(1, [reward]))
    labels = []

    for group_id, answer in (await PlacementResolver().resolve(placement.pending_groups())).items():
        placement.resolved(group_id, answer)
    labels.append(worker_groups_label([_this_node()], placement.groups("run")))
    placement.drop_client("builder")
    labels.append(worker_groups_label([_this_node()], placement.groups("run")))

    assert labels == ["reward_model_policy", "none"]


def test_two_hundred_lookups_do_not_keep_an_actors_loop_waiting(
    groups: dict[str, PlacementGroup],
) -> None:
    for number in range(200):
        groups[str(number)] = placement_group([{"CPU": 0.001}])
    ids = [_id(group) for group in groups.values()]
    assert all(group.wait(60) for group in groups.values())
    asker = _actor(AsyncAsker)

    answers, took_s, longest_gap_s = ray.get(asker.resolve.remote(ids))

    created = GroupNodes("CREATED", {0: _this_node()}, is_settled=True)
    assert answers == dict.fromkeys(ids, created)
    # A loop that waits for each lookup itself stands still for as long as all of them take.
    assert longest_gap_s < took_s / 2
