# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""A worker group: the same actor class on every bundle of one placement group."""

from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

import nemo_telemetry_actor as nta
from nemo_telemetry_actor.demo.errors import PlacementError

WORKER_CPUS = 0.1
"""A sliver, so that the job fits on any machine; the workers take turns on what cores there are."""

_PLACEMENT_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 15.0


class WorkerGroup:
    """`size` workers, rank i on bundle i of a placement group of their own.

    The group belongs to the process that builds it and is gone when that process ends.

    Args:
        name: The worker group's name, for the placement group too.
        worker_class: A class whose arguments begin with the group's name and the rank, and whose
            `close()` sends what it has recorded.
        size: How many workers.
        arguments: What every worker's constructor takes beyond name and rank.

    Raises:
        PlacementError: The bundles found no room within a minute.
    """

    def __init__(self, name: str, worker_class: type[Any], size: int, *arguments: Any) -> None:
        self.name = name
        self.placement_group: PlacementGroup = placement_group(
            [{"CPU": WORKER_CPUS}] * size, strategy="PACK", name=f"{name}-pg"
        )
        if not self.placement_group.wait(_PLACEMENT_TIMEOUT_S):
            remove_placement_group(self.placement_group)
            raise PlacementError(
                f"worker group {name!r} needs {size} bundles of {WORKER_CPUS} CPU and found no "
                f"room within {_PLACEMENT_TIMEOUT_S:.0f} s; `ray status` shows what is taken"
            )
        remote_class = ray.remote(worker_class)
        self.workers: list[Any] = [
            remote_class.options(
                num_cpus=WORKER_CPUS,
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    self.placement_group, placement_group_bundle_index=rank
                ),
            ).remote(name, rank, *arguments)
            for rank in range(size)
        ]
        # From whichever process builds the group: its hosts are labelled with the group's name.
        bundles = [(self.placement_group, rank) for rank in range(size)]
        nta.connect().register_worker_group_placement(name, bundles)

    def __len__(self) -> int:
        return len(self.workers)

    def call_all(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method on every worker with the same arguments; return results by rank."""
        return ray.get([getattr(worker, method).remote(*arguments) for worker in self.workers])

    def call_each(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Call a method on every worker with arguments of its own; return results by rank."""
        return ray.get(
            [
                getattr(worker, method).remote(*own)
                for worker, own in zip(self.workers, arguments, strict=True)
            ]
        )

    def end(self) -> None:
        """Let every worker send what it recorded, then end it: Ray runs no handler in a worker."""
        ray.get([worker.close.remote() for worker in self.workers], timeout=_END_TIMEOUT_S)
        for worker in self.workers:
            ray.kill(worker)
        nta.connect().forget_worker_group_nodes(self.name)
        remove_placement_group(self.placement_group)
