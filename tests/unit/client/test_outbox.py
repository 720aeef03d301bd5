# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from nemo_telemetry_actor.client.outbox import CALL_TIMEOUT_S, MAX_HELD, MAX_IN_FLIGHT, Outbox


def outbox(count: int = 0, jitter: float = 0.5) -> Outbox:
    """With 0.5 for jitter a wait is exactly as long as planned."""
    box = Outbox(lambda: jitter)
    for index in range(count):
        box.put(b"%d" % index, points=10)
    return box


def send_due(box: Outbox, now_s: float) -> list[int]:
    due = [held.sequence for held in box.due(now_s)]
    for sequence in due:
        box.sent(sequence, now_s)
    return due


def test_sequences_count_up_from_zero() -> None:
    box = outbox()

    assert [box.put(b"", 0) for _ in range(3)] == [0, 1, 2]
    assert box.next_sequence == 3


def test_no_more_calls_are_open_than_the_bound() -> None:
    box = outbox(MAX_IN_FLIGHT + 2)

    assert send_due(box, 1.0) == list(range(MAX_IN_FLIGHT))
    assert send_due(box, 1.0) == []
    box.acknowledged(1)
    assert send_due(box, 1.0) == [MAX_IN_FLIGHT]


def test_batches_are_sent_oldest_first_also_after_a_failure() -> None:
    box = outbox(3)
    send_due(box, 1.0)

    for sequence in (2, 0, 1):
        box.failed(sequence, 1.0, permanent=False)

    assert send_due(box, 2.0) == [0, 1, 2]


def test_what_was_acknowledged_is_let_go_of_once() -> None:
    box = outbox(1)

    first, second = box.acknowledged(0), box.acknowledged(0)

    assert first is not None
    assert first.points == 10
    assert second is None
    assert len(box) == 0


def test_points_that_are_not_acknowledged_are_counted() -> None:
    box = outbox(3)
    box.acknowledged(1)

    assert box.points == 20


def test_the_lowest_sequence_is_the_oldest_not_acknowledged_else_the_next() -> None:
    box = outbox(3)

    box.acknowledged(0)
    assert box.lowest == 1
    box.acknowledged(2)
    assert box.lowest == 1
    box.acknowledged(1)
    assert box.lowest == 3


def test_there_is_room_up_to_the_bound() -> None:
    box = outbox(MAX_IN_FLIGHT + MAX_HELD - 1)

    assert box.has_room
    box.put(b"", 0)
    assert not box.has_room


def test_nothing_is_sent_during_a_wait() -> None:
    box = outbox(1)
    send_due(box, 1.0)

    box.failed(0, 1.0, permanent=False)

    assert send_due(box, 1.09) == []
    assert send_due(box, 1.11) == [0]


def test_the_next_send_is_after_the_wait_and_never_while_nothing_can_be_sent() -> None:
    box = outbox(1)
    assert box.next_send_s == 0.0

    send_due(box, 1.0)
    assert box.next_send_s == math.inf
    box.failed(0, 1.0, permanent=False)
    assert box.next_send_s == pytest.approx(1.1)
    box.acknowledged(0)
    assert box.next_send_s == math.inf


def test_waits_double_from_a_tenth_of_a_second_to_five() -> None:
    box, now_s, waits = outbox(), 0.0, []
    for _ in range(8):
        box.wait(now_s)
        waits.append(round(box.not_before_s - now_s, 6))
        now_s = box.not_before_s

    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


@pytest.mark.parametrize(("jitter", "wait_s"), [(0.0, 0.05), (0.999, 0.1499)])
def test_waits_are_spread_by_half_either_way(jitter: float, wait_s: float) -> None:
    box = outbox(jitter=jitter)

    box.wait(1.0)

    assert box.not_before_s - 1.0 == pytest.approx(wait_s)


def test_several_failures_at_one_time_are_one_wait() -> None:
    box = outbox(3)
    send_due(box, 1.0)
    for sequence in range(3):
        box.failed(sequence, 1.0, permanent=False)

    assert box.not_before_s == pytest.approx(1.1)


def test_an_acknowledgement_makes_the_next_wait_short_again() -> None:
    box = outbox(2)
    for now_s in (1.0, 2.0, 3.0):
        box.wait(now_s)

    box.acknowledged(0)
    box.wait(10.0)

    assert box.not_before_s == pytest.approx(10.1)


def test_hurry_ends_the_wait() -> None:
    box = outbox(1)
    box.wait(1.0)

    box.hurry()

    assert send_due(box, 1.0) == [0]


def test_a_batch_that_makes_the_actor_fail_is_given_up_after_five_times() -> None:
    box = outbox(2)

    given_up = [box.failed(0, float(now_s), permanent=True) for now_s in range(1, 6)]

    assert given_up[:4] == [None] * 4
    assert given_up[4] is not None
    assert given_up[4].sequence == 0
    assert len(box) == 1


def test_a_batch_is_never_given_up_because_nobody_is_there() -> None:
    box = outbox(1)

    assert all(box.failed(0, float(now), permanent=False) is None for now in range(50))
    assert len(box) == 1


def test_a_late_failure_of_an_acknowledged_batch_changes_nothing() -> None:
    box = outbox(1)
    box.acknowledged(0)

    assert box.failed(0, 1.0, permanent=True) is None
    assert box.not_before_s == 0.0


def test_a_call_without_an_answer_is_overdue_after_its_time() -> None:
    box = outbox(2)
    box.sent(0, 1.0)

    assert box.overdue(1.0 + CALL_TIMEOUT_S) == []
    assert box.overdue(1.1 + CALL_TIMEOUT_S) == [0]
