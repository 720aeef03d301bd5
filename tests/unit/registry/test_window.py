# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
from nemo_telemetry_actor.registry.window import MOST_ABOVE, SequenceWindow


def test_a_late_batch_is_no_duplicate() -> None:
    window = SequenceWindow()

    accepted = [window.try_accept(sequence) for sequence in (2, 0, 2, 1, 1, 0, 3)]

    assert accepted == [True, True, False, True, False, False, True]
    assert [sequence in window for sequence in range(5)] == [True, True, True, True, False]


def test_what_was_acknowledged_before_the_client_was_known_is_seen() -> None:
    window = SequenceWindow(first=5)

    assert [window.try_accept(sequence) for sequence in (4, 5)] == [False, True]


def test_the_client_can_say_that_a_hole_will_not_be_filled() -> None:
    window = SequenceWindow()
    window.try_accept(3)
    window.try_accept(5)

    window.forget_below(3)
    window.forget_below(1)

    assert [sequence in window for sequence in range(7)] == [True] * 4 + [False, True, False]


def test_a_batch_given_up_long_ago_costs_no_memory() -> None:
    window = SequenceWindow()

    for sequence in range(1, MOST_ABOVE + 1):
        window.try_accept(sequence)
    assert 0 not in window
    window.try_accept(MOST_ABOVE + 1)

    assert 0 in window
    assert not window.try_accept(MOST_ABOVE)
    assert window.try_accept(MOST_ABOVE + 2)


def test_what_was_forgotten_takes_no_place_of_what_came_later() -> None:
    window = SequenceWindow()
    for sequence in range(1, 2 * MOST_ABOVE, 2):
        window.try_accept(sequence)
    first = 2 * MOST_ABOVE + 10

    window.forget_below(first)
    for sequence in range(first + 1, first + MOST_ABOVE + 2):
        window.try_accept(sequence)

    assert first in window
