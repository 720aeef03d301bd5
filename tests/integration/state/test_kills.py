# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Real processes that are killed at random instants, the middle of a transaction included."""

import multiprocessing
import os
import random
from pathlib import Path

import pytest

from tests.integration.state.victim import commit_until_killed, number_in, survivors
from tests.snapshots import T0

# `STATE_KILLS=1000` for long; `STATE_KILLS_SEED` repeats a run's instants as far as clocks allow.
KILLS = int(os.environ.get("STATE_KILLS", "30"))
SEED = int(os.environ.get("STATE_KILLS_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)


@pytest.mark.timeout(30 + KILLS)
def test_whenever_it_is_killed_every_acknowledged_commit_is_there_and_no_half_one(
    tmp_path: Path,
) -> None:
    again = f"STATE_KILLS_SEED={SEED}"
    instants = random.Random(SEED)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.integration.state.victim"])
    path, answers = tmp_path / "state", tmp_path / "answers"
    steps: list[int] = []

    for _ in range(KILLS):
        victim = processes.Process(target=commit_until_killed, args=(path, answers))
        victim.start()
        victim.join(instants.uniform(0.0, 0.15))
        victim.kill()
        victim.join()
        acknowledged, found = number_in(answers), survivors(path)
        steps.append(int(str(found["steps"])))
        # The last one may be committed although its answer was not given any more.
        assert steps[-1] in {acknowledged, acknowledged + 1}, again
        if steps[-1]:
            assert found == {
                "problems": [],
                "steps": steps[-1],
                "observations": steps[-1],
                "start": (T0, T0),
                "window": (steps[-1], []),
                "accepted": steps[-1] * 52,
                "head": steps[-1] * 50,
                "points are in order": True,
            }, again

    assert steps == sorted(steps)
    assert steps[-1] > 0
