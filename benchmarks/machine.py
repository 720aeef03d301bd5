# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The machine a result was measured on, and the Ray that a macro benchmark runs on."""

import datetime
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

_PACKAGES = (
    "nemo_telemetry_actor",
    "ray",
    "opentelemetry-sdk",
    "msgspec",
    "numpy",
    "requests",
    "prometheus-client",
)


def machine_facts() -> dict[str, Any]:
    """Return date, processor, cores, load, Python and the versions that matter."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_1_min": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process of this machine has used, all threads together."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    # The second field is the command's name, which may hold spaces and parentheses.
    after_name = stat.rpartition(")")[2].split()
    user, system = int(after_name[11]), int(after_name[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def leave_cores_to_training() -> None:
    """Run this process on the last core only, as if it were on another machine."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])


@contextmanager
def local_ray() -> Iterator[None]:
    """Run a Ray of one's own, whatever cluster the calling shell points to."""
    import ray

    os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
    ray.init(address="local", include_dashboard=False, num_cpus=4, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()
