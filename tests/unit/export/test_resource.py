# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from nemo_telemetry_actor.export.resource import detect


def test_what_is_true_of_one_process_is_kept_apart_from_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "OTEL_RESOURCE_ATTRIBUTES",
        "deployment.environment=lab,k8s.pod.name=p,k8s.namespace.name=n,host.id=h",
    )

    of_run, of_process = detect("nemo-rl", {"nemo.algorithm": "grpo", "nemo.model": None})

    assert of_run["service.name"] == "nemo-rl"
    assert of_run["nemo.algorithm"] == "grpo"
    assert of_run["deployment.environment"] == "lab"
    assert of_run["k8s.namespace.name"] == "n"
    assert "nemo.model" not in of_run
    assert {of_process["k8s.pod.name"], of_process["host.id"]} == {"p", "h"}
    assert of_process["process.pid"] > 0
    assert of_process["os.type"] == "linux"
    assert set(of_run) & set(of_process) == set()


def test_neither_command_line_nor_the_sdks_own_instance_is_in_a_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=x,process.command_args=y")

    of_run, of_process = detect("nemo-rl", {})

    left_out = ("process.command", "process.command_line", "process.command_args")
    assert [key for key in (*left_out, "service.instance.id") if key in of_run | of_process] == []


def test_what_the_caller_says_wins_over_what_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=detected,service.name=other")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "another")

    of_run, _ = detect("nemo-rl", {"team": "said"})

    assert (of_run["team"], of_run["service.name"]) == ("said", "nemo-rl")
