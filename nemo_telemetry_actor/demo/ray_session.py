# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The Ray that the demo runs on, and a local one of its own."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ray

_LEAST_CPUS = 2


@dataclass(frozen=True)
class RaySession:
    """Where Ray is, and whether it ends with the demo."""

    address: str
    is_own: bool


@contextmanager
def local_ray() -> Iterator[RaySession]:
    """Be the driver of a Ray on this machine that lives as long as the block.

    Whether its processes ask each other for a token is Ray's own choice, as for any Ray.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        address="local",
        num_cpus=max(_LEAST_CPUS, os.cpu_count() or _LEAST_CPUS),
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    try:
        yield RaySession(ray.get_runtime_context().gcs_address, is_own=True)
    finally:
        ray.shutdown()
