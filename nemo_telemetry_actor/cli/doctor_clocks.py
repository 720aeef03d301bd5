# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the clocks of the nodes, one tiny task on each."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from nemo_telemetry_actor.cli.doctor_facts import ClockReading, Node, NodeClocks
from nemo_telemetry_actor.cli.doctor_offsets import chosen, names_of

_ROUND_TRIPS: Final = 3  # the first one starts a worker, which takes seconds and proves little


async def read_node_clocks(nodes: Sequence[Node], until_s: float) -> NodeClocks:
    """Run a task that tells the time on each node, until a time of the event loop's clock."""
    asked = chosen(nodes)
    names = names_of(nodes)
    readings: dict[str, tuple[ClockReading, ...]] = {}
    silent = {names[node.node_id]: "no worker started there in time" for node in asked}
    tell = _task()

    async def read(node: Node) -> None:
        name = names[node.node_id]
        for _ in range(_ROUND_TRIPS):
            sent = time.time_ns()
            try:
                told = await tell(node)
            except ray.exceptions.RayError as error:
                if name in silent:
                    silent[name] = (str(error).strip().splitlines() or [type(error).__name__])[0]
                return
            silent.pop(name, None)
            reading = ClockReading(sent, told, time.time_ns())
            readings[name] = (*readings.get(name, ()), reading)

    tasks = [asyncio.create_task(read(node)) for node in asked]
    if tasks:
        left_s = max(0.0, until_s - asyncio.get_running_loop().time())
        _, late = await asyncio.wait(tasks, timeout=left_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return NodeClocks(readings, silent, len(nodes))


def _task() -> Callable[[Node], Any]:
    def tell_time() -> int:
        # Inside, so that Ray sends this function as it is: a node may lack this package.
        import time as clock

        return clock.time_ns()

    remote: Any = ray.remote(num_cpus=0, max_retries=0)(tell_time)

    def start(node: Node) -> Any:
        on_node = NodeAffinitySchedulingStrategy(node.node_id, soft=False)
        return remote.options(scheduling_strategy=on_node).remote()

    return start
