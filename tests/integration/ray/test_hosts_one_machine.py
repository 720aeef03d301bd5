# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Three raylets on one machine are one host, with labels that are true now, on both sides.

What happens is in `one_machine.py`; it happens once, and each test looks at one part.
"""

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.alone import run_alone
from tests.integration.ray.one_machine import INTERVAL_S, LEASE_S

pytestmark = pytest.mark.timeout(180)

# The flush of a client, the tick that commits, and two busy cores.
SLACK_S = 2.0
LABELS = [
    "none", "a", "a,b", "b", "none", "reward_model_policy", "none", "lost", "none", "goes,stays",
    "stays",
]  # fmt: skip


@pytest.fixture(scope="module")
def seen() -> Any:
    return run_alone(Path(__file__).with_name("one_machine.py"), timeout_s=170)


def test_three_raylets_are_one_host_that_has_a_point_at_once(seen: Any) -> None:
    assert (seen["begins"]["raylets"], seen["begins"]["nodes"]) == (3, 3)
    assert seen["begins"]["first_s"] < INTERVAL_S + SLACK_S


def test_a_label_changes_within_an_interval(seen: Any) -> None:
    assert max(seen["labels_change"]) < INTERVAL_S + SLACK_S


def test_every_scrape_shows_one_point_a_host_with_the_label_of_that_moment(seen: Any) -> None:
    host = socket.gethostname()

    assert seen["pulled"]["doubled"] == []
    # Nothing before the first sweep, nothing after the run; no gap in between.
    assert seen["pulled"]["history"] in (
        [*({host: label} for label in LABELS), {}],
        [{}, *({host: label} for label in LABELS), {}],
    )
    assert seen["pulled"]["scrapes"] > 100


def test_every_sweep_is_pushed_as_one_point_a_host_with_the_label_of_that_moment(seen: Any) -> None:
    assert seen["pushed"]["hosts"] == [socket.gethostname()]
    assert seen["pushed"]["doubled"] == []
    assert seen["pushed"]["history"] == LABELS


def test_a_group_built_inside_an_actor_labels_its_host_until_the_actor_is_killed(seen: Any) -> None:
    story = seen["environment_builds_and_is_killed"]

    assert story["is_on_second"]
    # The actors of the environment and of its workers start meanwhile.
    assert story["labelled_s"] < INTERVAL_S + SLACK_S + 10.0
    assert LEASE_S - SLACK_S < story["ended_s"] < LEASE_S + INTERVAL_S + SLACK_S


def test_every_process_has_its_memory_under_its_group_and_rank(seen: Any) -> None:
    processes = [
        ["", 0],
        ["environment", 0],
        ["reward_model_policy", 0],
        ["reward_model_policy", 1],
    ]

    resident = seen["environment_builds_and_is_killed"]["resident"]
    assert [each[:2] for each in resident] == processes
    assert all(2**24 < each[2] < 2**33 for each in resident)
    assert seen["rss_resources"] == processes


def test_a_page_that_hangs_is_passed_over_for_the_next_raylets(seen: Any) -> None:
    states = [state for state, _ in seen["pages_hang"]["seen"]]
    problems = [problem for _, problem in seen["pages_hang"]["seen"] if problem]

    assert states == ["fresh"] * 3
    # The others stand behind the one that is asked first.
    assert len(problems) == 1
    assert "no whole answer within" in problems[0]


def test_a_killed_raylet_costs_the_host_no_point_and_takes_its_groups_along(seen: Any) -> None:
    assert seen["raylet_is_killed"]["raylets"] == 2
    # Ray itself takes thirteen seconds to say so.
    assert seen["raylet_is_killed"]["seconds"] < 20.0


def test_a_removed_node_takes_its_groups_along_at_once(seen: Any) -> None:
    assert seen["node_is_removed"]["raylets"] == 1
    assert seen["node_is_removed"]["seconds"] < INTERVAL_S + SLACK_S


def test_a_run_that_ends_has_no_hosts_any_more(seen: Any) -> None:
    assert seen["ends"] < INTERVAL_S + SLACK_S
