# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import asyncio
import logging
from collections.abc import Collection, Mapping

import pytest

from nemo_telemetry_actor.actor.loops import Loops
from nemo_telemetry_actor.placement.table import Answer
from tests.unit.actor.host_world import INTERVAL_S, World


class Timed(World):
    """A world that notes when each sweep of its loop began; the first ones take these seconds."""

    def __init__(self, *takes_s: float) -> None:
        super().__init__()
        self.takes_s = list(takes_s)
        self.fails = 0
        self.began_s: list[float] = []

    async def _resolve(self, group_ids: Collection[str]) -> Mapping[str, Answer]:
        # The first thing that a sweep does.
        self.began_s.append(round(self.clock.monotonic() - 1000.0, 2))
        if self.fails:
            self.fails -= 1
            raise OSError("no more threads")
        await asyncio.sleep(self.takes_s.pop(0) if self.takes_s else 0.0)
        return await super()._resolve(group_ids)

    def run_for(self, seconds: float) -> None:
        async def main() -> None:
            loops = Loops(self.core)
            loops.start()
            await asyncio.sleep(seconds)
            await loops.stop()

        self.wait_for(main())


def test_the_first_sweep_is_at_once_and_the_next_ones_keep_their_phase() -> None:
    world = Timed(3.0, 0.5, 4.0)

    world.run_for(4 * INTERVAL_S - 1.0)

    assert world.began_s == [0.0, 10.0, 20.0, 30.0]


def test_a_sweep_longer_than_the_interval_skips_a_turn_and_keeps_the_phase() -> None:
    world = Timed(12.0)

    world.run_for(4 * INTERVAL_S - 1.0)

    assert world.began_s == [0.0, 20.0, 30.0]


def test_a_sweep_that_fails_is_logged_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = Timed()
    world.fails = 2

    with caplog.at_level(logging.ERROR):
        world.run_for(3 * INTERVAL_S - 1.0)

    assert world.began_s == [0.0, 10.0, 20.0]
    assert caplog.messages == ["a sweep of the hosts failed"] * 2


def test_what_a_sweep_found_is_seen_with_the_next_tick() -> None:
    world = Timed()
    world.client()

    world.run_for(1.5)

    assert world.labels() == {"alpha": "none", "beta": "none"}


def test_a_sweep_under_way_does_not_hold_up_the_end() -> None:
    world = Timed(1000.0)

    world.run_for(1.0)

    assert world.clock.monotonic() - 1000.0 == pytest.approx(1.0)
