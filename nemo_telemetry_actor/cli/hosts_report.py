# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From what the actor knows of the hosts to one report: what is wrong, and who comes first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from nemo_telemetry_actor.cli.wording import counted, listed

WITHOUT_SAMPLE: Final = ("failed", "no_sample")
_ORDER: Final = {"failed": 0, "no_sample": 1}
_TURN_ON: Final = (
    "set hosts: true (or remove hosts: false) in the configuration, then nemo-telemetry stop and "
    "nemo-telemetry start --config FILE"
)


class HostsReport(msgspec.Struct, frozen=True):
    """What `nemo-telemetry hosts` shows, and prints with `--json`.

    Args:
        healthy: Whether every host has a sample.
        trouble: What is wrong, one sentence each.
        next_step: What to do about it; empty when nothing is wrong.
        address: The Ray cluster's.
        source: Where the values come from, `raylet` or `dashboard`; None when that is not known.
        reason: Why.
        counts: Hosts by state.
        problems: What is wrong beyond single hosts.
        runs: The open runs.
        hosts: The rows of the actor's `hosts`: those without a sample first, then the fullest.
    """

    healthy: bool
    trouble: list[str]
    next_step: str
    address: str
    source: str | None = None
    reason: str = ""
    counts: dict[str, int] = {}
    problems: list[str] = []
    runs: list[str] = []
    hosts: list[dict[str, Any]] = []


def unknown_hosts(address: str, trouble: str, next_step: str) -> HostsReport:
    """Return the report where nothing is known of any host."""
    return HostsReport(healthy=False, trouble=[trouble], next_step=next_step, address=address)


def build_hosts_report(
    address: str, state: Mapping[str, Any], hosts: Sequence[dict[str, Any]]
) -> HostsReport:
    """Judge what the actor knows.

    Args:
        address: The Ray cluster's.
        state: What the actor's `state` answers.
        hosts: What its `hosts` answers.
    """
    about = state.get("hosts")
    if about is None:
        return unknown_hosts(address, "host memory is off in the actor's configuration", _TURN_ON)
    trouble, next_step = _judged(about, hosts)
    return HostsReport(
        healthy=not trouble,
        trouble=trouble,
        next_step=next_step,
        address=address,
        source=about["source"],
        reason=about["reason"],
        counts=dict(Counter(host["state"] for host in hosts)),
        problems=list(about["problems"]),
        runs=[run["run_id"] for run in state["runs"] if run["state"] == "open"],
        hosts=sorted(hosts, key=_urgency),
    )


def _judged(about: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
    if not hosts and not about["cycles"]:
        return ["the first sweep over the hosts is not over yet"], "nemo-telemetry hosts, again"
    if not hosts:
        return ["the actor knows no host", *about["problems"]], "nemo-telemetry doctor"
    without = [host["host"] for host in hosts if host["state"] in WITHOUT_SAMPLE]
    if not without:
        return [], ""
    names = listed(sorted(without), between=", ")
    return [f"no sample of {counted(len(without), 'host')}: {names}"], "nemo-telemetry doctor"


def _urgency(host: Mapping[str, Any]) -> tuple[object, ...]:
    """Order: no answer, no sample, then by share; a share that cannot be told comes before all."""
    share = host["share"]
    return (_ORDER.get(host["state"], 2), -(1.1 if share is None else share), host["host"])
