# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nemo_telemetry_actor.registry.window import SequenceWindow


@given(first=st.integers(0, 3), data=st.data())
def test_each_sequence_is_accepted_exactly_once_in_any_order(first: int, data: Any) -> None:
    arrivals = data.draw(st.lists(st.integers(first, first + 5), max_size=20))
    window = SequenceWindow(first)

    accepted = [sequence for sequence in arrivals if window.try_accept(sequence)]

    assert sorted(accepted) == sorted(set(arrivals))
    assert all(sequence in window for sequence in arrivals)


@given(arrivals=st.lists(st.integers(0, 6), max_size=12), floor=st.integers(0, 5))
def test_what_was_acknowledged_stays_seen_and_the_rest_is_still_accepted_once(
    arrivals: list[int], floor: int
) -> None:
    window = SequenceWindow()
    before = {sequence for sequence in arrivals if window.try_accept(sequence)}

    window.forget_below(floor)

    after = {sequence for sequence in range(8) if window.try_accept(sequence)}
    assert after == set(range(floor, 8)) - before


@given(order=st.permutations(range(8)))
def test_nothing_is_remembered_of_a_gap_that_has_closed(order: list[int]) -> None:
    window = SequenceWindow()

    for sequence in order:
        window.try_accept(sequence)

    assert window._above == set()
