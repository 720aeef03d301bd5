# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A hand-written state of the actor, as its `state` answers."""

from typing import Any

from tests.unit.cli.host_rows import about

NOW = 1_800_000_000_000_000_000
S = 10**9


def run(run_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "state": "open",
        "opened_unix_nano": NOW - 3725 * S,
        "ended_unix_nano": None,
        "clients": 2,
        "series": 7,
        "points": 1500,
        "attributes": {"rl.algorithm": "grpo", "rl.model": "Qwen/Qwen3-8B [fp8]"},
        **changes,
    }


def client(client_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "client_id": client_id,
        "run_id": "run-a",
        "host": "node-1",
        "pid": 4321,
        "worker_group": "lm_policy",
        "rank": 0,
        "series": 3,
        "points": 12,
        "heard_unix_nano": NOW - 4 * S,
        "state": "live",
        **changes,
    }


def exporter(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "state": "up",
        "sent": 12_345,
        "rejected": 0,
        "failed": 0,
        "dropped": {},
        "backlog_points": 0,
        "last_success_unix_nano": NOW - 2 * S,
        "last_error": "",
        **changes,
    }


def state(**changes: Any) -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "incarnation": "abc",
        "host": "head",
        "pid": 99,
        "started_unix_nano": NOW - 7200 * S,
        "time_unix_nano": NOW,
        "http_url": "http://127.0.0.1:9464",
        "problems": [],
        "runs": [run("run-a")],
        "clients": [client("c0ffee0000")],
        "ingest": {"accepted": 1500, "duplicate_batches": 0, "dropped": {}, "series": 7},
        "exporters": [exporter("otlp grpc collector:4317")],
        "hosts": about(),
        **changes,
    }


def own_series(name: str, value: float, start: int = NOW, **attributes: str) -> dict[str, Any]:
    return {
        "name": name,
        "attributes": {key.replace("__", "."): text for key, text in attributes.items()},
        "start_time_unix_nano": start,
        "value": value,
    }
