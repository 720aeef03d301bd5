# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Host memory, reported: each sweep becomes the points of every open run, with its own labels."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, TypeAlias

import msgspec

from nemo_telemetry_actor.catalogue.host_memory import (
    COMPONENT,
    COMPONENT_RSS,
    HOST_NAME,
    HOST_SERIES,
    TOTAL,
    USED,
    WORKER_GROUPS,
)
from nemo_telemetry_actor.model.instrument import Declaration
from nemo_telemetry_actor.model.points import NumberPoint
from nemo_telemetry_actor.placement.label import worker_groups_label
from nemo_telemetry_actor.placement.map import PlacementMap
from nemo_telemetry_actor.placement.table import Answer
from nemo_telemetry_actor.registry.producers import Run
from nemo_telemetry_actor.registry.registry import Registry
from nemo_telemetry_actor.scrape.memory import HostSample
from nemo_telemetry_actor.scrape.scraper import HostScraper

_log = logging.getLogger("nemo_telemetry_actor")

Resolve: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, Answer]]]
"""Looks placement groups up, each once, by id; never blocks the event loop."""


class HostSources(msgspec.Struct, frozen=True):
    """Where host memory and the nodes of placement groups are read."""

    scraper: HostScraper
    resolve: Resolve


class HostReporter:
    """Joins what the hosts hold with who sits on them. Owned by the actor's event loop.

    Labels are those of the moment of the sweep: placement groups are looked up anew before each,
    since Ray moves and removes them without a word. A run that has ended has no host points.

    Args:
        registry: Where the points go.
        placements: Who sits where.
        sources: Read the hosts and ask Ray for the nodes of placement groups.
        keep_points: Whether any push exporter will read points.
    """

    def __init__(
        self,
        registry: Registry,
        placements: PlacementMap,
        sources: HostSources,
        *,
        keep_points: bool,
    ) -> None:
        self._registry = registry
        self._placements = placements
        self._scraper = sources.scraper
        self._resolve = sources.resolve
        self._keep_points = keep_points
        self._sequence = 0

    async def sweep(self) -> None:
        """Read every host once and report it to every open run. Does not raise for a host."""
        for group_id, answer in (await self._resolve(self._placements.changeable_groups())).items():
            self._placements.resolved(group_id, answer)
        await self._scraper.run_once()
        self._sequence += 1
        for run in self._registry.runs.values():
            if run.is_open:
                self._report(run)
            elif run.own is not None:
                for declaration in HOST_SERIES:
                    self._replace(run, declaration, [])

    def report_known(self, run: Run) -> None:
        """Report what the last sweep has found to a run that it did not know yet.

        The next sweep may be far away, and a short run over by then.
        """
        if run.is_open:
            self._report(run)

    def _report(self, run: Run) -> None:
        groups = self._placements.groups(run.run_id)
        used: list[tuple[HostSample, NumberPoint]] = []
        total: list[tuple[HostSample, NumberPoint]] = []
        parts: list[tuple[HostSample, NumberPoint]] = []
        for sample in self._scraper.samples:
            host = {HOST_NAME: sample.host_name}
            # A sample names living nodes only, so that a dead one drops out of the label.
            labelled = {**host, WORKER_GROUPS: worker_groups_label(sample.node_ids, groups)}
            time = sample.time_unix_nano
            if sample.used is not None:
                used.append((sample, NumberPoint(labelled, 0, time, sample.used)))
            if sample.total is not None:
                total.append((sample, NumberPoint(labelled, 0, time, sample.total)))
            parts.extend(
                (sample, NumberPoint({**host, COMPONENT: name}, 0, time, value))
                for name, value in sample.components.items()
            )
        self._replace(run, USED, used)
        self._replace(run, TOTAL, total)
        self._replace(run, COMPONENT_RSS, parts)

    def _replace(
        self, run: Run, declaration: Declaration, points: list[tuple[HostSample, NumberPoint]]
    ) -> None:
        if not points and run.own is None:
            return
        metric = self._registry.own_metric(run, declaration)
        if metric is None:
            self._warn_taken(run, declaration.name)
            return
        if not points and not metric.observed_count:
            return
        self._registry.replace_observed(metric, self._sequence, tuple(point for _, point in points))
        if not self._keep_points:
            return
        for sample, point in points:
            # A kept sample was delivered when it was fresh.
            if sample.state == "fresh":
                self._registry.add_points(
                    metric, point.attributes, [point.time_unix_nano], [point.value]
                )

    @staticmethod
    def _warn_taken(run: Run, name: str) -> None:
        if name not in run.warned:
            run.warned.add(name)
            _log.warning(
                "%s is not reported for run %s: a client has declared another metric of that name",
                name,
                run.run_id,
            )

    # ---- what pages and commands read

    def state(self) -> dict[str, Any]:
        """Return where values come from and how many hosts are in which state, in builtins."""
        return {
            "source": self._scraper.way.source,
            "reason": self._scraper.way.reason,
            "cycles": self._scraper.cycles,
            "problems": list(self._scraper.problems),
            "hosts": dict(Counter(sample.state for sample in self._scraper.hosts)),
            "totals": dict(self._scraper.totals),
            "placements_refused": dict(self._placements.refused),
        }

    def hosts(self, now_unix_nano: int) -> list[dict[str, Any]]:
        """Return every host as it is known now, in builtins.

        `groups` is the label by run, of open runs.
        """
        groups = {
            run.run_id: self._placements.groups(run.run_id)
            for run in self._registry.runs.values()
            if run.is_open
        }
        return [
            {
                "host": sample.host_name,
                "state": sample.state,
                "used_bytes": sample.used,
                "total_bytes": sample.total,
                "share": sample.share,
                "age_s": (now_unix_nano - sample.time_unix_nano) / 1e9
                if sample.has_values
                else None,
                "source": sample.source,
                "raylets": sample.raylets,
                "node_ids": list(sample.node_ids),
                "groups": {
                    run_id: worker_groups_label(sample.node_ids, of_run)
                    for run_id, of_run in groups.items()
                },
                "components": dict(sample.components),
                "problem": sample.problem,
            }
            for sample in self._scraper.hosts
        ]
