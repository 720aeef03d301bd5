# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Host memory, pages, the dashboard and clocks: which facts are how bad, and what to do."""

import pytest

from nemo_telemetry_actor.cli.doctor_facts import Dashboard, NodeClocks, Page, Unknown
from nemo_telemetry_actor.cli.doctor_host_checks import (
    actor_clock_check,
    dashboard_check,
    host_memory_check,
    node_clocks_check,
    pages_check,
)
from tests.unit.cli.facts import actor, clocks, facts, reading
from tests.unit.cli.host_rows import about, failed, host

REFUSED = Page("n1", "failed", "http://10.0.0.1:8080/metrics: Connection refused")


def test_a_host_that_does_not_answer_the_actor_fails_with_its_problem() -> None:
    check = host_memory_check(facts(actor=actor(rows=[failed("n1"), host("n2")])))

    assert check.level == "failed"
    assert "1 fresh, 1 failed from each raylet's page (on Ray 2.60.0" in check.found
    assert check.found.endswith("n1: http://10.0.0.1:8080/metrics: Connection refused")


@pytest.mark.parametrize(
    ("changes", "rows", "level"),
    [
        ({}, [host("n1", state="kept")], "warning"),
        ({}, [host("n1", None)], "failed"),
        ({"cycles": 0}, [], "warning"),
        ({"problems": ["the dashboard knows no components"]}, [host("n1")], "warning"),
        ({"problems": ["Ray does not answer"]}, [failed("n1")], "failed"),
        ({"problems": ["Ray does not answer"]}, [], "failed"),
    ],
)
def test_what_the_scraper_says_is_judged(
    changes: dict[str, object], rows: list[dict[str, object]], level: str
) -> None:
    assert host_memory_check(facts(actor=actor(hosts=about(**changes), rows=rows))).level == level


def test_host_memory_that_is_off_is_skipped() -> None:
    check = host_memory_check(facts(actor=actor(hosts=None, rows=[])))

    assert (check.level, "hosts: true" in check.found) == ("skipped", True)


def test_a_page_that_only_this_process_cannot_reach_is_a_warning() -> None:
    check = pages_check(facts(pages=(REFUSED, Page("n2", "read"))))

    assert check.level == "warning"
    assert check.found.startswith("1 of 2 pages carry the memory families; n1: http://10.0.0.1")
    assert "firewalls" in check.next_step


def test_a_page_that_nobody_can_reach_fails() -> None:
    nobody = facts(pages=(REFUSED, Page("n2", "read")), actor=actor(rows=[failed("n1")]))

    assert pages_check(nobody).level == "failed"


@pytest.mark.parametrize("asked", [Unknown("no actor"), actor(hosts=None, rows=[])])
def test_a_bad_page_is_a_warning_where_no_actor_reads_hosts(asked: object) -> None:
    assert pages_check(facts(pages=(REFUSED,), actor=asked)).level == "warning"


def test_a_page_without_the_families_is_told() -> None:
    page = Page("n1", "no_family", "http://n1/metrics: no ray_node_mem_used among 9 bytes")

    check = pages_check(facts(pages=(page,)))

    assert (check.level, page.problem in check.found) == ("warning", True)
    assert "dashboard_agent.log" in check.next_step


def test_pages_that_reading_would_empty_are_not_read() -> None:
    check = pages_check(facts(pages=(Page("n1", "connected"), Page("n2", "connected"))))

    assert (check.level, check.found) == (
        "ok",
        "2 of 2 reached; not read, that would empty them",
    )


@pytest.mark.parametrize(
    ("dashboard", "source", "level"),
    [
        (Dashboard(None), "raylet", "ok"),
        (Dashboard(None), "dashboard", "failed"),
        (Dashboard("h:8265", "refused"), "raylet", "warning"),
        (Dashboard("h:8265", "refused"), "dashboard", "failed"),
        (Dashboard("h:8265", nodes=3), "dashboard", "ok"),
        (Unknown("not found out in time"), "raylet", "failed"),
        (None, "raylet", "skipped"),
    ],
)
def test_the_dashboard_matters_where_it_is_needed(
    dashboard: Dashboard | Unknown | None, source: str, level: str
) -> None:
    one = facts(dashboard=dashboard, actor=actor(hosts=about(source=source)))

    assert dashboard_check(one).level == level


@pytest.mark.parametrize(
    ("ahead_s", "level", "found"),
    [
        (0.0, "ok", "agrees with this process's to within 1 ms"),
        (-0.5, "ok", "agrees with this process's to within 501 ms"),
        (2.5, "warning", "that of head is at least 2.5 s ahead of this process's"),
        (-120.0, "failed", "that of head is at least 120.0 s behind this process's"),
    ],
)
def test_the_actors_clock_is_judged(ahead_s: float, level: str, found: str) -> None:
    check = actor_clock_check(facts(actor=actor(readings=(reading(ahead_s),))))

    assert (check.level, check.found) == (level, found)


def test_nodes_are_compared_with_the_actor_and_not_with_this_process() -> None:
    ahead = facts(actor=actor(readings=(reading(30.0),)), clocks=clocks(n1=30.0, n2=27.0))

    check = node_clocks_check(ahead)

    assert (check.level, check.found) == (
        "warning",
        "that of n2 is at least 3.0 s behind the actor's",
    )


def test_without_an_actor_nodes_are_compared_with_this_process() -> None:
    check = node_clocks_check(facts(actor=Unknown("none"), clocks=clocks(n1=0.0, n2=90.0, n3=3.0)))

    assert (check.level, check.found) == (
        "failed",
        "that of n2 is at least 90.0 s ahead of this process's, and 1 more differ",
    )


def test_a_node_on_which_no_worker_starts_is_a_warning() -> None:
    silent = NodeClocks({"n1": (reading(),)}, {"n2": "no worker started there in time"}, 2)

    check = node_clocks_check(facts(clocks=silent))

    assert check.level == "warning"
    assert "no answer of 1 node: n2: no worker started there in time" in check.found


def test_that_not_every_node_was_asked_is_said() -> None:
    some = NodeClocks({f"n{number}": (reading(),) for number in range(64)}, {}, 300)

    assert "(64 of 300 nodes were asked)" in node_clocks_check(facts(clocks=some)).found


def test_without_any_clock_there_is_a_warning() -> None:
    assert node_clocks_check(facts(clocks=NodeClocks({}, {}, 0))).level == "warning"
