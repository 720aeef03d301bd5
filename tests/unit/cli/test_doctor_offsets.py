# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""What readings prove of a clock, and which nodes are asked."""

import pytest

from nemo_telemetry_actor.cli.doctor_facts import ClockReading
from nemo_telemetry_actor.cli.doctor_offsets import (
    MAX_NODES,
    Offset,
    between,
    chosen,
    names_of,
    offset,
)
from tests.unit.cli.facts import node

S = 10**9


def test_an_answer_was_given_within_its_trip_and_proves_no_more() -> None:
    assert offset([ClockReading(10 * S, 15 * S, 14 * S)]) == Offset(1.0, 5.0)


def test_a_quick_trip_narrows_what_a_slow_one_proves() -> None:
    slow, quick = ClockReading(0, 4 * S, 9 * S), ClockReading(10 * S, 11 * S, 11 * S)

    assert offset([slow, quick]) == Offset(0.0, 1.0)


def test_readings_that_contradict_each_other_leave_both_possible() -> None:
    before, after = ClockReading(0, 0, 0), ClockReading(5 * S, 0, 5 * S)

    assert offset([before, after]) == Offset(-5.0, 0.0)


@pytest.mark.parametrize(
    ("low_s", "high_s", "at_least_s"), [(-1.0, 2.0, 0.0), (3.0, 5.0, 3.0), (-5.0, -3.0, 3.0)]
)
def test_clocks_that_may_agree_are_not_apart(
    low_s: float, high_s: float, at_least_s: float
) -> None:
    assert Offset(low_s, high_s).at_least_s == at_least_s


def test_two_clocks_are_compared_through_a_third_and_doubts_add_up() -> None:
    assert between(Offset(1.0, 2.0), Offset(-1.0, 0.5)) == Offset(0.5, 3.0)


def test_of_many_nodes_one_of_each_host_is_asked_first() -> None:
    nodes = [node(number, f"h{number % 40}") for number in range(200)]

    asked = chosen(nodes)

    assert len(asked) == MAX_NODES
    assert {each.host for each in asked[:40]} == {f"h{number}" for number in range(40)}


def test_nodes_that_share_a_host_are_told_apart() -> None:
    nodes = [node(1, "a"), node(2, "b"), node(3, "b")]

    assert list(names_of(nodes).values()) == ["a", "b (id-00002)", "b (id-00003)"]
