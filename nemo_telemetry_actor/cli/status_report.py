# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From the actor's state and the series that clients report about themselves to one report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

CLIENT_DROPPED: Final = "nemo_telemetry.client.dropped"
NONFINITE: Final = "nemo_telemetry.nonfinite"


class NonFinite(msgspec.Struct, frozen=True):
    """How many values of one metric were NaN or infinite, in all processes, and since when."""

    metric: str
    count: int
    since_unix_nano: int


class StatusReport(msgspec.Struct, frozen=True):
    """What `nemo-telemetry status` shows, and prints with `--json`.

    Args:
        healthy: Whether nothing is wrong.
        trouble: What is wrong, one sentence each.
        next_step: What to do about it; empty when nothing is wrong.
        address: The Ray cluster's.
        client_dropped: Measurements that clients lost, by reason.
        nonfinite: Metrics with values that are no numbers, most first.
        actor: The actor's whole state; None when it is absent or silent.
    """

    healthy: bool
    trouble: list[str]
    next_step: str
    address: str
    client_dropped: dict[str, int] = {}
    nonfinite: list[NonFinite] = []
    actor: dict[str, Any] | None = None


def silent_report(address: str, trouble: str, next_step: str) -> StatusReport:
    """Return the report of a cluster whose actor is absent or says nothing."""
    return StatusReport(healthy=False, trouble=[trouble], next_step=next_step, address=address)


def build_report(
    address: str, state: dict[str, Any], own_series: Sequence[Mapping[str, Any]]
) -> StatusReport:
    """Judge the actor's state.

    Args:
        address: The Ray cluster's.
        state: What the actor's `state` answers.
        own_series: What its `series` answers for `CLIENT_DROPPED` and `NONFINITE`.
    """
    down = [each for each in state["exporters"] if each["state"] == "down"]
    # A host without a sample is the business of `hosts` and `doctor`: at any time one of three
    # hundred may be on its way out.
    host_problems = (state.get("hosts") or {}).get("problems", [])
    trouble = [
        *state["problems"],
        *(f"{each['name']} is down" for each in down),
        *(f"host memory: {problem}" for problem in host_problems),
    ]
    next_step = ""
    if state["problems"]:
        next_step = (
            "correct the configuration (nemo-telemetry check-config FILE), then nemo-telemetry "
            "stop and nemo-telemetry start --config FILE"
        )
    elif down:
        next_step = (
            "see that the backend answers, its points wait meanwhile; then "
            "nemo-telemetry status --watch 5"
        )
    elif host_problems:
        next_step = "nemo-telemetry doctor"
    dropped: Counter[str] = Counter()
    for row in own_series:
        if row["name"] == CLIENT_DROPPED:
            dropped[str(row["attributes"].get("reason"))] += int(row["value"])
    return StatusReport(
        healthy=not trouble,
        trouble=trouble,
        next_step=next_step,
        address=address,
        client_dropped=dict(dropped),
        nonfinite=_nonfinite(own_series),
        actor=state,
    )


def _nonfinite(own_series: Sequence[Mapping[str, Any]]) -> list[NonFinite]:
    counts: Counter[str] = Counter()
    since: dict[str, int] = {}
    for row in own_series:
        if row["name"] == NONFINITE:
            metric = str(row["attributes"].get("rl.metric"))
            counts[metric] += int(row["value"])
            start = row["start_time_unix_nano"]
            since[metric] = min(since.get(metric, start), start)
    return [NonFinite(metric, count, since[metric]) for metric, count in counts.most_common()]
