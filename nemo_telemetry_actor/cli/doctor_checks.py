# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From facts to checks: versions, configuration, the actor, and where its values go. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from nemo_telemetry_actor.cli.doctor_check import Check, unknown
from nemo_telemetry_actor.cli.doctor_facts import (
    Actor,
    Cluster,
    Facts,
    Reach,
    Unknown,
)
from nemo_telemetry_actor.cli.doctor_host_checks import (
    actor_clock_check,
    dashboard_check,
    host_memory_check,
    node_clocks_check,
    pages_check,
)
from nemo_telemetry_actor.cli.wording import counted, listed
from nemo_telemetry_actor.scrape.way import choose

FIRST_RAY: Final = (2, 49)
_SLOW_S: Final = 1.0
_NO_ACTOR: Final = "there is no actor to ask"
_RESTART: Final = "nemo-telemetry stop, then nemo-telemetry start --config FILE"


def all_checks(facts: Facts) -> list[Check]:
    """Return every check, in the order in which to mend what is wrong."""
    return [
        ray_check(facts),
        package_check(facts),
        configuration_check(facts),
        cluster_check(facts),
        actor_check(facts),
        *problem_checks(facts),
        differences_check(facts),
        http_check(facts),
        host_memory_check(facts),
        pages_check(facts),
        dashboard_check(facts),
        *exporter_checks(facts),
        actor_clock_check(facts),
        node_clocks_check(facts),
    ]


def ray_check(facts: Facts) -> Check:
    """Check Ray's version here and in the cluster."""
    here = facts.here.ray
    there = facts.cluster.ray if isinstance(facts.cluster, Cluster) else ""
    match = re.match(r"(\d+)\.(\d+)", here)
    if match is None:
        return Check("Ray", "warning", f"version {here!r} here, which says nothing")
    if (int(match[1]), int(match[2])) < FIRST_RAY:
        return Check(
            "Ray",
            "failed",
            f"{here} here is too old",
            "pip install 'ray[default]>=2.49' everywhere",
        )
    if there and there != here:
        return Check(
            "Ray",
            "warning",
            f"{here} here, {there} in the cluster",
            f"run this with the cluster's: pip install 'ray[default]=={there}'",
        )
    where = "here and in the cluster" if there else "here"
    if choose("auto", there or here).source == "dashboard":
        return _emptying_ray(facts, f"{here} {where}")
    return Check("Ray", "ok", f"{here} {where}")


def _emptying_ray(facts: Facts, version: str) -> Check:
    """Judge a Ray on which reading a raylet's page takes its gauges from other readers."""
    hosts = facts.actor.state.get("hosts") if isinstance(facts.actor, Actor) else None
    found = f"{version}: reading a raylet's page empties it for your own Prometheus"
    if hosts is not None and hosts["source"] == "dashboard":
        return Check("Ray", "ok", f"{found}, so host memory comes from the dashboard")
    if hosts is not None:
        return Check(
            "Ray",
            "warning",
            f"{found}, and the actor reads them",
            "run Ray with its dashboard and set hosts.via: auto, or use Ray 2.57 or newer",
        )
    return Check("Ray", "ok", f"{found}; keep its dashboard on, which the actor asks instead")


def package_check(facts: Facts) -> Check:
    """Check this package's version here and in the actor."""
    here = facts.here.package
    if not isinstance(facts.actor, Actor):
        return Check("package", "ok", f"{here} here")
    there = facts.actor.state["version"]
    if there == here:
        return Check("package", "ok", f"{here} here and in the actor")
    return Check(
        "package",
        "warning",
        f"{here} here, {there} in the actor",
        "install one version everywhere, then nemo-telemetry stop and nemo-telemetry start",
    )


def configuration_check(facts: Facts) -> Check:
    """Check the configuration that is wanted."""
    wanted = facts.configuration
    source = wanted.path or "the defaults and this shell's OTEL_* variables"
    if wanted.problem:
        return Check(
            "configuration",
            "failed",
            wanted.problem,
            f"correct it, then run nemo-telemetry check-config {wanted.path or ''}".rstrip(),
        )
    return Check("configuration", "ok", f"{source}: valid")


def cluster_check(facts: Facts) -> Check:
    """Check that the cluster can be joined."""
    cluster = facts.cluster
    if not isinstance(cluster, Cluster):
        return unknown("cluster", cluster, "no cluster was asked")
    hosts = len({node.host for node in cluster.nodes})
    nodes = counted(len(cluster.nodes), "live node")
    return Check("cluster", "ok", f"{cluster.address}, {nodes} on {counted(hosts, 'host')}")


def actor_check(facts: Facts) -> Check:
    """Check that the actor is there and answers soon."""
    actor = facts.actor
    if not isinstance(actor, Actor):
        return unknown("actor", actor, "there is no cluster to look for it in")
    trip_s = min(each.answered - each.asked for each in actor.readings) / 1e9
    state = actor.state
    found = f"process {state['pid']} on {state['host']} answers in {trip_s * 1e3:.1f} ms"
    if trip_s <= _SLOW_S:
        return Check("actor", "ok", found)
    return Check(
        "actor", "warning", found, "see whether its machine is overloaded: top, ray status"
    )


def problem_checks(facts: Facts) -> Iterable[Check]:
    """Return one failed check for each problem that the actor has."""
    if not isinstance(facts.actor, Actor):
        return [Check("actor's problems", "skipped", _NO_ACTOR)]
    problems = facts.actor.state["problems"]
    if not problems:
        return [Check("actor's problems", "ok", "none")]
    return [Check("actor's problems", "failed", text, _RESTART) for text in problems]


def differences_check(facts: Facts) -> Check:
    """Check that the actor runs with the configuration that is wanted."""
    name = "actor's configuration"
    if not isinstance(facts.actor, Actor):
        return Check(name, "skipped", _NO_ACTOR)
    differs = facts.actor.differences
    if differs is None:
        return Check(name, "skipped", "not compared: give the file that you want with --config")
    if differs:
        return Check(name, "warning", listed(differs), _RESTART)
    return Check(name, "ok", f"the one of {facts.configuration.path}")


def http_check(facts: Facts) -> Check:
    """Check the actor's HTTP server."""
    if not isinstance(facts.actor, Actor):
        return Check("HTTP server", "skipped", _NO_ACTOR)
    if isinstance(facts.http, Unknown):
        return unknown("HTTP server", facts.http, "")
    if facts.http is None:
        return Check("HTTP server", "failed", "off: it could listen nowhere", _RESTART)
    if facts.http.problem:
        return Check(
            "HTTP server",
            "warning",
            f"not reached from here: {facts.http.problem}",
            "see http.host in the configuration, and firewalls between here and the actor",
        )
    return Check("HTTP server", "ok", f"{facts.http.name} {facts.http.note}")


def exporter_checks(facts: Facts) -> list[Check]:
    """Check each push exporter: what the actor says of it, and what is seen from here."""
    failures = [fact for fact in (facts.endpoints, facts.folders) if isinstance(fact, Unknown)]
    checks = [unknown("exporters", failure, "") for failure in failures]
    reaches = {
        reach.name: reach
        for fact in (facts.endpoints, facts.folders)
        if isinstance(fact, tuple)
        for reach in fact
    }
    if not isinstance(facts.actor, Actor):
        checks += [_wanted(reach) for reach in reaches.values()]
        return checks or [Check("exporters", "skipped", _NO_ACTOR)]
    exporters = facts.actor.state["exporters"]
    checks += [_exporter(each, reaches.get(each["name"])) for each in exporters]
    return checks or [Check("exporters", "ok", "none that pushes: values are at /metrics only")]


def _wanted(reach: Reach) -> Check:
    if reach.problem:
        return Check(
            reach.name, "failed", reach.problem, "see that the backend runs, and its address"
        )
    return Check(reach.name, "ok", reach.note)


def _exporter(exporter: Mapping[str, Any], reach: Reach | None) -> Check:
    name, state = exporter["name"], exporter["state"]
    problem = reach.problem if reach else ""
    seen = f"; from here: {problem or reach.note}" if reach else ""
    if state == "down":
        return Check(
            name,
            "failed",
            f"down, {counted(exporter['backlog_points'], 'point')} wait: "
            f"{exporter['last_error']}{seen}",
            "see that it runs and takes data from the actor's machine; points wait meanwhile",
        )
    lost = sum(exporter["dropped"].values())
    if exporter["rejected"] or lost:
        return Check(
            name,
            "warning",
            f"{counted(exporter['sent'], 'point')} sent, {exporter['rejected']:,} rejected, "
            f"{lost:,} dropped: {exporter['last_error'] or 'all is well now'}{seen}",
            "see what the backend says, and nemo-telemetry status",
        )
    sent = f"{counted(exporter['sent'], 'point')} sent" if state == "up" else "nothing sent yet"
    if problem:
        return Check(
            name,
            "failed" if state == "idle" and name.startswith("otlp") else "warning",
            f"{sent}{seen}",
            "see that it is there, and firewalls between here and it",
        )
    return Check(name, "ok", f"{sent}{seen}")
