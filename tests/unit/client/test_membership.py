# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import os
from typing import Any

import numpy as np
import pytest

from nemo_telemetry_actor.client.membership import Membership
from nemo_telemetry_actor.wire.messages import Hello, decode, encode


def test_the_greeting_says_who_the_process_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    me = Membership(job_id="01", run_id="r", scheduler_id="42", worker_group="policy", rank=3)
    monkeypatch.setenv("WORLD_SIZE", "8")

    hello = me.hello(5)

    assert (hello.client_id, hello.job_id, hello.run_id) == (me.client_id, "01", "r")
    assert (hello.scheduler_id, hello.opens_run, hello.first_sequence) == ("42", False, 5)
    assert hello.process_attributes["process.pid"] == os.getpid()
    assert hello.process_attributes["rl.worker_group"] == "policy"
    assert hello.process_attributes["nv.dl.rank"] == 3
    assert hello.process_attributes["nv.dl.world_size"] == 8


def test_what_was_detected_stands_under_what_the_process_says_itself() -> None:
    me = Membership(own_attributes={"process.pid": -1, "process.runtime.name": "cpython"})

    attributes = me.hello(0).process_attributes

    assert attributes["process.pid"] == os.getpid()
    assert attributes["process.runtime.name"] == "cpython"


@pytest.mark.parametrize(
    ("rank", "worker_group", "sent"),
    [
        (np.int64(3), "policy", {"nv.dl.rank": 3, "rl.worker_group": "policy"}),
        (3, "\udcff", {"nv.dl.rank": 3, "rl.worker_group": "?"}),
        (object(), "policy", {"rl.worker_group": "policy"}),
    ],
)
def test_a_greeting_can_always_be_sent(rank: Any, worker_group: str, sent: dict[str, Any]) -> None:
    me = Membership(rank=rank, worker_group=worker_group, scheduler_id="\udcff")

    hello = decode(encode(me.hello(0)), Hello)

    keys = ("nv.dl.rank", "rl.worker_group")
    assert {k: v for k, v in hello.process_attributes.items() if k in keys} == sent


def test_whoever_starts_the_run_becomes_its_driver_with_rank_zero() -> None:
    me = Membership()

    me.open_run({"rl.algorithm": "grpo"}, {"service.version": "1"})

    hello = me.hello(0)
    assert hello.opens_run
    assert hello.run_attributes == {"rl.algorithm": "grpo"}
    assert hello.process_attributes["nv.dl.rank"] == 0


def test_a_stated_rank_stays_when_the_run_is_opened() -> None:
    me = Membership(rank=2)

    me.open_run({}, {})

    assert me.rank == 2


def test_a_forked_child_is_another_client_of_the_same_run_that_never_ends_it() -> None:
    parent = Membership(
        job_id="01", run_id="r", worker_group="g", rank=1, opens_run=True, run_attributes={"a": 1}
    )

    child = parent.forked()

    assert child.client_id != parent.client_id
    assert not child.opens_run
    assert child.run_attributes == {}
    assert (child.job_id, child.run_id, child.worker_group, child.rank) == ("01", "r", "g", 1)
