# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from nemo_telemetry_actor.actor.hosts import HostReporter
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.scrape.failures import FetchFailure
from nemo_telemetry_actor.testing import new_core
from nemo_telemetry_actor.wire.messages import MetricBlock
from tests.batches import declared, hello, sum_delta
from tests.clients import LEASE_S, OTHER, pass_time, run_states
from tests.unit.actor.host_world import (
    COMPONENT,
    INTERVAL_S,
    TOTAL,
    USED,
    World,
    node,
    on_nodes,
)
from tests.unit.scrape.builders import page, page_of

NO_FAMILY = b"ray_other 1\n"
DOWN = FetchFailure("refused", "down")


# ---- one point a host


def test_every_host_has_one_point_with_its_label_value_and_time() -> None:
    world = World()
    world.client().vouch(on_nodes("lm_policy", "n2"))
    time = world.clock.time_ns()

    world.sweep()

    assert world.pulled(USED) == [("alpha", "none", 3.0), ("beta", "lm_policy", 5.0)]
    assert world.pulled(TOTAL) == [("alpha", "none", 8.0), ("beta", "lm_policy", 8.0)]
    assert world.delivered(USED) == [("alpha", "none", time), ("beta", "lm_policy", time)]
    assert world.delivered(TOTAL) == world.delivered(USED)


def test_a_label_that_changes_leaves_one_point_a_host_in_every_export_and_every_pull() -> None:
    world = World()
    client = world.client()
    begun, seen = world.clock.time_ns(), []
    for names in [(), ("a",), ("b", "a"), ("b",), ()]:
        client.vouch(*(on_nodes(name, "n1") for name in names))
        world.sweep()
        seen.append(world.labels()["alpha"])

    labels = ["none", "a", "a,b", "b", "none"]
    assert seen == labels
    times = [begun + round(i * INTERVAL_S * 1e9) for i in range(5)]
    of_alpha = [each for each in world.delivered() if each[0] == "alpha"]
    assert of_alpha == [("alpha", *pair) for pair in zip(labels, times, strict=True)]
    assert world.most_delivered_at_once() == 1


def test_raylets_of_one_machine_are_one_point_with_the_groups_of_all() -> None:
    world = World()
    world.cluster.rows = [node("n1", "alpha"), node("n2", "alpha", 8081)]
    world.client().vouch(on_nodes("b", "n2"), on_nodes("a", "n1"))

    world.sweep()

    assert world.pulled() == [("alpha", "a,b", 3.0)]
    assert len(world.delivered()) == 1


def test_a_run_that_opens_between_two_sweeps_has_what_the_last_one_found_at_once() -> None:
    world = World()
    time = world.clock.time_ns()
    world.sweep()
    world.client()
    world.client(OTHER)
    world.core.tick()

    assert world.labels() == {"alpha": "none", "beta": "none"}
    world.sweep()

    second = time + round(INTERVAL_S * 1e9)
    assert world.delivered() == [
        ("alpha", "none", time),
        ("beta", "none", time),
        ("alpha", "none", second),
        ("beta", "none", second),
    ]


def test_a_run_that_opens_before_the_first_sweep_has_no_points_yet() -> None:
    world = World()
    world.client()
    world.core.tick()

    assert world.labels() == {}


def test_a_host_that_fails_has_no_point_and_one_that_is_back_has_one() -> None:
    world = World()
    world.client().vouch(on_nodes("a", "n1"))
    good = world.fetcher.pages["alpha"]
    seen = []
    for answer in (good, DOWN, good):
        world.fetcher.pages["alpha"] = answer
        world.sweep()
        seen.append(world.labels())

    both = {"alpha": "a", "beta": "none"}
    assert seen == [both, {"beta": "none"}, both]
    assert [host for host, _, _ in world.delivered()].count("alpha") == 2


def test_a_dead_node_drops_out_with_what_sat_on_it() -> None:
    world = World()
    world.client().vouch(on_nodes("a", "n1", "n2"))
    world.sweep()
    world.cluster.rows = [node("n1", "alpha"), node("n2", "beta", Alive=False)]

    world.sweep()

    assert world.labels() == {"alpha": "a"}
    assert [each["host"] for each in world.core.hosts()] == ["alpha"]


def test_a_dead_raylet_takes_its_groups_from_a_host_that_lives_on() -> None:
    world = World()
    world.cluster.rows = [node("n1", "alpha"), node("n2", "alpha", 8081)]
    world.client().vouch(on_nodes("a", "n1"), on_nodes("b", "n2"))
    world.sweep()
    world.cluster.rows = [node("n1", "alpha"), node("n2", "alpha", 8081, Alive=False)]

    world.sweep()

    assert world.labels() == {"alpha": "a"}


def test_a_kept_sample_is_shown_with_its_time_and_delivered_once() -> None:
    world = World()
    client = world.client()
    time = world.clock.time_ns()
    world.sweep()
    world.fetcher.pages["alpha"] = NO_FAMILY
    client.vouch(on_nodes("late", "n1"))

    world.sweep()

    (point,) = (
        row for row in world.core.series("r", [USED]) if row["attributes"]["host.name"] == "alpha"
    )
    assert (point["value"], point["time_unix_nano"]) == (3.0, time)
    assert world.labels()["alpha"] == "late"
    assert [each for each in world.delivered() if each[0] == "alpha"] == [("alpha", "none", time)]


def test_a_host_that_says_only_one_of_the_two_has_a_point_for_that_one() -> None:
    world = World()
    world.client()
    world.fetcher.pages["alpha"] = b'ray_node_mem_used{ip="1"} 3\n'

    world.sweep()

    assert [host for host, _, _ in world.pulled(USED)] == ["alpha", "beta"]
    assert [host for host, _, _ in world.pulled(TOTAL)] == ["beta"]


# ---- components


def test_components_are_points_without_worker_groups() -> None:
    world = World(components=True)
    world.cluster.rows = [node("n1", "alpha")]
    world.fetcher.pages["alpha"] = page_of("2.60.0")
    world.client().vouch(on_nodes("a", "n1"))

    world.sweep()

    rows = world.core.series("r", [COMPONENT])
    assert {frozenset(row["attributes"]) for row in rows} == {
        frozenset({"host.name", "rl.memory.component"})
    }
    names = {row["attributes"]["rl.memory.component"] for row in rows}
    assert {"raylet", "gcs", "agents", "object_store"} <= names
    assert len(names) == len(rows) == len(world.exporter.points(COMPONENT))


def test_components_end_while_a_page_is_missing() -> None:
    world = World(components=True)
    world.cluster.rows = [node("n1", "alpha")]
    world.fetcher.pages["alpha"] = page_of("2.60.0")
    world.client()
    world.sweep()
    world.fetcher.pages["alpha"] = page(3.0, 8.0)

    world.sweep()

    assert world.core.series("r", [COMPONENT]) == []
    assert world.labels() == {"alpha": "none"}


# ---- runs


def test_two_runs_report_every_host_and_do_not_see_each_others_groups() -> None:
    world = World()
    world.client(run_id="one").vouch(on_nodes("policy", "n1"))
    world.client(OTHER, run_id="two").vouch(on_nodes("policy", "n2"), on_nodes("judge", "n2"))

    world.sweep()

    assert world.labels("one") == {"alpha": "policy", "beta": "none"}
    assert world.labels("two") == {"alpha": "none", "beta": "judge,policy"}
    assert [each["groups"] for each in world.core.hosts()] == [
        {"one": "policy", "two": "none"},
        {"one": "none", "two": "judge,policy"},
    ]


def test_host_points_of_a_run_end_with_it_and_those_of_another_go_on() -> None:
    world = World()
    driver = world.client(run_id="over", opens_run=True)
    world.client(OTHER, run_id="open")
    world.sweep()
    driver.send(closing="run")
    exported = len(world.delivered())

    world.sweep()

    assert run_states(world.core) == {"over": "ended", "open": "open"}
    assert (world.labels("over"), world.labels("open")) == ({}, {"alpha": "none", "beta": "none"})
    assert len(world.delivered()) == exported + 2
    assert list(world.core.hosts()[0]["groups"]) == ["open"]


def test_a_run_that_is_over_leaves_nothing_and_one_of_its_name_is_warned_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    for _ in range(2):
        driver = world.client(opens_run=True)
        driver.vouch(on_nodes("a,b", "n1"))
        world.sweep()
        driver.send(closing="run")
        world.sweep()

        pass_time(world.core, world.clock, 2 * LEASE_S)

        assert (world.core.state()["runs"], world.core.state()["ingest"]["series"]) == ([], 0)
    assert len(caplog.records) == 2


def test_a_run_that_goes_on_after_a_stall_has_its_host_points_back() -> None:
    world = World()
    driver = world.client(opens_run=True)
    driver.vouch(on_nodes("a", "n1"))
    world.sweep()
    pass_time(world.core, world.clock, LEASE_S + 30.0)
    world.sweep()
    assert (run_states(world.core), world.labels()) == ({"r": "ended"}, {})

    driver.join()
    driver.vouch(on_nodes("a", "n1"))
    world.sweep()

    assert world.labels() == {"alpha": "a", "beta": "none"}


def test_without_push_exporters_no_point_waits_for_one() -> None:
    world = World()
    registry = Registry(lease_s=LEASE_S, fresh_run_id=lambda: "r")
    registry.join(hello(), 1, 1.0)
    reporter = HostReporter(registry, PlacementMap(), world.sources, keep_points=False)

    world.wait_for(reporter.sweep())

    assert (registry.commit(), registry.series_count) == ([], 4)


def test_a_client_that_took_the_name_costs_its_own_run_that_metric_and_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    clashing = MetricBlock(declared(USED, "counter", "By"), [sum_delta(1.0)])
    world.client(run_id="theirs").send(clashing)
    world.client(OTHER, run_id="ours")

    world.sweep()
    world.sweep()

    kinds = [row["kind"] for row in world.core.series("theirs", [USED])]
    assert kinds == ["counter"]
    assert [host for host, _, _ in world.pulled(TOTAL, "theirs")] == ["alpha", "beta"]
    assert world.labels("ours") == {"alpha": "none", "beta": "none"}
    (line,) = caplog.messages
    assert line.startswith("rl.host.memory.used is not reported for run theirs: a client has")


def test_a_client_that_comes_after_the_service_with_its_name_is_refused() -> None:
    world = World()
    client = world.client()
    world.sweep()

    client.send(MetricBlock(declared(USED, "counter", "By"), [sum_delta(1.0)]))
    world.sweep()

    assert world.labels() == {"alpha": "none", "beta": "none"}
    assert sum(world.core.state()["ingest"]["dropped"].values()) == 1


# ---- what pages and commands read


def test_the_state_of_the_hosts_is_json_of_builtins() -> None:
    world = World()
    world.client().vouch(on_nodes("a", "n1"), on_nodes("a,b", "n1"))
    world.fetcher.pages["beta"] = DOWN

    world.sweep()

    state = world.core.state()["hosts"]
    assert json.loads(json.dumps(state)) == state
    assert state == {
        "source": "raylet",
        "reason": "on Ray 2.60.0 a raylet's page may be read by many",
        "cycles": 1,
        "problems": [],
        "hosts": {"fresh": 1, "failed": 1},
        "totals": {"fresh": 1, "failed": 1, "failed.refused": 1, "bad_lines": 0},
        "placements_refused": {"bad_value": 1},
    }


def test_each_host_is_told_of_with_its_age_groups_and_trouble() -> None:
    world = World()
    world.client().vouch(on_nodes("a", "n1"))
    world.fetcher.pages["beta"] = DOWN

    world.sweep()

    alpha, beta = world.core.hosts()
    assert json.loads(json.dumps([alpha, beta])) == [alpha, beta]
    assert alpha == {
        "host": "alpha",
        "state": "fresh",
        "used_bytes": 3.0,
        "total_bytes": 8.0,
        "share": 0.375,
        "age_s": INTERVAL_S,
        "source": "node",
        "raylets": 1,
        "node_ids": ["n1"],
        "groups": {"r": "a"},
        "components": {},
        "problem": "",
    }
    assert (beta["state"], beta["problem"]) == ("failed", "down")
    assert [beta[key] for key in ("used_bytes", "total_bytes", "share", "age_s")] == [None] * 4


def test_without_hosts_there_is_nothing_to_tell() -> None:
    core = new_core()

    assert (core.state()["hosts"], core.hosts()) == (None, [])
