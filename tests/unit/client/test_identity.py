# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import os
import socket

import pytest

from nemo_telemetry_actor.client.identity import (
    fresh_run_id,
    new_client_id,
    process_attributes,
    sendable,
    stated_run_id,
)


@pytest.mark.parametrize(
    ("argument", "environ", "stated"),
    [
        ("arg", {"NEMO_RL_OTEL_RUN_ID": "a", "NEMO_LENS_RUN_ID": "b"}, "arg"),
        (None, {"NEMO_RL_OTEL_RUN_ID": "a", "NEMO_LENS_RUN_ID": "b"}, "a"),
        (None, {"NEMO_LENS_RUN_ID": "b"}, "b"),
        (None, {"SLURM_JOB_ID": "7"}, ""),
        (None, {}, ""),
        ("", {"NEMO_LENS_RUN_ID": "b"}, "b"),
        ("  ", {"NEMO_RL_OTEL_RUN_ID": " ", "NEMO_LENS_RUN_ID": " b "}, "b"),
        ("r\ud800n", {}, "r?n"),
    ],
)
def test_an_argument_beats_the_variables_in_their_order(
    argument: str | None, environ: dict[str, str], stated: str
) -> None:
    assert stated_run_id(argument, environ) == stated


def test_ids_are_hexadecimal_and_new_each_time() -> None:
    assert len({fresh_run_id() for _ in range(50)}) == 50
    assert len({new_client_id() for _ in range(50)}) == 50
    assert len(fresh_run_id()) == 12
    assert len(new_client_id()) == 32
    int(fresh_run_id() + new_client_id(), 16)


def test_a_process_says_its_host_and_number() -> None:
    attributes = process_attributes({}, worker_group=None, rank=None)

    assert attributes == {"host.name": socket.gethostname(), "process.pid": os.getpid()}


def test_arguments_beat_the_environment() -> None:
    environ = {"RANK": "7", "NRL_WORKER_GROUP": "from_env", "WORLD_SIZE": "8", "LOCAL_RANK": "3"}

    said = process_attributes(environ, worker_group="policy", rank=0)
    read = process_attributes(environ, worker_group=None, rank=None)

    assert (said["rl.worker_group"], said["nv.dl.rank"]) == ("policy", 0)
    assert (read["rl.worker_group"], read["nv.dl.rank"]) == ("from_env", 7)
    assert (read["nv.dl.world_size"], read["nv.dl.local_rank"]) == (8, 3)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "٣", "9" * 5000])
def test_a_variable_that_is_no_number_is_left_out(text: str) -> None:
    assert "nv.dl.rank" not in process_attributes({"RANK": text}, worker_group=None, rank=None)


def test_the_scheduler_and_the_pod_are_read_first_variable_first() -> None:
    environ = {
        "SLURM_JOB_ID": "42",
        "SLURM_JOB_PARTITION": "batch",
        "SLURM_CLUSTER_NAME": "",
        "POD_NAME": "pod-b",
        "K8S_POD_NAME": "pod-a",
    }

    attributes = process_attributes(environ, worker_group=None, rank=None)

    assert attributes["slurm.job.id"] == "42"
    assert attributes["slurm.job.partition"] == "batch"
    assert attributes["k8s.pod.name"] == "pod-a"
    assert "slurm.cluster.name" not in attributes


def test_an_attribute_that_cannot_travel_costs_only_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert sendable({"a": "ok", "b": object(), "c": "\udcff"}) == {"a": "ok", "c": "?"}
    assert "resource attribute 'b' is left out" in caplog.text
