# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Watching the hosts of a run from outside, and a job whose driver hears of no reward model.

::

    with PageWatcher(f"{url}/metrics", "r") as watcher:
        ...
        seconds = watcher.wait_for({"alpha": "reward_model_policy"}, timeout_s=10)
    assert watcher.doubled == []
"""

import os
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.request import urlopen

import msgspec
import ray
from prometheus_client.parser import text_string_to_metric_families
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

import nemo_telemetry_actor as nta
from tests.receivers import OtlpGrpcReceiver

_POLL_S = 0.05
USED = "rl.host.memory.used"


class PageMoment(msgspec.Struct, frozen=True):
    """What one scrape showed of a run: label and bytes by host, and who was there twice."""

    labels: dict[str, str]
    used: dict[str, float]
    doubled: list[str]


class PageWatcher:
    """Reads a Prometheus page again and again on a thread, and keeps every change of labels.

    Args:
        url: The page.
        run_id: The run whose hosts are watched.
    """

    def __init__(self, url: str, run_id: str) -> None:
        self._url = url
        self._run_id = run_id
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.scrapes = 0
        self.history: list[dict[str, str]] = []
        """Label by host, each time it was another one."""
        self.doubled: list[PageMoment] = []
        """Every moment at which a host had two points, or only one of the two series."""
        self.newest = PageMoment({}, {}, [])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join()

    def wait_for(self, labels: Mapping[str, str], timeout_s: float) -> float:
        """Wait until the page shows exactly these hosts and labels; return the seconds it took.

        Raises:
            TimeoutError: It did not within the time.
        """
        begun_s = time.monotonic()
        with self._changed:
            if not self._changed.wait_for(lambda: self.newest.labels == labels, timeout_s):
                raise TimeoutError(f"after {timeout_s:g} s: {self.newest.labels}, not {labels}")
        return time.monotonic() - begun_s

    def _watch(self) -> None:
        while True:
            with urlopen(self._url, timeout=10) as answer:
                moment = read_page(answer.read().decode(), self._run_id)
            with self._changed:
                self.scrapes += 1
                if not self.history or moment.labels != self.history[-1]:
                    self.history.append(moment.labels)
                if moment.doubled:
                    self.doubled.append(moment)
                self.newest = moment
                self._changed.notify_all()
                if self._changed.wait_for(lambda: self._ended, _POLL_S):
                    return


def read_page(text: str, run_id: str) -> PageMoment:
    """Find the hosts of a run in a page."""
    found: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.labels.get("nemo_run_id") == run_id and "host_name" in sample.labels:
                labels = (sample.labels["host_name"], sample.labels.get("rl_worker_groups", ""))
                found[sample.name].append((*labels, sample.value))
    used, total = found["rl_host_memory_used_bytes"], found["rl_host_memory_total_bytes"]
    hosts = [host for host, _, _ in used]
    doubled = [host for host in set(hosts) if hosts.count(host) > 1]
    if sorted(each[:2] for each in used) != sorted(each[:2] for each in total):
        doubled.append("used and total differ")
    return PageMoment(
        {host: label for host, label, _ in used}, {host: value for host, _, value in used}, doubled
    )


def pushed_labels(receiver: OtlpGrpcReceiver, run_id: str) -> dict[str, list[list[str]]]:
    """Return what a receiver got of each host: the labels of each time, in order of time.

    A time with more than one label, or one label twice, has a list that is longer than one.
    """
    by_host: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for point in receiver.points(USED):
        if point.resource["nemo.run.id"] == run_id:
            of_host = by_host[point.attributes["host.name"]]
            of_host[point.time_unix_nano].append(point.attributes["rl.worker_groups"])
    return {
        host: [labels for _, labels in sorted(times.items())] for host, times in by_host.items()
    }


def first_pushed_unix_nano(receiver: OtlpGrpcReceiver, label: str) -> int:
    """Return the time of the first point with this label."""
    return min(
        point.time_unix_nano
        for point in receiver.points(USED)
        if point.attributes["rl.worker_groups"] == label
    )


def without_repeats(labels: list[list[str]]) -> list[str]:
    """Return the labels in order, each as often as it came anew."""
    flat = [label for of_time in labels for label in of_time]
    return [label for i, label in enumerate(flat) if i == 0 or label != flat[i - 1]]


class RewardWorker:
    """A worker of the reward model's group, on a bundle of its placement group."""

    def __init__(self, rank: int) -> None:
        self._telemetry = nta.connect(worker_group="reward_model_policy", rank=rank)

    def where(self) -> str:
        assert self._telemetry.flush(20.0)
        return str(ray.get_runtime_context().get_node_id())


class RewardEnvironment:
    """Builds the reward model's worker group inside itself; nobody else is told of it."""

    def __init__(self) -> None:
        self._telemetry = nta.connect(worker_group="environment", rank=0)

    def build(self, workers: int, resource: str) -> list[str]:
        """Return the nodes of the workers."""
        self._group = placement_group([{"CPU": 0.1, resource: 0.1}] * workers)
        assert self._group.wait(60)
        bundles = [(self._group, rank) for rank in range(workers)]
        self._telemetry.register_worker_group_placement("reward_model_policy", bundles)
        assert self._telemetry.flush(20.0)
        self._committed_unix_nano = time.time_ns()
        make: Any = ray.remote(num_cpus=0.1)(RewardWorker)
        self._workers = [
            make.options(
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    group, placement_group_bundle_index=rank
                )
            ).remote(rank)
            for group, rank in bundles
        ]
        return list(ray.get([worker.where.remote() for worker in self._workers]))

    def pid(self) -> int:
        return os.getpid()

    def committed_unix_nano(self) -> int:
        """When the actor was known to have heard of the group."""
        return self._committed_unix_nano


def environment_on(resource: str) -> Any:
    """Start an environment actor where a node has this resource."""
    return ray.remote(RewardEnvironment).options(num_cpus=0, resources={resource: 0.1}).remote()
