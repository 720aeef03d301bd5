# SPDX-FileCopyrightText: Copyright (c) 2026 The nemo-telemetry-actor authors
# SPDX-License-Identifier: Apache-2.0
"""Who a process is: the run it belongs to, and the resource attributes of its own.

Standard library only: a process that only records loads no OpenTelemetry SDK.
"""

import logging
import os
import secrets
import socket
from collections.abc import Mapping
from typing import Any, Final

from nemo_telemetry_actor.model.attributes import (
    AttributeValue,
    BadAttributeError,
    clean_text,
    decode_attributes,
    encode_attributes,
)

_log = logging.getLogger("nemo_telemetry_actor")

RUN_ID_VARIABLES: Final = ("NEMO_RL_OTEL_RUN_ID", "NEMO_LENS_RUN_ID")
SCHEDULER_VARIABLE: Final = "SLURM_JOB_ID"

WORKER_GROUP: Final = "rl.worker_group"
RANK: Final = "nv.dl.rank"
RUN_ID: Final = "nemo.run.id"

_MAX_DIGITS: Final = 18  # what surely fits 64 bits

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
    texts = (clean_text(str(each)).strip() for each in candidates if each is not None)
    return next((text for text in texts if text), "")


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


def sendable(attributes: Mapping[str, Any]) -> dict[str, AttributeValue]:
    """Return resource attributes in the form in which they travel; what has none is left out.

    A rank may come as a numpy integer, a host name from bytes that are no UTF-8. One attribute that
    cannot be sent must not keep the process from joining.
    """
    sent: dict[str, AttributeValue] = {}
    for key, value in attributes.items():
        try:
            sent.update(decode_attributes(encode_attributes({key: value})))
        except BadAttributeError as error:
            _log.warning("resource attribute %r is left out: %s", key, error)
    return sent


def _digits(text: str | None) -> int | None:
    usable = text is not None and text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if text is not None and usable else None
