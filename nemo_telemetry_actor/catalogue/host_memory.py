# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Memory series: of hosts, of Ray's components on them, and of each connected process."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nemo_telemetry_actor.model.instrument import Declaration, MetricSpec, Observation

HOST_NAME: Final = "host.name"
WORKER_GROUPS: Final = "rl.worker_groups"
COMPONENT: Final = "rl.memory.component"

USED: Final = Declaration(
    "rl.host.memory.used",
    "observable_gauge",
    "By",
    "Memory in use on a host, by the worker groups that are resident there now.",
)
TOTAL: Final = Declaration(
    "rl.host.memory.total",
    "observable_gauge",
    "By",
    "Memory that a host has, by the worker groups that are resident there now.",
)
COMPONENT_RSS: Final = Declaration(
    "rl.host.memory.component",
    "observable_gauge",
    "By",
    "Resident memory of Ray's own processes and of workers by class, on a host.",
)
HOST_SERIES: Final = (USED, TOTAL, COMPONENT_RSS)

# Size, resident and shared pages of the process: proc(5).
_STATM: Final = Path("/proc/self/statm")
_RESIDENT: Final = 1


def process_rss(_options: object = None) -> Iterable[Observation]:
    """Yield the resident memory of this process in bytes; nothing where Linux does not tell."""
    import resource

    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[_RESIDENT])
    except (OSError, ValueError, IndexError):
        return
    yield Observation(float(pages * resource.getpagesize()))


PROCESS_RSS: Final = MetricSpec(
    "process_memory_rss",
    "rl.process.memory.rss",
    "observable_gauge",
    "By",
    "Resident memory of one reporting process; its worker group and rank are on the resource.",
    process_rss,
)
