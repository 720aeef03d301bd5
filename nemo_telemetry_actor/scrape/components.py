# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Where the memory of a host went: resident bytes by component, from its raylets' pages.

What the pages say (seen with two raylets on one machine, Ray 2.60):

* A page speaks of the processes of its own raylet: that raylet, its agents, its workers and
  drivers. So the pages of all raylets of a host are added up, and a host of which one page is
  missing has no components in that cycle: less would look like memory that was given back.
* `gcs` is on the head's page alone.
* The dashboard agent is there twice from Ray 2.55 on: as `agent` and as `ray::DashboardAgent`.
  It counts once.
* Of workers a page has one line a process title, which is the class (`ray::MyActor`), for a
  moment with a method (`ray::MyActor.step`), or a task's function. They are added up by class.
* A title whose processes are gone stays as 0 in older versions: it is left out.

What may be added up: the components of one host, except `object_store`. Its pages are shared
memory and are in the resident size of every process that touched them already. For the same
reason the sum can be more than the host's used memory; and it can be less, for processes that
Ray did not start (the engine processes of vLLM among them) are in no page.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from nemo_telemetry_actor.scrape.families import PageReading, ProcessSum

MAX_CLASSES: Final = 64
"""Classes of one host that get a value of their own; the smaller ones are in `others`."""

RAYLET: Final = "raylet"
GCS: Final = "gcs"
AGENTS: Final = "agents"
OBJECT_STORE: Final = "object_store"
IDLE_WORKERS: Final = "idle_workers"
OTHERS: Final = "others"
_FIXED: Final = frozenset({RAYLET, GCS, AGENTS, OBJECT_STORE, IDLE_WORKERS, OTHERS})

_RAY: Final = "ray::"
_AGENT: Final = "agent"
_DASHBOARD_AGENT: Final = "ray::DashboardAgent"
_AGENT_TITLES: Final = frozenset({_AGENT, _DASHBOARD_AGENT, "ray::RuntimeEnvAgent"})
# Ray's own workers for spilling and restoring objects.
_IO_WORKERS: Final = ("SpillWorker", "RestoreWorker", "UtilWorker")


def components_of(pages: Sequence[PageReading]) -> Mapping[str, float]:
    """Return bytes by component of one host, from one page of each of its raylets.

    A class that is called like a fixed component keeps Ray's `ray::` before its name.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    for page in pages:
        for component, rss_bytes in _of_one_page(page.processes).items():
            totals[component] += rss_bytes
        if page.store_bytes is not None:
            totals[OBJECT_STORE] += page.store_bytes
    return _bounded(totals)


def _of_one_page(processes: Sequence[ProcessSum]) -> Mapping[str, float]:
    """Add up one page. There is one raylet, one GCS, one agent: of several the last line counts."""
    single: dict[str, float] = {}
    totals: defaultdict[str, float] = defaultdict(float)
    is_agent_listed = any(process.title == _DASHBOARD_AGENT for process in processes)
    for process in processes:
        if process.rss_bytes == 0 or (process.title == _AGENT and is_agent_listed):
            continue
        if process.title in {RAYLET, GCS, _AGENT}:
            single[process.title] = process.rss_bytes
        else:
            totals[component_of(process.title)] += process.rss_bytes
    for title, rss_bytes in single.items():
        totals[component_of(title)] += rss_bytes
    return totals


def component_of(title: str) -> str:
    """Name the component of a process title."""
    if title in _AGENT_TITLES:
        return AGENTS
    if title in {RAYLET, GCS}:
        return title
    if not title.startswith(_RAY):
        return OTHERS
    name = title.removeprefix(_RAY)
    if name.startswith("IDLE") or name.endswith(_IO_WORKERS):
        return IDLE_WORKERS
    class_name = name.partition(".")[0].partition("(")[0].strip()
    if not class_name:
        return OTHERS
    return _RAY + class_name if class_name in _FIXED else class_name


def _bounded(totals: Mapping[str, float]) -> Mapping[str, float]:
    classes = sorted(
        (name for name in totals if name not in _FIXED), key=lambda name: (-totals[name], name)
    )
    small = frozenset(classes[MAX_CLASSES:])
    bounded = {name: value for name, value in totals.items() if name not in small}
    if small:
        bounded[OTHERS] = bounded.get(OTHERS, 0.0) + sum(totals[name] for name in small)
    return dict(sorted(bounded.items()))
