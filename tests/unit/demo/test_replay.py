# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from nemo_telemetry_actor.demo.replay import Offer, ReplayBuffer, Rollout, is_stale


def rollout(version: int, thread_seconds: float = 0.0) -> Rollout:
    empty = np.zeros((1, 1))
    return Rollout(
        empty, empty.astype(np.int64), empty, empty, version=version, thread_seconds=thread_seconds
    )


@pytest.mark.parametrize(
    ("rollout_version", "trainer_version", "stale"),
    [(5, 5, False), (4, 5, False), (3, 5, True), (6, 5, False)],
)
def test_a_rollout_is_stale_past_the_lag_and_not_at_it(
    rollout_version: int, trainer_version: int, stale: bool
) -> None:
    assert is_stale(rollout_version, trainer_version, max_lag=1) is stale


def test_rollouts_come_out_in_the_order_they_went_in() -> None:
    buffer = ReplayBuffer(3, 1, on_stale=lambda _: None)
    first, second, third = rollout(0), rollout(0), rollout(0)
    for each in (first, second, third):
        assert buffer.offer(each) is Offer.STORED

    assert buffer.take(2, timeout_s=0.0) == [first, second]
    assert buffer.take(2, timeout_s=0.0) is None
    assert len(buffer) == 1


def test_a_full_buffer_refuses_and_keeps_what_it_has() -> None:
    discarded: list[Rollout] = []
    buffer = ReplayBuffer(1, 1, discarded.append)
    kept = rollout(0)
    buffer.offer(kept)

    assert buffer.offer(rollout(0)) is Offer.FULL
    assert buffer.take(1, timeout_s=0.0) == [kept]
    assert discarded == []


def test_what_goes_stale_while_it_waits_is_discarded_once_and_never_trained_on() -> None:
    discarded: list[Rollout] = []
    buffer = ReplayBuffer(4, 1, discarded.append)
    old, new = rollout(0), rollout(1)
    buffer.offer(old)
    buffer.offer(new)

    buffer.advance(2)
    buffer.advance(2)

    assert discarded == [old]
    assert buffer.take(1, timeout_s=0.0) == [new]


def test_what_is_stale_when_it_is_offered_is_discarded_even_if_there_is_no_room() -> None:
    discarded: list[Rollout] = []
    buffer = ReplayBuffer(1, 0, discarded.append)
    buffer.advance(3)
    buffer.offer(rollout(3))
    late = rollout(2)

    assert buffer.offer(late) is Offer.STALE
    assert discarded == [late]


def test_a_buffer_without_room_for_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        ReplayBuffer(0, 1, on_stale=lambda _: None)
