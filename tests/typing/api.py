# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""User code that must type-check under mypy strict; nothing here is run."""

from collections.abc import Iterable, Mapping
from typing import Any, assert_type

import nemo_telemetry_actor as nta


class Logger:
    """A logger class with NeMo-RL's signature."""

    def log_metrics(
        self,
        metrics: Mapping[str, Any],
        step: int,
        prefix: str | None = "",
        step_metric: str | None = None,
        step_finished: bool = False,
    ) -> None:
        """Log."""


def queue_depth(options: object) -> Iterable[nta.Observation]:
    """Observe."""
    del options
    yield nta.Observation(3.0, {"queue": "replay"})


def driver() -> None:
    """Start a run from a file, a mapping, or nothing."""
    telemetry = nta.start(
        "configs/otlp-grpc.yaml",
        run_id="abc",
        algorithm="grpo",
        model="Qwen/Qwen3-8B",
        resource={"team": "rl", "nodes": 4},
    )
    assert_type(telemetry, nta.Telemetry)
    nta.start({"export": {"interval_s": 5.0}})
    undo = nta.install_logger_tee(Logger)
    telemetry.tee({"reward": 0.5, "loss": None}, "train")
    assert_type(telemetry.flush(timeout_s=5.0), bool)
    assert_type(telemetry.shutdown(timeout_s=5.0), bool)
    undo()


def worker(placement_group: Any) -> None:
    """Connect, declare, record, say where a group sits."""
    telemetry = nta.connect(worker_group="reward_model_policy", rank=0)
    kind: nta.InstrumentKind = "histogram"
    telemetry.register_metric_group(
        "env",
        [
            nta.MetricSpec("score", "rl.env.score"),
            nta.MetricSpec("seconds", "rl.env.duration", kind, "s", boundaries=(0.1, 1.0)),
            nta.MetricSpec("depth", "rl.env.depth", "observable_gauge", callback=queue_depth),
        ],
    )
    telemetry.record("env", {"score": 0.8}, attributes={"rl.env": "math"})
    telemetry.record("env", seconds=0.2)
    telemetry.register_worker_group_placement("reward_model_policy", [(placement_group, 0)])
    telemetry.register_worker_group_nodes("teacher", ["ab12"])
    telemetry.forget_worker_group_nodes("teacher")
    assert_type(telemetry.run_id, str)


def errors(path: str) -> str:
    """Catch what a driver can act on."""
    try:
        nta.start(path)
    except nta.ConfigError as error:
        return str(error)
    except nta.ActorUnavailableError:
        return "no actor"
    return ""
