# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""From facts to checks: the memory of the hosts, raylets' pages, the dashboard, clocks. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nemo_telemetry_actor.cli.doctor_check import Check, unknown
from nemo_telemetry_actor.cli.doctor_facts import Actor, Facts, Page, Unknown
from nemo_telemetry_actor.cli.doctor_offsets import MAX_NODES, Offset, between, offset
from nemo_telemetry_actor.cli.hosts_report import WITHOUT_SAMPLE
from nemo_telemetry_actor.cli.hosts_view import counts_text, way_text
from nemo_telemetry_actor.cli.wording import counted, listed

APART_S: Final = 1.0
"""Clocks that differ by more deserve a look: values of one moment get different times."""

FAR_APART_S: Final = 60.0
"""Clocks that differ by more do harm: backends refuse points from the future or too old."""

_NO_ACTOR: Final = "there is no actor to ask"
_SYNCHRONISE: Final = "synchronise the clocks: chronyc tracking, or timedatectl, on that machine"
_AGENT: Final = (
    "on that host see dashboard_agent.log in /tmp/ray/session_latest/logs, and firewalls between "
    "it and the actor"
)


def host_memory_check(facts: Facts) -> Check:
    """Check what the actor's own scraper says of every host."""
    name = "host memory"
    if not isinstance(facts.actor, Actor):
        return Check(name, "skipped", _NO_ACTOR)
    about = facts.actor.state.get("hosts")
    if about is None:
        return Check(name, "skipped", "off in the configuration (hosts: true turns it on)")
    return _scraper_check(name, about, facts.actor.hosts)


def _scraper_check(
    name: str, about: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]]
) -> Check:
    way = f"{way_text(about['source'])} ({about['reason']})"
    problems = f"; {listed(about['problems'])}" if about["problems"] else ""
    if not hosts and not about["cycles"]:
        return Check(name, "warning", f"the first sweep is not over, {way}", "run this again")
    if not hosts:
        return Check(name, "failed", f"no host is known, {way}{problems}", "ray status")
    found = f"{counts_text(Counter(host['state'] for host in hosts))} {way}{problems}"
    if without := [host for host in hosts if host["state"] in WITHOUT_SAMPLE]:
        return Check(name, "failed", f"{found}; {_told(without)}", _AGENT)
    if any(host["state"] == "kept" for host in hosts):
        return Check(
            name,
            "warning",
            f"{found}; those kept answer without values for the moment",
            "see whether something else reads their pages; nemo-telemetry hosts --watch",
        )
    if problems:
        return Check(name, "warning", found, "see hosts in the configuration, and ray status")
    return Check(name, "ok", found)


def pages_check(facts: Facts) -> Check:
    """Check every raylet's page as seen from here, beside what the actor sees."""
    name = "raylet pages, from here"
    pages = facts.pages
    if not isinstance(pages, tuple):
        return unknown(name, pages, "there is no cluster to ask")
    bad = [page for page in pages if page.problem]
    carry = sum(page.outcome == "read" for page in pages)
    found = f"{carry} of {len(pages):,} pages carry the memory families"
    if any(page.outcome == "connected" for page in pages):
        found = f"{len(pages) - len(bad)} of {len(pages)} reached; not read, that would empty them"
    if not bad:
        return Check(name, "ok", found)
    told = listed([f"{page.host}: {page.problem}" for page in bad])
    well = _hosts_with_sample(facts)
    if well is not None and any(page.host not in well for page in bad):
        return Check(name, "failed", f"{found}; {told}", _AGENT)
    seen = "" if well is None else "; the actor has the memory of these hosts all the same"
    return Check(name, "warning", f"{found}; {told}{seen}", _firewall(bad))


def dashboard_check(facts: Facts) -> Check:
    """Check the dashboard, which is needed only where the actor asks it."""
    name = "dashboard"
    fact = facts.dashboard
    is_needed = False
    if isinstance(facts.actor, Actor):
        is_needed = (facts.actor.state.get("hosts") or {}).get("source") == "dashboard"
    needed = "needed" if is_needed else "not needed"
    if fact is None or isinstance(fact, Unknown):
        return unknown(name, fact, "there is no cluster to ask")
    if fact.address is None:
        return Check(
            name,
            "failed" if is_needed else "ok",
            f"this Ray has none, {needed} for host memory",
            "ray start --head --include-dashboard=true" if is_needed else "",
        )
    if fact.problem:
        return Check(
            name,
            "failed" if is_needed else "warning",
            f"at {fact.address}, {needed} for host memory: {fact.problem}",
            "see dashboard.log in /tmp/ray/session_latest/logs on the head, and RAY_AUTH_MODE",
        )
    told = f"answers at {fact.address} about {counted(fact.nodes, 'node')}"
    return Check(name, "ok", f"{told}; {needed} for host memory")


def actor_clock_check(facts: Facts) -> Check:
    """Check the actor's clock against ours."""
    name = "clock: actor"
    if not isinstance(facts.actor, Actor):
        return Check(name, "skipped", _NO_ACTOR)
    apart = offset(facts.actor.readings)
    return _clocks(name, {facts.actor.state["host"]: apart}, "this process's")


def node_clocks_check(facts: Facts) -> Check:
    """Check the clocks of the nodes against the actor's, or ours where there is none."""
    name = "clock: nodes"
    clocks = facts.clocks
    if clocks is None or isinstance(clocks, Unknown):
        return unknown(name, clocks, "there is no cluster to ask")
    base, whose = Offset(0.0, 0.0), "this process's"
    if isinstance(facts.actor, Actor):
        base, whose = offset(facts.actor.readings), "the actor's"
    offsets = {node: between(offset(readings), base) for node, readings in clocks.readings.items()}
    asked = len(clocks.readings) + len(clocks.silent)
    of_all = f" ({MAX_NODES} of {clocks.nodes} nodes were asked)" if asked < clocks.nodes else ""
    check = _clocks(name, offsets, whose, of_all)
    if not clocks.silent or check.level == "failed":
        return check
    silent = [f"{node}: {why}" for node, why in sorted(clocks.silent.items())]
    return Check(
        name,
        "warning",
        f"{check.found}; no answer of {counted(len(silent), 'node')}: {listed(silent)}",
        "see whether those nodes can start workers: ray status, raylet.out in their log folders",
    )


def _clocks(name: str, offsets: Mapping[str, Offset], whose: str, note: str = "") -> Check:
    if not offsets:
        return Check(name, "warning", f"no clock could be read{note}", "ray status")
    worst = max(offsets, key=lambda each: offsets[each].at_least_s)
    at_least_s = offsets[worst].at_least_s
    if at_least_s < APART_S:
        loosest_s = max(max(-each.low_s, each.high_s) for each in offsets.values())
        within = "within 1 ms" if loosest_s < 0.001 else f"to within {_span(loosest_s)}"
        count = f"{counted(len(offsets), 'clock')} " if len(offsets) > 1 else ""
        verb = "agree" if len(offsets) > 1 else "agrees"
        return Check(name, "ok", f"{count}{verb} with {whose} {within}{note}")
    direction = "ahead of" if offsets[worst].low_s > 0 else "behind"
    many = sum(each.at_least_s >= APART_S for each in offsets.values())
    others = f", and {many - 1:,} more differ" if many > 1 else ""
    return Check(
        name,
        "failed" if at_least_s >= FAR_APART_S else "warning",
        f"that of {worst} is at least {_span(at_least_s)} {direction} {whose}{others}{note}",
        _SYNCHRONISE,
    )


def _span(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def _hosts_with_sample(facts: Facts) -> frozenset[str] | None:
    """Return the hosts of which the actor has a sample; None when it reads none at all."""
    if not isinstance(facts.actor, Actor) or facts.actor.state.get("hosts") is None:
        return None
    return frozenset(h["host"] for h in facts.actor.hosts if h["state"] not in WITHOUT_SAMPLE)


def _told(hosts: Sequence[Mapping[str, Any]]) -> str:
    return listed([f"{host['host']}: {host['problem'] or 'no values yet'}" for host in hosts])


def _firewall(bad: Sequence[Page]) -> str:
    if any(page.outcome == "no_family" for page in bad):
        return _AGENT
    return "see firewalls between this machine and those hosts, if your Prometheus needs the pages"
