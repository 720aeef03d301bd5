# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Hand-written answers about hosts, as the actor's `hosts` and `state` give them."""

from typing import Any

GIB = 2**30


def host(name: str, share: float | None = 0.5, **changes: Any) -> dict[str, Any]:
    """A host of 1000 GiB; without a share it has no sample."""
    has_values = share is not None
    return {
        "host": name,
        "state": "fresh" if has_values else "no_sample",
        "used_bytes": share * 1000.0 * GIB if share is not None else None,
        "total_bytes": 1000.0 * GIB if has_values else None,
        "share": share,
        "age_s": 3.25 if has_values else None,
        "source": "node" if has_values else None,
        "raylets": 1,
        "node_ids": [f"id-of-{name}"],
        "groups": {"run-a": "none"},
        "components": {},
        "problem": "",
        **changes,
    }


def failed(name: str, why: str = "http://10.0.0.1:8080/metrics: Connection refused") -> Any:
    return host(name, None, state="failed", problem=why)


def about(**changes: Any) -> dict[str, Any]:
    return {
        "source": "raylet",
        "reason": "on Ray 2.60.0 a raylet's page may be read by many",
        "cycles": 3,
        "problems": [],
        "hosts": {"fresh": 2},
        "totals": {"fresh": 6},
        "placements_refused": {},
        **changes,
    }
