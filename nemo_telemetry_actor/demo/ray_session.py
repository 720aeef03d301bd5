# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""The Ray that the demo runs on: the one it is told to join, or a local one of its own."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ray

from nemo_telemetry_actor.demo.errors import RayUnreachableError

_LEAST_CPUS = 2
_PROBE_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class RaySession:
    """Where Ray is, and whether it ends with the demo."""

    address: str
    is_own: bool


@contextmanager
def ray_session(address: str | None) -> Iterator[RaySession]:
    """Be a driver of the cluster at `address`, or of a local one that lives as long as the block.

    Args:
        address: `host:port` of a cluster's head, or `auto`.

    Raises:
        RayUnreachableError: Nothing listens at the address, or it cannot be joined.
    """
    if address:
        _join(address)
    else:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local",
            num_cpus=max(_LEAST_CPUS, os.cpu_count() or _LEAST_CPUS),
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    try:
        yield RaySession(ray.get_runtime_context().gcs_address, is_own=not address)
    finally:
        ray.shutdown()


def _join(address: str) -> None:
    _check_listening(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ray.exceptions.AuthenticationError) as error:
        raise RayUnreachableError(
            f"the Ray at {address} cannot be joined: {error} (a cluster with token authentication "
            "wants RAY_AUTH_MODE=token in the environment)"
        ) from error


def _check_listening(address: str) -> None:
    """Fail at once where Ray itself would try for a quarter of an hour."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "://" in address:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PROBE_TIMEOUT_S).close()
    except OSError as error:
        raise RayUnreachableError(
            f"no Ray cluster answers at {address} ({error}); `ray start --head` prints the address "
            "of a running one, and without --address and RAY_ADDRESS the demo starts its own"
        ) from error
