# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Who a process is: the run it belongs to, and the resource attributes of its own.

Standard library only: a process that only records loads no OpenTelemetry SDK.
"""

import os
import secrets
import socket
from collections.abc import Mapping
from typing import Final

from nemo_telemetry_actor.model.attributes import AttributeValue

RUN_ID_VARIABLES: Final = ("NEMO_RL_OTEL_RUN_ID", "NEMO_LENS_RUN_ID")
SCHEDULER_VARIABLE: Final = "SLURM_JOB_ID"

WORKER_GROUP: Final = "rl.worker_group"
RANK: Final = "nv.dl.rank"
RUN_ID: Final = "nemo.run.id"

# Attribute to the variables that may hold it, first wins; what the downward API and SLURM set.
_FROM_ENVIRONMENT: Final[Mapping[str, tuple[str, ...]]] = {
    "k8s.pod.name": ("K8S_POD_NAME", "POD_NAME", "MY_POD_NAME"),
    "k8s.pod.uid": ("K8S_POD_UID", "POD_UID"),
    "k8s.namespace.name": ("K8S_NAMESPACE", "POD_NAMESPACE", "MY_POD_NAMESPACE"),
    "k8s.node.name": ("K8S_NODE_NAME", "NODE_NAME", "MY_NODE_NAME"),
    "slurm.job.id": ("SLURM_JOB_ID",),
    "slurm.job.name": ("SLURM_JOB_NAME",),
    "slurm.job.partition": ("SLURM_JOB_PARTITION",),
    "slurm.cluster.name": ("SLURM_CLUSTER_NAME",),
    "slurm.node.id": ("SLURM_NODEID",),
    "slurm.proc.id": ("SLURM_PROCID",),
}


def stated_run_id(argument: str | None, environ: Mapping[str, str]) -> str:
    """Return the run id that an argument or the environment states, else an empty string."""
    candidates = (argument, *(environ.get(name) for name in RUN_ID_VARIABLES))
    return next((stripped for each in candidates if each and (stripped := each.strip())), "")


def fresh_run_id() -> str:
    """Return a new run id: 12 hexadecimal digits."""
    return secrets.token_hex(6)


def new_client_id() -> str:
    """Return a client id: 32 hexadecimal digits, unique without coordination."""
    return secrets.token_hex(16)


def process_attributes(
    environ: Mapping[str, str], *, worker_group: str | None, rank: int | None
) -> dict[str, AttributeValue]:
    """Return the resource attributes that are this process's own.

    `rl.worker_group` is the argument, else `NRL_WORKER_GROUP`; `nv.dl.rank` the argument, else
    `RANK`. A variable that is not a number, where one is needed, is left out.
    """
    attributes: dict[str, AttributeValue] = {
        "host.name": socket.gethostname(),
        "process.pid": os.getpid(),
    }
    for attribute, names in _FROM_ENVIRONMENT.items():
        value = next((environ[name] for name in names if environ.get(name)), None)
        if value is not None:
            attributes[attribute] = value
    numbers: dict[str, int | None] = {
        RANK: rank if rank is not None else _digits(environ.get("RANK")),
        "nv.dl.local_rank": _digits(environ.get("LOCAL_RANK")),
        "nv.dl.world_size": _digits(environ.get("WORLD_SIZE")),
    }
    attributes.update({name: number for name, number in numbers.items() if number is not None})
    group = worker_group or environ.get("NRL_WORKER_GROUP")
    if group:
        attributes[WORKER_GROUP] = group
    return attributes


def _digits(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
